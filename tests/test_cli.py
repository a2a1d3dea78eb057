"""The command line: exit codes, one-line errors, and what goes to stdout.

Most tests call `main` in this process; what depends on a process of its own runs as one.
"""

from __future__ import annotations

import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from databases import Store, lasca_family, morris_family
from solver import cli, commands

DATA = Path(__file__).parent / "data"


class Result:
    """What one run of the command line gave."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code = code
        self.out = out
        self.err = err


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Lasca up to two men and morris up to three men a side, flying board."""
    root = tmp_path_factory.mktemp("tables")
    assert cli.main(["solve", "lasca", "--men", "2", "--quiet", "--tables", str(root)]) == 0
    assert cli.main(["solve", "morris", "--men", "3", "--quiet", "--tables", str(root)]) == 0
    return root


@pytest.fixture
def lasker(
    tables: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> object:
    """Runs the command line on these tables in this process."""
    monkeypatch.setenv("LASKER_TABLES", str(tables))

    def run(*arguments: str) -> Result:
        capsys.readouterr()
        try:
            code = cli.main(list(arguments))
        except SystemExit as ended:
            code = ended.code
        return Result(code, *capsys.readouterr())

    return run


BAD_INPUT = [
    # arguments, exit code, part of the message
    ([], 2, "COMMAND"),
    (["nonsense"], 2, "nonsense"),
    (["probe", "morris"], 2, "position"),
    (["probe", "chess", "start"], 2, "chess"),
    (["probe", "morris", "start", "--flying", "always"], 2, "always"),
    (["probe", "morris", "start", "more"], 2, "unrecognized arguments: more"),
    (["probe", "morris", "start", "--js"], 2, "unrecognized arguments: --js"),
    (["probe", "morris", "start\nx\n"], 2, "no side to move"),
    (["probe", "morris", ""], 2, "no side to move"),
    (["probe", "morris", "W:Wa1,a1:Bb4:H8,9"], 2, "point a1 stands twice"),
    (["probe", "morris", "W:Wa1:Ba1:H9,9"], 2, "both sides have a man on a1"),
    (["probe", "morris", "W:Wa1,d4:Bb4:H8,9"], 2, "unknown point 'd4'"),
    (["probe", "morris", "W:Wa1,d7:Bb4:H9,9"], 2, "White has 11 men"),
    (["probe", "morris", "W:Wa1:Bb4:H-1,9"], 2, "negative number of men in hand"),
    (["probe", "morris", "W:Wa1:Bb4:H9"], 2, "men in hand"),
    (["probe", "morris", "W:Wa1:Bb4:H1,1"], 2, "fewer than three men"),
    (["probe", "lasca", "W:a2w g7b"], 2, "a2"),
    (["probe", "lasca", "W:0w g7b"], 2, "0"),
    (["probe", "lasca", "W:26w g7b"], 2, "26"),
    (["probe", "lasca", "W:a1wbw g7b"], 2, "changes colour more than once"),
    (["probe", "lasca", "W:a1x g7b"], 2, "men are written"),
    (["probe", "lasca", "W:a1w a1b"], 2, "a1 is given twice"),
    (["probe", "lasca", "W:a7w c7b"], 2, "a soldier commands on its far rank"),
    (["probe", "lasca", "a1w"], 2, "side to move"),
    (["line", "morris", "x"], 2, "no side to move"),
    (["line", "morris", "start", "--plies", "-1"], 2, "-1 is out of range"),
    (["line", "morris", "start", "--plies", "two"], 2, "'two' is no whole number"),
    (["counts", "morris", "--men", "2"], 2, "--men 2 is out of range for morris (3 to 10)"),
    (["counts", "lasca", "--men", "22"], 2, "--men 22 is out of range for lasca"),
    (["verify", "morris", "--men", "11"], 2, "--men 11 is out of range for morris"),
    (["index", "morris", "W:Wa1"], 2, "is no position"),
    (["index", "morris", "W:Wa1:Bb2,d2,f4:H1,0"], 2, "the game is over"),
    (["index", "morris", "--unrank", "r03c03k03"], 2, "is no place"),
    (["index", "morris", "--unrank", "r03c03k03 C3 99999999"], 2, "no index 99999999"),
    (["index", "lasca", "--unrank", "w1b1-W0B0-c9 0"], 2, "w1b1-W0B0-c9"),
    (["perft", "morris"], 2, "depth"),
    (["perft", "morris", "-1"], 2, "-1 is out of range"),
    (["perft", "lasca", "1", "W:a7w"], 2, "far rank"),
    (["solve"], 2, "GAME"),
    (["solve", "chess"], 2, "chess"),
    (["solve", "morris", "--men", "2"], 2, "2 is out of range (3 to 10)"),
    (["solve", "morris", "--men", "eleven"], 2, "'eleven' is no whole number"),
    (["solve", "morris", "--threads", "0"], 2, "0 is out of range"),
    (["solve", "morris", "--memory", "much"], 2, "'much' is no number of gigabytes"),
    (["solve", "morris", "--memory", "-1"], 2, "make no sense"),
    (["solve", "lasca"], 2, "--men --officers --from"),
    (["solve", "lasca", "--men", "3", "--officers"], 2, "not allowed with"),
    (["solve", "lasca", "--men", "12"], 2, "not 12"),
    (["solve", "lasca", "--officers"], 2, "--officers and --columns K go together"),
    (["solve", "lasca", "--men", "3", "--columns", "2"], 2, "go together"),
    (["solve", "lasca", "--officers", "--columns", "9"], 2, "not 9"),
    (["solve", "lasca", "--from", "W:a1w", "--max-positions", "0"], 2, "0 is out of range"),
    (["solve", "lasca", "--from", "W:a7w"], 2, "far rank"),
    (["solve", "lasca", "--men", "3", "--max-positions", "9"], 2, "--max-positions"),
    (["estimate", "lasca", "--men", "12"], 2, "not 12"),
    (["estimate", "morris", "--men", "12"], 2, "12 is out of range"),
    (["probe", "morris", "start"], 3, "lasker solve morris --men 10 --tables"),
    (["probe", "morris", "start", "--flying", "off"], 3, "morris/off/r10c10k00.wdl is missing"),
    (["line", "morris", "start"], 3, "r10c10k00"),
    (["probe", "lasca", "W:a1w c1w g7b"], 3, "lasker solve lasca --men 3 --tables"),
    (["line", "lasca", "start"], 3, "--from"),
]


@pytest.mark.parametrize(("arguments", "code", "message"), BAD_INPUT)
def test_bad_input(lasker: object, arguments: list[str], code: int, message: str) -> None:
    result = lasker(*arguments)
    assert (result.code, result.out) == (code, "")
    assert message in result.err
    assert result.err.startswith("lasker: ")
    assert result.err.count("\n") == 1
