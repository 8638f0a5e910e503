#!/bin/sh
# Makes an environment from its lock: .venv, with all that development needs; with `demo` as argument
# .venv-demo, with what the demo needs. PYTHON=... chooses the Python; without it the newest suitable
# one is taken. UNLOCKED=1 leaves the lock out and installs by the ranges of pyproject.toml.
#
# A lock is complete, so it is installed without resolution: what an index has got since then changes
# nothing. What fails says so in one sentence; the same command then goes on from there.
set -eu

cd -- "$(dirname -- "$0")/.."

what=${1:-dev}
case $what in
    dev) env=.venv size=2500 ;;
    demo) env=.venv-demo size=1700 ;;
    *)
        echo "venv.sh: there is no environment called $what: write dev or demo." >&2
        exit 2
        ;;
esac
lock=requirements/$what.txt
build=requirements/build.txt # the installer, and what builds packages that have no wheel

fail() {
    echo "venv.sh: $*" >&2
    exit 1
}

# Old enough to lack a feature, or a shim with nothing behind it: only running it tells.
suitable() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

# Debian ships Python without ensurepip, and then venv cannot give an environment its pip.
complete() {
    suitable "$1" && "$1" -c 'import ensurepip, venv' >/dev/null 2>&1
}

find_python() {
    if [ -n "${PYTHON:-}" ]; then
        suitable "$PYTHON" || return 1
        printf '%s\n' "$PYTHON"
        return 0
    fi
    for check in complete suitable; do
        for name in python3.13 python3.12 python3.11 python3; do
            if "$check" "$name"; then
                printf '%s\n' "$name"
                return 0
            fi
        done
    done
    return 1
}

# install_ensurepip PYTHON: adds what Debian left out, if we may.
install_ensurepip() {
    package=$("$1" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')
    if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null 2>&1; then
        echo "venv.sh: installing $package ..."
        {
            apt-get update -qq || true # a list that is out of date may still do
            DEBIAN_FRONTEND=noninteractive \
                apt-get install -y -qq --no-install-recommends "$package" || true
        } </dev/null >/dev/null 2>&1
    fi
    complete "$1" || fail "$1 cannot make virtual environments: install $package and try again."
}

# try COMMAND...: runs it; if it fails, explains why, by what it printed, and ends.
try() {
    said=$("$@" 2>&1) && return 0
    case $said in
        *"No space left"* | *"Errno 28"* | *"os error 28"* | *"quota exceeded"*)
            fail "the disk is full: $env needs $size MB in $PWD, and about as much in ${HOME:-your home}/.cache" \
                "and ${TMPDIR:-/tmp} while it is made; free some space and try again."
            ;;
        *"from versions: none"* | *"name resolution"* | *"Name or service"* | *"NewConnectionError"* | \
            *"Max retries"* | *"imed out"* | *"imeout"* | *"unreachable"* | *"ConnectionError"*)
            fail "the package index cannot be reached, or lacks a package: connect to a network, or set" \
                "PIP_INDEX_URL to a mirror (and HTTPS_PROXY to a proxy), and try again."
            ;;
    esac
    printf '%s\n' "$said" | tail -n 15 >&2
    if locked; then
        fail "the packages of $lock could not be installed, see above; UNLOCKED=1 installs by the" \
            "ranges of pyproject.toml instead."
    fi
    fail "the packages that pyproject.toml asks for could not be installed, see above."
}

# The locks are resolved for the Pythons that fanlight is tested with. A newer one may need newer
# packages, so there the ranges of pyproject.toml decide.
locked() {
    [ -z "${UNLOCKED:-}" ] &&
        "$python" -c 'import sys; sys.exit(sys.version_info >= (3, 14))'
}

pip() {
    "$env/bin/python" -m pip --no-input --disable-pip-version-check "$@"
}

uv() {
    "$env/bin/python" -m uv "$@" --python "$env/bin/python"
}

if ! python=$(find_python); then
    [ -z "${PYTHON:-}" ] || fail "fanlight needs Python 3.11 or newer, and PYTHON=$PYTHON is not."
    fail "fanlight needs Python 3.11 or newer: install it, or set PYTHON=/path/to/python3, and try again."
fi

# Caches are a help, not a need.
if [ ! -d "${HOME:-}" ] || [ ! -w "${HOME:-}" ]; then export PIP_NO_CACHE_DIR=1 UV_NO_CACHE=1; fi
export PIP_RETRIES="${PIP_RETRIES:-2}" PIP_USER=0 UV_SYSTEM_CERTS="${UV_SYSTEM_CERTS:-true}"
# PySpark comes as source, and its jars need not be compressed into a wheel that is unpacked at once.
export DIST_EXTRA_CONFIG="$PWD/scripts/uncompressed.cfg"

if ! suitable "$env/bin/python" || ! pip --version >/dev/null 2>&1; then
    complete "$python" || install_ensurepip "$python"
    echo "Making $env with $("$python" --version) ..."
    try "$python" -m venv --clear "$env"
fi

echo "Installing the installer ..."
try pip install -q --no-deps --require-hashes --only-binary :all: -r "$build"
# The index is the one that pip is told of.
if [ -z "${UV_DEFAULT_INDEX:-}" ]; then
    index=${PIP_INDEX_URL:-$(pip config get global.index-url 2>/dev/null || true)}
    if [ -n "$index" ]; then export UV_DEFAULT_INDEX="$index"; fi
fi

if ! locked; then
    echo "Installing the newest packages that pyproject.toml allows ..."
    try uv pip install -q --upgrade -e ".[$what]"
    try uv pip check
    touch "$env/.ready"
    exit 0
fi

echo "Installing $(grep -c '^[a-z].*==' "$lock") packages ..."
if ! uv pip sync --require-hashes --no-build-isolation "$build" "$lock"; then
    # It may be that pip alone is told how to reach an index.
    echo "Trying once more, with pip, which takes longer ..."
    try pip install -q --no-deps --require-hashes --no-build-isolation -r "$build" -r "$lock"
fi
try pip install -q --no-deps --no-build-isolation -e .
try uv pip check
touch "$env/.ready"
