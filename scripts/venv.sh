#!/bin/sh
# Makes the virtual environment .venv with everything that development needs.
# PYTHON=... chooses the Python; without it the newest suitable one is taken.
set -eu

cd -- "$(dirname -- "$0")/.."

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
    complete "$1" || {
        echo "venv.sh: $1 cannot make virtual environments: install $package and try again." >&2
        exit 1
    }
}

if ! python=$(find_python); then
    if [ -n "${PYTHON:-}" ]; then
        echo "venv.sh: fanlight needs Python 3.11 or newer, and PYTHON=$PYTHON is not." >&2
    else
        echo "venv.sh: fanlight needs Python 3.11 or newer: install it, or set PYTHON." >&2
    fi
    exit 1
fi

# pip's cache is a help, not a need.
cache=
if [ ! -d "${HOME:-}" ] || [ ! -w "${HOME:-}" ]; then cache=--no-cache-dir; fi

if ! suitable .venv/bin/python || ! .venv/bin/python -m pip --version >/dev/null 2>&1; then
    complete "$python" || install_ensurepip "$python"
    "$python" -m venv --clear .venv
fi

echo "Setting up .venv with $(.venv/bin/python --version); this takes some minutes the first time ..."

install() {
    .venv/bin/python -m pip install -q $cache --no-input --disable-pip-version-check "$@"
}

# The lock file is resolved for the Pythons that fanlight is tested with. A newer one may need newer
# packages, so there, as with UNLOCKED=1, the ranges of pyproject.toml decide.
locked() {
    .venv/bin/python -c 'import sys; sys.exit(sys.version_info >= (3, 14))' && [ -z "${UNLOCKED:-}" ]
}

if { ! locked || install --require-hashes -r requirements-dev.txt; } && install -e '.[dev]'; then
    touch .venv/.ready
else
    echo "venv.sh: the packages could not be installed; pip's message is above." >&2
    if locked; then
        echo "venv.sh: UNLOCKED=1 installs without the lock file, by the ranges of pyproject.toml." >&2
    fi
    exit 1
fi
