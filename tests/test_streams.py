"""Standard streams that are closed, full or left: no traceback, no wrong exit code, no lost job."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import run, start

from databases import Store, lasca_family

LOST = ("probe", "morris", "W:Wa1:Bb2,d2,f4:H1,0")  # needs no table
COMMAND = [sys.executable, "-m", "solver.cli"]


@pytest.fixture
def left() -> int:
    """The writing end of a pipe whose reader has left."""
    reading, writing = os.pipe()
    os.close(reading)
    yield writing
    os.close(writing)


def shell(
    redirection: str, *arguments: str, buffered: bool = True
) -> subprocess.CompletedProcess[str]:
    """A run with these redirections of the shell."""
    script = f'"$@" {redirection}'
    command = ["sh", "-c", script, "sh", *COMMAND, *arguments]
    environment = {**os.environ, "PYTHONUNBUFFERED": "" if buffered else "1"}
    return subprocess.run(command, capture_output=True, text=True, env=environment)


def check_tables(root: Path) -> None:
    """All tables of Lasca up to two men are there and whole, and nothing is that should not be."""
    store = Store(root, lasca_family())
    report = store.report()
    assert len(report.whole) == 8
    assert not report.damaged and not report.leftovers
    for name in report.whole:
        store.check(name)


@pytest.mark.parametrize("arguments", [LOST, ("--help",), ("perft", "morris", "2")])
def test_a_reader_that_leaves_early_is_no_error(left: int, arguments: tuple[str, ...]) -> None:
    found = run(*arguments, stdout=left)
    assert (found.code, found.err) == (0, "")


def test_an_error_that_nobody_hears_keeps_its_exit_code(left: int) -> None:
    found = run("probe", "morris", "nonsense", stderr=left)
    assert (found.code, found.out) == (2, "")


@pytest.mark.parametrize("stream", ["closed", "left", "/dev/full"])
def test_a_job_goes_on_when_nobody_hears_its_progress(
    left: int, tmp_path: Path, stream: str
) -> None:
    solve = ("solve", "lasca", "--men", "2", "--tables", str(tmp_path))
    if stream == "left":
        assert run(*solve, stderr=left).code == 0
    else:
        assert shell("2>&-" if stream == "closed" else f"2>{stream}", *solve).returncode == 0
    check_tables(tmp_path)


@pytest.mark.parametrize("buffered", [True, False])
@pytest.mark.parametrize("arguments", [LOST, ("--help",)])
def test_results_on_a_full_disk(arguments: tuple[str, ...], buffered: bool) -> None:
    found = shell(">/dev/full", *arguments, buffered=buffered)
    assert (found.returncode, found.stdout) == (5, "")
    assert found.stderr == "lasker: the output cannot be written: No space left on device\n"


@pytest.mark.parametrize("closed", [">&-", "<&- >&- 2>&-"])
def test_closed_streams(tmp_path: Path, closed: str) -> None:
    """What is opened instead is no table, and what is printed gets into none."""
    found = shell(closed, "solve", "lasca", "--men", "2", "--tables", str(tmp_path))
    assert found.returncode == 0
    assert "Traceback" not in found.stderr
    check_tables(tmp_path)


def test_a_closed_stdout_does_not_hide_an_error() -> None:
    found = shell(">&-", "probe", "morris", "nonsense")
    assert found.returncode == 2
    assert found.stderr.startswith("lasker: ")
    assert found.stderr.count("\n") == 1


def test_a_path_that_the_terminal_cannot_show(tmp_path: Path) -> None:
    odd = os.fsdecode(os.fsencode(tmp_path) + b"/\xff\xe2\x86\x92")
    for encoding in ("utf-8", "ascii", "latin-1"):
        environment = {**os.environ, "PYTHONIOENCODING": encoding}
        with start("status", "--tables", odd, env=environment) as process:
            out, err = process.communicate()
        assert (process.returncode, err) == (0, "")
        assert out.startswith("tables in ")
