"""The quickstart: stages in turn, their commands side by side, and what stops it."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from solver import cli
from solver.quickstart import STAGES, quickstart


def test_its_commands_are_commands() -> None:
    parser = cli._parser()
    for stage in STAGES:
        for command in stage:
            assert callable(parser.parse_args(command).run)


def test_stages_up_to_the_first_that_fails(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    stages = (
        (("perft", "morris", "1"), ("perft", "morris", "0")),
        (("solve", "lasca", "--men", "2"),),
        (("probe", "lasca", "W:c1w a7b"), ("probe", "morris", "start"), ("index", "morris", "x")),
        (("status",),),
    )
    assert quickstart(["--tables", str(tmp_path)], quiet=False, stages=stages) == 3
    output = capfd.readouterr()
    lines = output.out.splitlines()
    assert lines[:4] == ["ply,sequences", "1,24", "ply,sequences", "0,1"]
    assert lines[4] == "W:c1w a7b"
    announced = [line for line in output.err.splitlines() if line.startswith("lasker ")]
    assert announced == [
        "lasker perft morris 1",
        "lasker perft morris 0",
        "lasker solve lasca --men 2",
        "lasker probe lasca 'W:c1w a7b'",
        "lasker probe morris start",
        "lasker index morris x",
    ]


def test_quiet(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    stages = ((("perft", "morris", "1"),), (("probe", "morris", "start"),))
    assert quickstart(["--tables", str(tmp_path)], quiet=True, stages=stages) == 3
    output = capfd.readouterr()
    assert output.out == "ply,sequences\n1,24\n"
    assert output.err.count("\n") == 1


def test_ctrl_c_stops_its_commands_too(tmp_path: Path) -> None:
    program = (
        "import sys; from solver.quickstart import quickstart\n"
        "stages = ((('perft', 'morris', '9'),),)\n"
        "try: quickstart([], quiet=False, stages=stages)\n"
        "except KeyboardInterrupt: sys.exit(130)"
    )
    running = subprocess.Popen(
        [sys.executable, "-c", program], stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    assert running.stderr is not None
    assert running.stderr.readline() == "lasker perft morris 9\n"
    time.sleep(1)
    # As a terminal does it: to all processes of the session.
    subprocess.run(["kill", "-s", "INT", "--", f"-{running.pid}"], check=True)
    _, err = running.communicate(timeout=60)
    assert running.returncode == 130
    assert err in ("lasker: interrupted\n", "")
