"""The command line: exit codes, one-line errors, and what goes to stdout.

Most tests call `main` in this process; what depends on a process of its own runs as one.
"""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from command_line import call
from small_tables import distances, write_distances

from databases import Section, Store, lasca_family, morris_family
from engine.morris.index import Subspace, position_at
from solver import cli, commands

DATA = Path(__file__).parent / "data"


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

    return lambda *arguments: call(capsys, *arguments)


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
    (["counts", "lasca", "--metric", "dtc"], 2, "--metric dtc goes with morris"),
    (["counts", "morris", "--metric", "plies"], 2, "'plies'"),
    (["counts", "morris", "--officers"], 2, "--officers goes with lasca"),
    (["counts", "lasca", "--officers", "--men", "2"], 2, "without --men"),
    (["verify", "morris", "--men", "11"], 2, "--men 11 is out of range for morris"),
    (["verify", "morris", "--sample", "0"], 2, "0 is out of range"),
    (["verify", "lasca", "--sample", "some"], 2, "'some' is no whole number"),
    (["index", "morris", "W:Wa1"], 2, "is no position"),
    (["index", "morris", "W:Wa1:Bb2,d2,f4:H1,0"], 2, "the game is over"),
    (["index", "morris", "--unrank", "r03c03k03"], 2, "is no place"),
    (["index", "morris", "--unrank", "r03c03k03 C3 99999999"], 2, "no index 99999999"),
    (["index", "lasca", "--unrank", "w1b1-W0B0-c9 0"], 2, "w1b1-W0B0-c9"),
    (["index", "lasca", "--unrank", "w0b0-W0B0-c0 0"], 2, "one column at least"),
    (["index", "lasca", "--unrank", "w99b99-W99B99-c99 0"], 2, "w99b99-W99B99-c99"),
    (["index", "morris", "--unrank", "r99c99k99 C10 0"], 2, "no unit of totals 99, 99"),
    (["index", "morris", "--unrank", "r10c10k10 C10 " + "9" * 18], 2, "no index 99"),
    (["probe", "morris", "W:W:B:H" + "9" * 5000 + ",1"], 2, "does not give the men in hand"),
    (["probe", "morris", "W:W:B:H\uff11\uff10,10"], 2, "does not give the men in hand"),
    (["probe", "morris", "\udcff\udcfe"], 2, "is no side to move"),
    (["probe", "lasca", "W:a1" + "w" * 5000], 2, "White has 5000 men"),
    (["probe", "morris", "start", "--tables", "a" * 5000], 2, "File name too long"),
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
    (["solve", "lasca", "--from", "start", "--max-positions", "9" * 15], 2, "out of range"),
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


@pytest.mark.parametrize("arguments", [["--help"], ["probe", "--help"], ["solve", "lasca", "-h"]])
def test_help_goes_to_stdout(lasker: object, arguments: list[str]) -> None:
    result = lasker(*arguments)
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith("usage: lasker")


# Where the tables are


def test_tables_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Options:
        tables: str | None = None

    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("LASKER_TABLES", raising=False)
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    assert commands.tables_folder(Options()) == tmp_path / ".local/share/lasker"
    monkeypatch.setenv("XDG_DATA_HOME", "relative")
    assert commands.tables_folder(Options()) == tmp_path / ".local/share/lasker"
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert commands.tables_folder(Options()) == tmp_path / "data/lasker"
    monkeypatch.setenv("LASKER_TABLES", str(tmp_path / "tables"))
    assert commands.tables_folder(Options()) == tmp_path / "tables"
    options = Options()
    options.tables = "elsewhere"
    assert commands.tables_folder(options) == Path("elsewhere")


def test_common_options_stand_before_or_after_the_command(lasker: object, tmp_path: Path) -> None:
    position = "W:Wa1,a4,d7:Bb2,d2,f4"
    for arguments in (
        ("--tables", str(tmp_path), "probe", "morris", position),
        ("probe", "morris", position, "--tables", str(tmp_path)),
    ):
        result = lasker(*arguments)
        assert result.code == 3
        assert str(tmp_path) in result.err


# Tables that are no good


