"""Runs the command line `lasker`, in this process or in one of its own, for tests."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass

import pytest

from solver import cli


@dataclass(frozen=True)
class Result:
    """What one run of the command line gave."""

    code: int
    out: str
    err: str

    @property
    def error(self) -> str:
        """The error: the one and only line on stderr."""
        assert self.err.startswith("lasker: ") and self.err.count("\n") == 1, self.err
        return self.err.rstrip("\n")


def call(capsys: pytest.CaptureFixture[str], *arguments: object) -> Result:
    """A run in this process."""
    capsys.readouterr()
    code = cli.main([str(argument) for argument in arguments])
    return Result(code, *capsys.readouterr())


def start(*arguments: object, **settings: object) -> subprocess.Popen[str]:
    """A run in a process of its own, stdout and stderr piped unless `settings` say otherwise."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    command = [sys.executable, "-m", "solver.cli", *map(str, arguments)]
    return subprocess.Popen(command, text=True, **{**pipes, **settings})


def run(*arguments: object, **settings: object) -> Result:
    """A run in a process of its own, to its end."""
    with start(*arguments, **settings) as process:
        out, err = process.communicate(timeout=300)
    return Result(process.returncode, out or "", err or "")
