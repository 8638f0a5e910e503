"""What is public: the methods of windows, and what a type checker says of a user's file."""

from __future__ import annotations

import subprocess
import sys

import fanlight as fl

# What each class of windows can do; what it cannot do it does not have.
METHODS = {
    fl.SlidingWindows: {"agg", "early", "explain", "pieces", "rejected", "using", "wide"},
    fl.EventWindows: {"agg", "early", "explain", "rejected", "running", "using", "wide"},
    fl.LevelWindows: {
        "agg", "bursts", "early", "explain", "fit", "pieces", "recurring", "rejected", "reversals",
        "using", "wide",
    },
    fl.FrameWindows: {
        "agg", "early", "explain", "fill", "frames", "rejected", "repair", "rows", "split", "using",
    },
    fl.SnapshotWindows: {"agg", "explain", "rejected", "running", "using"},
    fl.TrailingWindows: {"attach", "attach_to", "explain", "rejected", "using"},
    fl.WideningWindows: {"detect", "explain", "rejected", "using"},
}  # fmt: skip


def checked(tmp_path, cache, source):
    """What a user's mypy says of a file, line by line."""
    path = tmp_path / "user.py"
    path.write_text(source, "utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--python-version", "3.11"]
    command += ["--config-file", "", "--cache-dir", str(cache), str(path)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    return [line for line in ran.stdout.splitlines() if line.startswith("user.py")], ran