@pytest.mark.parametrize(
    "command",
    [
        ("probe", "morris", "start"),
        ("line", "lasca", "start"),
        ("solve", "lasca", "--men", "2"),
        ("solve", "lasca", "--from", "W:a1w g7b"),
        ("estimate", "lasca", "--from", "start"),
        ("counts", "morris"),
        ("counts", "lasca"),
        ("verify", "morris"),
        ("verify", "lasca"),
        ("status",),
    ],
)
def test_a_file_in_place_of_the_folder(lasker: object, tmp_path: Path, command: object) -> None:
    file = tmp_path / "file"
    file.write_text("")
    for folder in (file, file / "tables"):
        result = lasker(*command, "--tables", str(folder))
        assert (result.code, result.out) == (2, "")
        assert str(folder) in result.error


@pytest.mark.parametrize("command", ["probe", "line"])
def test_a_damaged_table(lasker: object, tables: Path, tmp_path: Path, command: str) -> None:
    root = tmp_path / "copy"
    shutil.copytree(tables, root)
    for path in root.glob("morris/board/*.wdl"):
        damaged = bytearray(path.read_bytes())
        damaged[-60] ^= 1
        path.write_bytes(damaged)
    result = lasker(command, "morris", "W:Wa1,a4,d7:Bb2,d2,f4", "--tables", str(root))
    assert (result.code, result.out) == (4, "")
    assert "r03c03k03.wdl: corrupt in" in result.err
    assert result.err.count("\n") == 1
    assert lasker("status", "--tables", str(root)).out.count("damaged: r03c03k0") == 4


def test_a_table_of_other_rules(lasker: object, tables: Path, tmp_path: Path) -> None:
    shutil.copytree(tables / "morris/board", tmp_path / "morris/off")
    position = "W:Wa1,a4,d7:Bb2,d2,f4"
    result = lasker("probe", "morris", position, "--flying", "off", "--tables", str(tmp_path))
    assert (result.code, result.out) == (4, "")
    assert "rules" in result.err
    assert result.err.count("\n") == 1


def test_another_run_in_the_same_folder(lasker: object, tmp_path: Path) -> None:
    for arguments, family in (
        (["lasca", "--men", "2"], lasca_family()),
        (["morris", "--men", "3"], morris_family("board")),
    ):
        with Store(tmp_path, family).lock():
            result = lasker("solve", *arguments, "--tables", str(tmp_path), "--quiet")
        assert (result.code, result.out) == (5, "")
        assert "another run" in result.err
        assert result.err.count("\n") == 1


def test_a_log_that_cannot_be_written(lasker: object, tmp_path: Path) -> None:
    log = tmp_path / "no" / "log"
    result = lasker("solve", "lasca", "--men", "2", "--tables", str(tmp_path), "--log", str(log))
    assert result.code == 2
    assert result.err.splitlines()[-1] == f"lasker: {log}: No such file or directory"


def test_too_little_memory(lasker: object, tmp_path: Path) -> None:
    arguments = ["solve", "lasca", "--men", "3", "--tables", str(tmp_path), "--quiet"]
    result = lasker(*arguments, "--memory", "0.0001")
    assert (result.code, result.out) == (5, "")
    assert "not enough memory" in result.err
    assert result.err.count("\n") == 1


# What is left of errors


