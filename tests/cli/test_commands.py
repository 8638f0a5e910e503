"""The command line, as it is called."""

from __future__ import annotations

import subprocess
import sys

import pytest
from click.testing import CliRunner

import fanlight as fl
from fanlight import cli
from fanlight.cli import commands


def call(*words):
    return CliRunner().invoke(commands.fanlight, words)


def test_help_lists_the_commands():
    told = call("--help")
    assert told.exit_code == 0
    assert "doctor" in told.output


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


def test_without_click_there_is_a_message_and_no_traceback(monkeypatch, capsys):
    monkeypatch.delitem(sys.modules, "fanlight.cli.commands")
    monkeypatch.delattr(cli, "commands")
    monkeypatch.setitem(sys.modules, "click", None)
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 1
    assert "needs click" in capsys.readouterr().err
