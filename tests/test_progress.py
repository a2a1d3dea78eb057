"""The progress report: lines and bars, each where it belongs."""

from __future__ import annotations

import io
import re
import sys

import pytest

from solver.progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def run(progress: Progress) -> None:
    progress.begin(100, "morris")
    progress.advance(60)
    progress.line("r03c03k03 done")
    progress.advance(40)
    progress.end()
    progress.end()


def test_lines_and_no_bar_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    log = io.StringIO()
    run(Progress(log=log))
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err == "r03c03k03 done\n"
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d r03c03k03 done\n", log.getvalue())


def test_a_bar_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    run(Progress())
    assert "morris" in terminal.getvalue()
    assert "done" not in terminal.getvalue()


def test_quiet_writes_the_log_only(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal, log = Terminal(), io.StringIO()
    monkeypatch.setattr(sys, "stderr", terminal)
    run(Progress(quiet=True, log=log))
    assert terminal.getvalue() == ""
    assert "done" in log.getvalue()
