"""The command line, as it is called."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec

import pytest
from click.testing import CliRunner

import fanlight as fl
from fanlight import cli
from fanlight.cli import commands, demo, sessions


def call(*words):
    return CliRunner().invoke(commands.fanlight, words)


def test_help_tells_of_the_demo():
    told = call("--help")
    assert told.exit_code == 0
    assert "demo" in told.output
    told = call("demo", "-h")
    assert told.exit_code == 0
    assert "--out" in told.output


def test_the_version():
    told = call("--version")
    assert (told.exit_code, told.output) == (0, f"fanlight, version {fl.__version__}\n")


@pytest.mark.parametrize("module", ["fanlight", "fanlight.cli"])
def test_the_module_runs(module):
    words = [sys.executable, "-m", module, "--version"]
    ran = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (0, f"fanlight, version {fl.__version__}\n")


def test_an_unknown_command_is_an_error():
    assert call("dance").exit_code == 2


@pytest.mark.parametrize("package", sessions.DEMO_PACKAGES)
def test_a_missing_package_is_named_before_anything_starts(package, monkeypatch, tmp_path):
    monkeypatch.setattr(
        sessions, "find_spec", lambda name: None if name == package else find_spec(name)
    )
    told = call("demo", "--out", str(tmp_path / "out"))
    assert told.exit_code == 1
    assert f"needs {package}" in told.output
    assert "pip install 'fanlight[demo]'" in told.output
    assert not (tmp_path / "out").exists()


def test_without_click_there_is_a_message_and_no_traceback(monkeypatch, capsys):
    monkeypatch.delitem(sys.modules, "fanlight.cli.commands")
    monkeypatch.delattr(cli, "commands")
    monkeypatch.setitem(sys.modules, "click", None)
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 1
    assert "needs click" in capsys.readouterr().err


def test_what_goes_wrong_ends_in_a_message_and_a_status(monkeypatch, tmp_path):
    def fails(_):
        raise fl.FanlightError("the results differ")

    monkeypatch.setattr(demo, "run", fails)
    told = call("demo", "--out", str(tmp_path))
    assert (told.exit_code, told.output) == (1, "Error: the results differ\n")
