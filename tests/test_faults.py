"""Faults of disks and users, seen through the command line: exit code, message, and repair.

Each ends with the documented exit code and one line that names file and block; whole tables stay
whole; and a further `lasker solve` makes what is missing, byte for byte what it was.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import textwrap
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from command_line import Result, call, start
from hypothesis import given
from hypothesis import strategies as st
from small_tables import distances, write_distances

from databases import CorruptTableError, Store, lasca_family, open_tables
from databases import format as layout
from databases.store import LOCK, MANIFEST
from engine.morris.index import Subspace, position_at
from solver import cli

LEVEL = "r03c03k03"
SECTION = "C3"
POSITION = "W:Wa1,a4,d7:Bb2,d2,f4"  # in that section
BOARD = Path("morris/board")
FILE = BOARD / f"{LEVEL}.wdl"
SOLVE = ("solve", "morris", "--men", "3", "--quiet")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Morris up to three and Lasca up to two men, solved; not to be changed."""
    root = tmp_path_factory.mktemp("whole")
    for selection in (("morris", "--men", "3"), ("lasca", "--men", "2")):
        assert cli.main(["solve", *selection, "--quiet", "--tables", str(root)]) == 0
    return root


@pytest.fixture(scope="module")
def three_men(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Lasca up to three men, 44 tables, solved; not to be changed."""
    root = tmp_path_factory.mktemp("three_men")
    assert cli.main(["solve", "lasca", "--men", "3", "--quiet", "--tables", str(root)]) == 0
    return root


@pytest.fixture
def root(whole: Path, tmp_path: Path) -> Path:
    """A copy of these tables, to be damaged."""
    return shutil.copytree(whole, tmp_path / "tables")


@pytest.fixture
def lasker(root: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    """Runs the command line on the copy, in this process."""
    return lambda *arguments: call(capsys, *arguments, "--tables", root)


def contents(root: Path) -> dict[str, bytes]:
    """All files by name, without the lock, which holds the number of a process."""
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and path.name != LOCK
    }


def trailer_of(data: bytes) -> layout.Trailer:
    return layout.decode_trailer(data[-layout.TRAILER_SIZE :], len(data), FILE)


# Damaged files


PLACES = {
    # a byte of each part of a file: its offset
    "magic": lambda data: 3,
    "version": lambda data: 9,
    "checksum of the front": lambda data: 14,
    "first block": lambda data: layout.FRONT_SIZE,
    "last block": lambda data: trailer_of(data).index_offset - 1,
    "index": lambda data: trailer_of(data).index_offset + 5,
    "header": lambda data: trailer_of(data).index_offset + trailer_of(data).index_size + 99,
    "trailer": lambda data: len(data) - 30,
    "checksum of the trailer": lambda data: len(data) - 7,
    "last byte": lambda data: len(data) - 1,
}


@pytest.mark.parametrize("place", [0, 1, *PLACES])
def test_a_truncated_file(
    lasker: Callable[..., Result], root: Path, whole: Path, place: str | int
) -> None:
    size = place if isinstance(place, int) else PLACES[place]((root / FILE).read_bytes())
    os.truncate(root / FILE, size)
    found = lasker("probe", "morris", POSITION)
    assert (found.code, found.out) == (4, "")
    assert f"{root / FILE}: corrupt in" in found.error
    assert "delete the file and solve again" in found.error
    assert f"damaged: {LEVEL}" in lasker("status").out
    found = lasker("verify", "morris", "--quiet")
    assert (found.code, found.out) == (4, "")
    assert str(root / FILE) in found.error
    assert lasker(*SOLVE).code == 0
    assert contents(root) == contents(whole)


@pytest.mark.parametrize("place", [place for place in PLACES if "block" not in place])
def test_a_changed_byte_outside_the_blocks(
    lasker: Callable[..., Result], root: Path, whole: Path, place: str
) -> None:
    flip(root / FILE, PLACES[place]((root / FILE).read_bytes()))
    found = lasker("probe", "morris", POSITION)
    assert (found.code, found.out) == (4, "")
    assert f"{root / FILE}: corrupt in" in found.error
    assert f"damaged: {LEVEL}" in lasker("status").out
    assert lasker(*SOLVE).code == 0
    assert contents(root) == contents(whole)


def test_a_changed_byte_in_a_block(lasker: Callable[..., Result], root: Path, whole: Path) -> None:
    """Found by whoever reads the block; repaired as the message says."""
    last = PLACES["last block"]((root / FILE).read_bytes())
    flip(root / FILE, last)
    subspace = Subspace(3, 3, 3, 3, "C")
    place = f"block 1 of the values of section {SECTION}"
    found = lasker("probe", "morris", position_at(subspace, subspace.size - 1))
    assert (found.code, found.out) == (4, "")
    assert f"{root / FILE}: corrupt in {place}: checksum mismatch" in found.error
    found = lasker("verify", "morris", "--quiet")
    assert (found.code, found.out) == (4, "")
    assert f"{root / FILE}: corrupt in {place}" in found.error
    assert lasker("probe", "morris", position_at(subspace, 0)).code == 0  # in another block
    (root / FILE).unlink()
    assert lasker(*SOLVE).code == 0
    assert contents(root) == contents(whole)


@given(place=st.floats(0, 1), mask=st.integers(1, 255), cut=st.booleans(), index=st.floats(0, 1))
def test_damage_anywhere_never_gives_a_wrong_value(
    whole: Path, tmp_path_factory: pytest.TempPathFactory, place, mask, cut, index
) -> None:
    subspace = Subspace(3, 3, 3, 3, "C")
    position = position_at(subspace, int(index * (subspace.size - 1)))
    with open_tables(whole) as tables:
        right = tables.probe_wdl(position)
    root = tmp_path_factory.mktemp("damaged")
    (root / BOARD).mkdir(parents=True)
    data = (whole / FILE).read_bytes()
    at = int(place * (len(data) - 1))
    changed = data[:at] + (b"" if cut else bytes([data[at] ^ mask]) + data[at + 1 :])
    (root / FILE).write_bytes(changed)
    with open_tables(root) as tables:
        try:
            assert tables.probe_wdl(position) == right
        except CorruptTableError as error:
            assert str(root / FILE) in str(error) and "\n" not in str(error)


def flip(path: Path, at: int) -> None:
    data = bytearray(path.read_bytes())
    data[at] ^= 0x20
    path.write_bytes(data)


# Whole files that are not the ones asked for


def test_a_file_of_another_version(lasker: Callable[..., Result], root: Path) -> None:
    front = struct.pack("<8sI", layout.MAGIC, layout.VERSION + 1)
    data = (root / FILE).read_bytes()[layout.FRONT_SIZE :]
    (root / FILE).write_bytes(front + struct.pack("<I", zlib.crc32(front)) + data)
    check_refused(lasker, root, "morris", "board", "format version 2, not 1")


def test_files_of_other_rules(lasker: Callable[..., Result], root: Path) -> None:
    shutil.copytree(root / BOARD, root / "morris/off")
    check_refused(lasker, root, "morris", "off", "rules")


def test_a_file_of_another_game(lasker: Callable[..., Result], root: Path) -> None:
    shutil.copy(next((root / "lasca/classes").glob("*.tbl")), root / FILE)
    check_refused(lasker, root, "morris", "board", "game lasca, not morris")


def test_a_file_of_another_name(lasker: Callable[..., Result], root: Path) -> None:
    shutil.copy(root / BOARD / "r03c03k02.wdl", root / FILE)
    check_refused(lasker, root, "morris", "board", f"name r03c03k02, not {LEVEL}")


def test_distances_in_the_place_of_values(lasker: Callable[..., Result], root: Path) -> None:
    store = write_distances(root, "board", distances(3, "board"))
    shutil.copy(store.path(LEVEL), root / FILE)
    check_refused(lasker, root, "morris", "board", "contents distances, not values")


def test_values_in_the_place_of_distances(lasker: Callable[..., Result], root: Path) -> None:
    store = write_distances(root, "board", distances(3, "board"))
    shutil.copy(root / FILE, store.path(LEVEL))
    for command in (("probe", "morris", POSITION), (*SOLVE, "--metric", "dtc")):
        found = lasker(*command)
        assert (found.code, found.out) == (4, ""), command
        assert "contents values, not distances" in found.err
    assert "contents values, not distances" in lasker("status").out


def check_refused(
    lasker: Callable[..., Result], root: Path, game: str, flying: str, reason: str
) -> None:
    """Neither read nor overwritten: it may be somebody's table under a wrong name."""
    before = contents(root)
    path = root / "morris" / flying
    for command in (
        ("probe", game, POSITION, "--flying", flying),
        (*SOLVE, "--flying", flying),
        ("verify", game, "--men", "3", "--flying", flying, "--quiet"),
    ):
        found = lasker(*command)
        assert (found.code, found.out) == (4, ""), command
        assert str(path) in found.error and reason in found.error
    assert reason in lasker("status").out
    assert contents(root) == before


# Folders that are not as they should be


def test_a_missing_level(lasker: Callable[..., Result], root: Path, whole: Path) -> None:
    (root / FILE).unlink()
    found = lasker("probe", "morris", POSITION)
    assert (found.code, found.out) == (3, "")
    assert f"no table for {LEVEL} {SECTION}: {root / FILE} is missing" in found.error
    assert f"make it with: lasker solve morris --men 3 --tables {root}" in found.error
    found = lasker("verify", "morris", "--men", "3", "--quiet")
    assert (found.code, found.out) == (3, "")
    assert str(root / FILE) in found.error
    assert lasker(*SOLVE).code == 0
    assert contents(root) == contents(whole)


def test_a_manifest_with_another_checksum(
    lasker: Callable[..., Result], root: Path, whole: Path
) -> None:
    """Of a file that was replaced by a whole one, say; `verify` reads the bytes and sees it."""
    manifest = root / BOARD / MANIFEST
    right = manifest.read_text()
    manifest.write_text(re.sub(r"[0-9a-f]{64}(  r03c03k03)", "0" * 64 + r"\1", right))
    found = lasker("verify", "morris", "--quiet")
    assert (found.code, found.err) == (1, "")
    assert "the files are those of the manifest: 1 faults" in found.out
    assert f"{root / FILE} has SHA-256" in found.out
    (root / FILE).unlink()
    assert lasker(*SOLVE).code == 0
    assert contents(root) == contents(whole)


@pytest.mark.parametrize("damage", ["gone", "garbage", "a line less"])
def test_a_damaged_manifest(
    lasker: Callable[..., Result], root: Path, whole: Path, damage: str
) -> None:
    manifest = root / BOARD / MANIFEST
    lines = manifest.read_text().splitlines(keepends=True)
    if damage == "gone":
        manifest.unlink()
    else:
        manifest.write_text("\0\xff" * 99 if damage == "garbage" else "".join(lines[:-1]))
    assert f"not listed: {LEVEL}" in lasker("status").out
    assert lasker("probe", "morris", POSITION).code == 0
    assert lasker(*SOLVE).code == 0
    assert contents(root) == contents(whole)


def test_files_that_are_no_tables(lasker: Callable[..., Result], root: Path, whole: Path) -> None:
    """A pipe, a folder, links to nowhere and odd names beside the tables and in their place."""
    (root / FILE).unlink()
    os.mkfifo(root / FILE)
    found = lasker("probe", "morris", POSITION)
    assert (found.code, found.out) == (4, "")
    assert f"{root / FILE}: corrupt in front: it is no regular file" in found.error
    for folder, suffix in ((BOARD, ".wdl"), (Path("lasca/classes"), ".tbl")):
        (root / folder / f"folder{suffix}").mkdir()
        (root / folder / f"nowhere{suffix}").symlink_to("nothing")
        (root / folder / f"ünï{suffix}").write_bytes(b"no table")
        (root / folder / "README").write_text("notes")
    lines = lasker("status").out
    assert lines.count("damaged: ünï") == 2
    assert lasker("counts", "lasca").code == 0
    assert lasker(*SOLVE).code == 0
    changed = contents(root)
    assert {name: changed[name] for name in contents(whole)} == contents(whole)


def test_leftovers_of_a_killed_run(lasker: Callable[..., Result], root: Path, whole: Path) -> None:
    (root / FILE).rename(root / BOARD / f"{LEVEL}.wdl.12345.part")
    assert f"left over: {LEVEL}.wdl.12345.part" in lasker("status").out
    assert lasker("probe", "morris", POSITION).code == 3
    assert lasker(*SOLVE).code == 0
    assert contents(root) == contents(whole)


# Permissions, and disks that are full or read only


def without_privileges(command: list[str]) -> list[str]:
    """A command that heeds the modes of files even where root runs it."""
    if os.geteuid() == 0:
        drop = "--bounding-set=-dac_override,-dac_read_search"
        command = ["setpriv", drop, "--", *command]
        if subprocess.run([*command[:3], "true"], capture_output=True).returncode:
            pytest.skip("root ignores the modes of files, and setpriv can't change that")
    return command


def run_without_privileges(*arguments: object) -> Result:
    command = [sys.executable, "-m", "solver.cli", *map(str, arguments)]
    found = subprocess.run(without_privileges(command), capture_output=True, text=True)
    return Result(found.returncode, found.stdout, found.stderr)


def test_a_folder_that_may_not_be_written(root: Path) -> None:
    (root / FILE).unlink()
    before = contents(root)
    for folder in (root / BOARD, root / "morris", root):
        folder.chmod(0o555)
    (root / BOARD / LOCK).chmod(0o444)
    try:
        found = run_without_privileges(*SOLVE, "--tables", root)
        assert (found.code, found.out) == (2, "")
        assert f"{root / BOARD}: cannot be written: Permission denied" in found.error
        found = run_without_privileges("probe", "morris", "W:W:B:H3,3", "--tables", root)
        assert found.code == 0
    finally:
        for folder in (root, root / "morris", root / BOARD):
            folder.chmod(0o755)
    assert contents(root) == before


def test_a_file_that_may_not_be_read(root: Path) -> None:
    (root / FILE).chmod(0)
    found = run_without_privileges("probe", "morris", POSITION, "--tables", root)
    assert (found.code, found.out) == (2, "")
    assert f"{root / FILE}: cannot be read: Permission denied" in found.error


@pytest.fixture
def small_disk() -> Iterator[Callable[[str], Path]]:
    """Makes a file system with these options of mount, where the user may mount one."""
    folder = Path(tempfile.mkdtemp(prefix="lasker-small-"))

    def mount(options: str) -> Path:
        kind = [] if os.path.ismount(folder) else ["-t", "tmpfs"]
        command = ["mount", *kind, "-o", options, "tmpfs", str(folder)]
        if not shutil.which("mount") or subprocess.run(command, capture_output=True).returncode:
            pytest.skip("mounting a small tmpfs needs root")
        return folder

    yield mount
    if os.path.ismount(folder):
        subprocess.run(["umount", str(folder)], check=True)
    folder.rmdir()


def test_a_read_only_disk(
    whole: Path, small_disk: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    root = small_disk("size=2m")
    shutil.copytree(whole, root, dirs_exist_ok=True)
    (root / FILE).unlink()
    small_disk("remount,ro")
    found = call(capsys, *SOLVE, "--tables", root)
    assert (found.code, found.out) == (2, "")
    assert f"{root / BOARD}: cannot be written: Read-only file system" in found.error
    assert call(capsys, "probe", "morris", "W:W:B:H3,3", "--tables", root).code == 0
    found = call(capsys, "solve", "lasca", "--from", "W:a1w g7b e7b", "--tables", root, "--quiet")
    assert (found.code, found.out) == (2, "")
    assert "Read-only file system" in found.error


def test_a_full_disk_in_the_middle_of_a_solve(
    small_disk: Callable[[str], Path], three_men: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    solve = ("solve", "lasca", "--men", "3", "--quiet", "--force", "--tables")
    root = small_disk("size=48k")
    found = call(capsys, *solve, root)
    assert (found.code, found.out) == (5, "")
    assert re.search(rf"{root}/lasca/classes/\S+: no space left on the disk", found.error)
    written = contents(root)
    assert len(written) > 3  # it was in the middle
    assert call(capsys, "solve", "lasca", "--men", "3", "--quiet", "--tables", root).code == 5
    lines = call(capsys, "status", "--tables", root).out
    assert " tables whole" in lines and "damaged" not in lines and "left over" not in lines
    small_disk("remount,size=8m")
    assert call(capsys, *solve, root).code == 0
    assert contents(root) == contents(three_men)
    assert {name for name in written if not name.endswith(MANIFEST)} < set(contents(root))


FULL = """
    import resource, sys
    from solver import cli

    solve = ["solve", "morris", "--men", "3", "--quiet", "--tables"]
    cli.main([*solve, {warm!r}])  # so that no kernel is written to the disk later
    resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))
    sys.exit(cli.main([*solve, {root!r}]))
"""


def test_a_file_that_may_not_grow(
    lasker: Callable[..., Result], root: Path, whole: Path, tmp_path: Path
) -> None:
    """The system's bound on the size of a file, met where no small disk can be mounted too."""
    for path in (root / BOARD).glob("*.wdl"):
        path.unlink()
    code = textwrap.dedent(FULL).format(warm=str(tmp_path / "warm"), root=str(root))
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (found.returncode, found.stdout) == (5, "")
    result = Result(found.returncode, found.stdout, found.stderr)
    assert f"{root / FILE}: no space left on the disk (File too large)" in result.error
    assert not list((root / BOARD).glob("*.part"))
    assert lasker(*SOLVE).code == 0
    assert contents(root) == contents(whole)


def test_a_log_on_a_full_disk(lasker: Callable[..., Result], root: Path, whole: Path) -> None:
    (root / FILE).unlink()
    found = lasker(*SOLVE, "--log", "/dev/full")
    assert (found.code, found.out) == (5, "")
    assert "/dev/full: the log cannot be written: No space left on device" in found.error
    assert lasker(*SOLVE).code == 0
    assert contents(root) == contents(whole)


# Runs that end early, meet, or may open few files


def started_job(root: Path) -> subprocess.Popen[str]:
    """A long solve of Lasca that has written some tables."""
    log = root / "log"
    job = start(
        *("solve", "lasca", "--men", "5", "--force", "--threads", "1"),
        *("--tables", root, "--log", log),
    )
    until = time.monotonic() + 120
    while not (log.exists() and log.read_text().count("\n") > 5) and time.monotonic() < until:
        time.sleep(0.05)
    return job


def test_two_solves_at_once_and_an_interrupt(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    job = started_job(tmp_path)
    solve = ("solve", "lasca", "--men", "5", "--quiet", "--force", "--tables")
    second = call(capsys, *solve, tmp_path)
    job.send_signal(signal.SIGINT)
    _, err = job.communicate(timeout=60)
    assert (second.code, second.out) == (5, "")
    assert f"another run (process {job.pid}) writes here" in second.error
    assert job.returncode == 130
    assert err.splitlines()[-1] == "lasker: interrupted"
    assert "Traceback" not in err
    check_whole_tables(tmp_path)
    report = Store(tmp_path, lasca_family()).report()
    assert not report.leftovers and not report.unlisted


def test_a_solve_killed(
    tmp_path: Path, three_men: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    job = started_job(tmp_path)
    job.kill()
    job.communicate(timeout=60)
    check_whole_tables(tmp_path)
    solve = ("solve", "lasca", "--men", "3", "--quiet", "--force", "--tables")
    assert call(capsys, *solve, tmp_path).code == 0
    found, expected = contents(tmp_path), contents(three_men)
    tables = [name for name in expected if not name.endswith(MANIFEST)]
    assert len(tables) == 44
    assert all(found[name] == expected[name] for name in tables)


def check_whole_tables(root: Path) -> None:
    """What a run that was ended has left counts as whole only if it is."""
    store = Store(root, lasca_family())
    report = store.report()
    assert report.whole and not report.damaged
    for name in report.whole:
        store.check(name)


FEW = """
    import resource, sys
    from solver import cli

    resource.setrlimit(resource.RLIMIT_NOFILE, (24, 24))
    for command in (["status"], ["counts", "lasca"], ["verify", "lasca", "--sample", "9"]):
        if cli.main([*command, "--quiet", "--tables", {root!r}]):
            sys.exit(1)
"""


def test_few_open_files(three_men: Path) -> None:
    """44 tables are read by a process that may have 24 files open.

    Look-ups in all tables of a folder with 64 open files are in `test_databases_probe.py`.
    """
    code = textwrap.dedent(FEW).format(root=str(three_men))
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (found.returncode, found.stderr) == (0, "")
    assert "3 men in all: solved" in found.stdout and "no fault in" in found.stdout
