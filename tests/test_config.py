"""Settings: precedence, origins, defaults and refusals."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import get_args

import pytest

from everview import config
from everview.config import DESCRIPTIONS, Config, load
from everview.errors import ConfigError
from everview.schema import Policy


@pytest.fixture
def written(tmp_path):
    def write(text):
        file = tmp_path / "everview.toml"
        file.write_text(text, encoding="utf-8")
        return file

    return write


def refusal(*args, **kwargs):
    with pytest.raises(ConfigError) as caught:
        load(*args, **kwargs)
    return caught.value


@pytest.mark.parametrize(
    ("environ", "flags", "expected", "origin"),
    [
        ({}, {}, 10, "file"),
        ({"EVERVIEW_EPOCH_LIMIT": "20"}, {}, 20, "EVERVIEW_EPOCH_LIMIT"),
        ({"EVERVIEW_EPOCH_LIMIT": "20"}, {"epoch_limit": 30}, 30, "flag"),
        ({}, {"epoch_limit": "3_0"}, 30, "flag"),
        ({"EVERVIEW_EPOCH_LIMIT": "20"}, {"epoch_limit": None}, 20, "EVERVIEW_EPOCH_LIMIT"),
    ],
)
def test_the_later_source_wins_and_is_the_origin(written, environ, flags, expected, origin):
    file = written("epoch_limit = 10")
    loaded = load(file, environ, flags)
    assert loaded.epoch_limit == expected
    assert loaded.origin("epoch_limit") == (str(file) if origin == "file" else origin)
    assert loaded.origin("timezone") == "default"


def test_every_setting_can_come_from_every_source(written, tmp_path):
    samples = {
        "shards": "12",
        "partitions": "3",
        "epoch_limit": "5",
        "replicate_rows": "0",
        "policy": "trust",
        "checkpoint": str(tmp_path / "c"),
        "data": str(tmp_path / "d"),
        "scratch": str(tmp_path / "s"),
        "timezone": "Europe/Berlin",
        "memory": "3g",
    }
    assert set(samples) == set(DESCRIPTIONS)
    counts = ("shards", "partitions", "epoch_limit", "replicate_rows")
    text = "".join(
        f"{name} = {value}\n" if name in counts else f"{name} = '{value}'\n"
        for name, value in samples.items()
    )
    from_file = load(written(text), {})
    from_environment = load(None, {f"EVERVIEW_{n.upper()}": v for n, v in samples.items()})
    assert from_file == from_environment == load(None, {}, samples)
    assert all(getattr(from_file, name) != getattr(Config(), name) for name in samples)


def test_defaults_fit_the_machine(monkeypatch):
    monkeypatch.setattr(config, "cores", lambda: 6)
    assert (load(None, {}).partitions, load(None, {}).shards) == (6, 24)
    assert load(None, {}, {"shards": 8}).partitions == 2
    assert load(None, {}, {"shards": 1}).partitions == 1
    assert load(None, {}, {"partitions": 3}).shards == 12
    monkeypatch.setattr(config, "cores", lambda: 1)
    assert (load(None, {}).partitions, load(None, {}).shards) == (1, 8)
    loaded = load(None, {})
    assert (loaded.epoch_limit, loaded.replicate_rows) == (1_000_000, 100_000)
    assert (loaded.timezone, loaded.policy, loaded.checkpoint) == ("UTC", "reject", None)


def test_scratch_is_shared_memory_only_if_it_has_room(monkeypatch):
    monkeypatch.setattr(config, "SCRATCH_ROOM", 1 << 62)
    assert Path("/dev/shm") not in config.default_scratch().parents


def test_the_file_is_found_in_the_working_folder_or_by_name(written, monkeypatch, tmp_path):
    file = written("shards = 40")
    monkeypatch.chdir(tmp_path)
    assert load(environ={}).shards == 40
    other = tmp_path / "other.toml"
    other.write_text("shards = 44")
    assert load(environ={"EVERVIEW_CONFIG": str(other)}).shards == 44
    assert load(file, {"EVERVIEW_CONFIG": str(other)}).shards == 40
    monkeypatch.chdir("/")
    assert load(environ={}).origins == {}


def test_spark_settings_pass_through_as_text(written):
    file = written('[spark]\n"spark.a.b" = true\nspark.c.d = 5\n')
    assert load(file, {}).spark == {"spark.a.b": "true", "spark.c.d": "5"}


@pytest.mark.parametrize(
    ("text", "code", "message", "fix", "place"),
    [
        ("a = 1\nshard = 9", "CONFIG.UNKNOWN", "no setting a ", "settings are shards", (1, 1)),
        ("\n  shard = 9", "CONFIG.UNKNOWN", "no setting shard ", "did you mean shards?", (2, 3)),
        ("[sparc]", "CONFIG.UNKNOWN", "no setting sparc ", "did you mean spark?", (1, 2)),
        ("shards = 0", "CONFIG.VALUE", "shards = 0 ", "shards is: parts", (1, 1)),
        ("shards = true", "CONFIG.VALUE", "whole number", "shards is", (1, 1)),
        ("shards = 1.5", "CONFIG.VALUE", "whole number", "shards is", (1, 1)),
        ("memory = '2x'", "CONFIG.VALUE", "like 2g", "memory is", (1, 1)),
        ("timezone = 'Mars/Base'", "CONFIG.VALUE", "time zone", "timezone is", (1, 1)),
        ("policy = 'maybe'", "CONFIG.VALUE", "one of reject", "policy is", (1, 1)),
        ("checkpoint = ''", "CONFIG.VALUE", "text is needed", "checkpoint is", (1, 1)),
        ("spark = 3", "CONFIG.VALUE", "table", "table of Spark settings", (1, 1)),
        ("shards = \n", "CONFIG.SYNTAX", "is not TOML", "name = value", (1, 10)),
    ],
)
def test_refusals_of_the_file_name_the_place_and_the_fix(written, text, code, message, fix, place):
    error = refusal(written(text), {})
    assert error.code == code
    assert message in error.message
    assert fix in error.fix
    assert (error.position.line, error.position.column) == place


def test_refusals_of_variables_and_flags():
    error = refusal(None, {"EVERVIEW_SHARD": "9"})
    assert "EVERVIEW_SHARD" in error.message
    assert error.fix == "did you mean EVERVIEW_SHARDS?"
    assert error.position is None
    assert "flags" in refusal(None, {}, {"shardz": 1}).message
    assert "EVERVIEW_SHARDS" in refusal(None, {"EVERVIEW_SHARDS": "many"}).message
    assert refusal(None, {}, {"shards": 2, "partitions": 4}).code == "CONFIG.VALUE"
    assert refusal("/no/such/file.toml", {}).code == "CONFIG.FILE"
    assert "EVERVIEW_CONFIG" in refusal(None, {"EVERVIEW_CONFIG": "/no/such"}).fix


def test_a_config_travels_to_executors(written):
    loaded = load(written("shards = 40\n[spark]\n'spark.x' = 'y'"), {})
    assert pickle.loads(pickle.dumps(loaded)) == loaded


def test_policies_are_those_of_the_schema():
    assert get_args(config.POLICIES) == get_args(Policy)


def test_the_page_describes_every_setting():
    page = (Path(__file__).parents[1] / "docs" / "settings.md").read_text(encoding="utf-8")
    for name, description in DESCRIPTIONS.items():
        row = next(line for line in page.splitlines() if line.startswith(f"| `{name}` |"))
        assert description in row.replace("`", "")
