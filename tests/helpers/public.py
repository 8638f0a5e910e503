"""What is public: the methods of windows, and what a type checker says of a user's file."""

from __future__ import annotations

import json
import subprocess
import sys

import fanlight as fl

# What each class of windows can do besides; what it cannot do it does not have.
EVERY = {"explain", "postpone", "rejected", "using"}
PLACED = EVERY | {"agg", "complete_only", "early", "wide", "with_empty"}
METHODS = {
    fl.SlidingWindows: PLACED | {"pieces"},
    fl.EventWindows: PLACED | {"running"},
    fl.LevelWindows: PLACED | {
        "bursts", "fit", "pieces", "recurring", "reversals",
    },
    fl.FrameWindows: EVERY
    | {"accumulate", "agg", "early", "fill", "frames", "repair", "rows", "split"},
    fl.SnapshotWindows: EVERY | {"agg", "running"},
    fl.TrailingWindows: EVERY | {"at", "attach"},
    fl.WideningWindows: EVERY | {"detect"},
}  # fmt: skip


def checked(tmp_path, cache, source):
    """What a user's mypy says of a file, line by line."""
    path = tmp_path / "user.py"
    path.write_text(source, "utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--python-version", "3.11"]
    command += ["--config-file", "", "--cache-dir", str(cache), str(path)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    return [line for line in ran.stdout.splitlines() if line.startswith("user.py")], ran


def checked_by_pyright(tmp_path, source):
    """What a user's pyright, which basedpyright has in it, says of a file: its errors by line."""
    path = tmp_path / "user.py"
    path.write_text(source, "utf-8")
    settings = {"typeCheckingMode": "standard", "pythonVersion": "3.11", "include": ["user.py"]}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings), "utf-8")
    command = [sys.executable, "-m", "basedpyright", "--outputjson", "--pythonpath"]
    command += [sys.executable, "--project", str(tmp_path)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    found = json.loads(ran.stdout)["generalDiagnostics"]
    return {
        one["range"]["start"]["line"] + 1: one["message"]
        for one in found
        if one["severity"] == "error"
    }