def test_an_interrupt(lasker: object, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("solver.answers.answer", interrupted)
    result = lasker("probe", "morris", "start")
    assert (result.code, result.out, result.err) == (130, "", "lasker: interrupted\n")


def test_a_fault_of_the_program_is_one_line_too(
    lasker: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    def faulty(*_arguments: object) -> None:
        raise IndexError("list index\nout of range")

    monkeypatch.setattr("solver.answers.answer", faulty)
    result = lasker("probe", "morris", "start")
    assert (result.code, result.out) == (70, "")
    assert result.err.endswith("please report it: IndexError: list index out of range\n")


def test_memory_that_runs_out(lasker: object, monkeypatch: pytest.MonkeyPatch) -> None:
    def exhausted(*_arguments: object) -> None:
        raise MemoryError

    monkeypatch.setattr("solver.answers.answer", exhausted)
    result = lasker("probe", "morris", "start")
    assert (result.code, result.err.count("\n")) == (5, 1)


# Results


def test_probe_of_both_games(lasker: object) -> None:
    result = lasker("probe", "morris", "W:Wa1,a4,d7:Bb2,d2,f4")
    assert (result.code, result.err) == (0, "")
    assert result.out.splitlines()[1] == "White to move: win"
    assert result.out.splitlines()[2] == "  d7-a7xb2  win"
    result = lasker("probe", "lasca", "W:c1w a7b", "--json")
    assert (result.code, result.err) == (0, "")
    shape = json.loads(result.out)
    assert shape["game"] == "lasca"
    best = shape["moves"][0]
    assert (best["wdl"], best["plies"]) == (shape["wdl"], shape["plies"])
    assert len(result.out.splitlines()) == 1


def test_an_empty_name_is_no_folder_of_tables(lasker: object) -> None:
    """As from a variable of the shell that is not set."""
    result = lasker("status", "--tables", "")
    assert (result.code, result.out) == (2, "")
    assert "--tables names no folder" in result.err


def test_a_finished_game_needs_no_table(lasker: object, tmp_path: Path) -> None:
    result = lasker("probe", "morris", "W:Wa1:Bb2,d2,f4:H1,0", "--tables", str(tmp_path))
    assert (result.code, result.err) == (0, "")
    assert result.out.splitlines()[1] == "White to move: loss, the game is over"


def test_line(lasker: object) -> None:
    result = lasker("line", "lasca", "W:c1w a7b", "--plies", "2")
    assert (result.code, result.err, len(result.out.splitlines())) == (0, "", 2)
    result = lasker("line", "morris", "W:Wa1:Bb2,d2,f4:H1,0")
    assert (result.code, result.out, result.err) == (0, "the game is over\n", "")


def test_distances_to_conversion(lasker: object, tables: Path, tmp_path: Path) -> None:
    """What each command says with tables of distances, and without."""
    root = tmp_path / "copy"
    shutil.copytree(tables, root)
    subspace = Subspace(3, 3, 3, 3, "C")
    found = distances(3, "board")
    position = str(position_at(subspace, int(np.flatnonzero(found[subspace].plies == 11)[0])))
    bare = lasker("line", "morris", position, "--tables", str(root))
    assert (bare.code, bare.err.count("\n")) == (0, 1)
    assert "r03c03k03.dtc is missing; make it with: lasker solve morris --men 3" in bare.err
    shape = json.loads(lasker("probe", "morris", position, "--json").out)
    assert shape["wdl"] == 1 and {shape["dtc"], *(m["dtc"] for m in shape["moves"])} == {None}
    assert ", distances:" not in lasker("status", "--tables", str(root)).out
    assert len(lasker("counts", "morris", "--metric", "dtc").out.splitlines()) == 1

    write_distances(root, "board", found)
    where = ("--tables", str(root))
    shape = json.loads(lasker("probe", "morris", position, "--json", *where).out)
    assert shape["dtc"] == shape["moves"][0]["dtc"] == 11
    result = lasker("line", "morris", position, *where)
    assert (result.code, result.err) == (0, "")
    lines = result.out.splitlines()
    assert len(lines) == 11  # a capture ends the game
    assert lines[0].endswith("White wins, conversion in 10 plies")
    assert lines[-1].endswith("White has won")
    title = "morris, flying board, distances: 4 tables whole, 311,133 positions"
    assert title in lasker("status", *where).out
    counted = lasker("counts", "morris", "--metric", "dtc", "--men", "3", *where)
    assert counted.code == 0
    assert len(counted.out.splitlines()) == 1 + 16
    # Not --known: other entries without a meaning make another file.
    result = lasker("verify", "morris", "--quiet", *where)
    assert (result.code, result.err) == (0, "")
    assert "tables of distances are whole: no fault in 311,133 positions" in result.out


def test_index_and_back(lasker: object) -> None:
    shown = lasker("index", "morris", "W:Wa1,a4,d7:Bb2,d2,f4").out.splitlines()
    fields = dict(line.split(": ", 1) for line in shown)
    place = f"{fields['subspace'].strip()} {fields['index'].split()[0]}"
    result = lasker("index", "morris", "--unrank", place)
    assert (result.code, result.err) == (0, "")
    assert lasker("index", "morris", result.out.strip()).out.splitlines() == shown


def test_perft(lasker: object) -> None:
    result = lasker("perft", "morris", "2")
    assert (result.code, result.out) == (0, "ply,sequences\n1,24\n2,552\n")
    result = lasker("perft", "lasca", "4")
    assert result.code == 0
    known = (DATA / "lasca_perft.csv").read_text().splitlines()
    assert result.out.splitlines() == known[:5]
    assert lasker("perft", "morris", "0").out == "ply,sequences\n0,1\n"
    assert lasker("perft", "lasca", "0").out == "ply,routes,distinct_results\n0,1,1\n"


def test_counts_are_the_published_ones(lasker: object) -> None:
    with (DATA / "morris_counts.csv").open() as file:
        known = {
            tuple(row)
            for row in csv.reader(file)
            if row[0] == "board" and {sum(map(int, row[i : i + 3 : 2])) for i in (1, 2)} == {3}
        }
    result = lasker("counts", "morris", "--men", "3")
    assert result.code == 0
    found = {tuple(row) for row in csv.reader(result.out.splitlines())}
    assert len(known) == 12
    assert known <= found
    known_lines = (DATA / "lasca_counts.csv").read_text().splitlines()
    assert lasker("counts", "lasca", "--men", "2").out.splitlines() == known_lines[:6]
    heading = "white_men,black_men,white_officers,black_officers,columns,total,"
    result = lasker("counts", "lasca", "--officers")
    assert (result.code, result.out[: len(heading)]) == (0, heading)


def test_status(lasker: object, tmp_path: Path) -> None:
    lines = lasker("status").out.splitlines()
    assert "morris, flying board: 4 tables whole, 311,133 positions" in lines[1]
    assert "  up to 3 men a side: solved, 4 tables" in lines
    assert "  2 men in all: solved, 8 tables" in lines
    assert "none yet" in lasker("status", "--tables", str(tmp_path)).out


def test_solving_again_does_nothing(lasker: object, tables: Path) -> None:
    def state() -> dict[Path, int]:
        return {path: path.stat().st_mtime_ns for path in tables.rglob("*.wdl")}

    before = state()
    result = lasker("solve", "morris", "--men", "3")
    assert (result.code, result.out) == (0, "")
    assert "nothing to do" in result.err
    assert lasker("solve", "lasca", "--men", "2").code == 0
    assert state() == before


def test_a_log_gets_a_line_for_each_level(lasker: object, tmp_path: Path) -> None:
    log = tmp_path / "log"
    arguments = ["--tables", str(tmp_path), "--quiet", "--log", str(log)]
    result = lasker("solve", "morris", "--men", "3", *arguments)
    assert (result.code, result.out, result.err) == (0, "", "")
    lines = log.read_text().splitlines()
    for k in range(4):
        assert sum(f"r03c03k0{k}" in line for line in lines) == 1


@pytest.mark.parametrize("arguments", [("morris", "--men", "3"), ("lasca", "--men", "2")])
def test_verify(lasker: object, arguments: tuple[str, ...]) -> None:
    result = lasker("verify", *arguments, "--known")
    assert result.code == 0
    lines = result.out.splitlines()
    assert all("no fault in" in line for line in lines)
    unpublished = [line for line in lines if "published" not in line]
    assert len(lines) > len(unpublished) > 1
    assert lasker("verify", arguments[0], "--quiet").out.splitlines() == unpublished


def test_verify_by_samples(lasker: object) -> None:
    for game, of_each in (("morris", "subspace"), ("lasca", "class")):
        result = lasker("verify", game, "--sample", "10", "--quiet")
        assert (result.code, result.err) == (0, "")
        lines = result.out.splitlines()
        assert all(f"samples of 10 of each {of_each}" in line for line in lines[:2])
        assert not any("files" in line for line in lines)


def test_verify_finds_a_fault(lasker: object, tables: Path, tmp_path: Path) -> None:
    root = tmp_path / "copy"
    shutil.copytree(tables, root)
    store = Store(root, morris_family("board"))
    with store.open("r03c03k00") as table:
        sections = [
            Section(name, info.entries, *table.planes(name))
            for name, info in table.sections.items()
        ]
    sections[0] = replace(sections[0], win=sections[0].loss, loss=sections[0].win)
    with store.lock():
        store.write("r03c03k00", sections)
    result = lasker("verify", "morris", "--tables", str(root), "--quiet")
    assert (result.code, result.err) == (1, "")
    assert "is stored as loss, should be win" in result.out


def test_verify_without_tables(lasker: object, tmp_path: Path) -> None:
    for game, missing in (("morris", "r03c03k0"), ("lasca", "w1b1")):
        result = lasker("verify", game, "--tables", str(tmp_path), "--quiet")
        assert (result.code, result.out, result.err.count("\n")) == (3, "", 1)
        assert missing in result.err


def test_estimate(lasker: object) -> None:
    for arguments in (("morris", "--men", "3"), ("lasca", "--men", "3")):
        result = lasker("estimate", *arguments, "--threads", "1")
        assert (result.code, result.err) == (0, "")
        names = [line.split(":")[0] for line in result.out.splitlines()]
        assert names == ["positions", "files", "disk", "memory", "time"]
    result = lasker("estimate", "lasca", "--from", "start", "--max-positions", "1000")
    assert result.out.splitlines()[:2] == ["at most:", "positions: 1,000"]
    result = lasker("estimate", "lasca", "--from", "start", "--memory", "0.001")
    assert 1000 < int(result.out.splitlines()[1].split()[1].replace(",", "")) < 100_000


def test_endings_too_large_for_the_engine(lasker: object, tmp_path: Path) -> None:
    arguments = ("lasca", "--officers", "--columns", "4", "--tables", str(tmp_path))
    result = lasker("estimate", *arguments)
    assert (result.code, result.err) == (0, "")
    assert "but it can't be solved: w11b11-W11B11-c4 has 9,554,292,000 positions" in result.out
    for options in ((), ("--force",)):
        result = lasker("solve", *arguments, *options)
        assert (result.code, result.out, result.err.count("\n")) == (5, "", 1)
        assert "w11b11-W11B11-c4 has 9,554,292,000 positions" in result.err
    assert not list(tmp_path.iterdir())


def test_the_whole_game_is_refused_where_it_does_not_fit(lasker: object, tmp_path: Path) -> None:
    result = lasker("solve", "morris", "--memory", "0.5", "--tables", str(tmp_path))
    assert (result.code, result.out) == (5, "")
    *estimate, error = result.err.splitlines()
    assert estimate[0] == "positions: 141,029,893,768"
    assert "not enough memory" in error
    assert "--force" in error
    assert not list(tmp_path.iterdir())


def test_solving_from_a_position_prints_what_probe_prints(lasker: object, tmp_path: Path) -> None:
    position = "W:c1B b6WBbbbbBB d6wWwwWw c7Wwwwbbb"
    arguments = ["--tables", str(tmp_path), "--quiet"]
    result = lasker("solve", "lasca", "--from", position, *arguments)
    assert (result.code, result.err) == (0, "")
    assert "White to move: win in 7 plies" in result.out
    assert lasker("probe", "lasca", position, *arguments).out == result.out
    assert lasker("solve", "lasca", "--from", position, *arguments).out == result.out
    result = lasker("solve", "lasca", "--from", "start", "--max-positions", "99", *arguments)
    assert (result.code, result.out) == (5, "")
    assert "unknown within 99 positions" in result.err
    result = lasker("solve", "lasca", "--from", "start", "--memory", "0.000001", *arguments)
    assert (result.code, result.out) == (5, "")
    assert "unknown within 6 positions" in result.err


# Processes


def test_a_look_up_does_not_import_numba(tables: Path) -> None:
    where = str(tables)
    program = (
        "import sys; from solver import cli;"
        f"code = cli.main(['probe', 'morris', 'W:Wa1,a4,d7:Bb2,d2,f4', '--tables', {where!r}]);"
        f"code += cli.main(['line', 'lasca', 'W:c1w a7b', '--tables', {where!r}]);"
        "sys.exit(code or 'numba' in sys.modules or 'tqdm' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], capture_output=True).returncode == 0
