"""The folder of tables: whole tables stay whole, whatever happens to a run that writes."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from databases import store as store_module
from databases.catalog import Family
from databases.errors import (
    CorruptTableError,
    MissingTableError,
    NoSpaceError,
    StoreAccessError,
    StoreBusyError,
    WrongRulesError,
)
from databases.pack import Section
from databases.store import LOCK, MANIFEST, Store

FAMILY = Family(
    "morris", "morris/board", ".wdl", {"flying": "board"}, "f" * 64, lambda *_: ["--men", "3"]
)
NAMES = ("r03c03k00", "r03c03k01", "r03c03k02")


def sections_of(name: str) -> list[Section]:
    """Two sections that depend on the name only."""
    rng = np.random.default_rng(int(name[-1]))
    sections = []
    for section in ("C0", "C1"):
        win = rng.integers(0, 256, 500, dtype=np.uint8)
        loss = rng.integers(0, 256, 500, dtype=np.uint8) & ~win
        sections.append(Section(section, 4000, win, loss))
    return sections


def solve(store: Store, names=NAMES) -> list[str]:
    """What a run does: write what is missing. The names of the tables written."""
    written = []
    with store.lock():
        for name in names:
            if not store.has(name):
                store.write(name, sections_of(name))
                written.append(name)
    return written


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.name: path.read_bytes()
        for path in sorted(folder.iterdir())
        if path.name not in (LOCK,)
    }


@pytest.fixture
def store(tmp_path) -> Store:
    store = Store(tmp_path / "tables", FAMILY)
    solve(store)
    return store


def test_a_run_writes_all_and_the_next_nothing(store) -> None:
    before = contents(store.folder)
    assert set(before) == {f"{name}.wdl" for name in NAMES} | {MANIFEST}
    assert solve(store) == []
    assert contents(store.folder) == before


def test_a_store_touches_nothing_by_itself(tmp_path) -> None:
    store = Store(tmp_path / "tables", FAMILY)
    assert not store.has(NAMES[0])
    assert store.report(NAMES).missing == NAMES
    assert not store.root.exists()


def test_tables_do_not_depend_on_folder_or_interruption(store, tmp_path) -> None:
    other = Store(tmp_path / "other", FAMILY)
    solve(other, NAMES[:1])
    solve(other, NAMES[1:])
    assert contents(other.folder) == contents(store.folder)


def test_manifest_is_what_sha256sum_prints(store) -> None:
    lines = [
        f"{hashlib.sha256((store.folder / f'{name}.wdl').read_bytes()).hexdigest()}  {name}.wdl\n"
        for name in NAMES
    ]
    assert (store.folder / MANIFEST).read_text() == "".join(lines)
    if shutil.which("sha256sum"):
        subprocess.run(
            ["sha256sum", "--check", "--quiet", "--strict", MANIFEST],
            cwd=store.folder,
            check=True,
        )


def test_report(store) -> None:
    report = store.report((*NAMES, "r03c03k03"))
    assert tuple(report.whole) == NAMES
    assert report.missing == ("r03c03k03",)
    assert not report.damaged and not report.unlisted and not report.leftovers
    assert report.entries == len(NAMES) * 8000
    assert report.size == sum((store.path(name)).stat().st_size for name in NAMES)


def test_missing_level_is_reported_and_made_again(store) -> None:
    before = contents(store.folder)
    store.path(NAMES[1]).unlink()
    report = store.report(NAMES)
    assert report.missing == (NAMES[1],)
    assert report.damaged == {NAMES[1]: "in the manifest, but there is no file"}
    assert not store.has(NAMES[1])
    with pytest.raises(MissingTableError, match="make it with: lasker solve morris --men 3"):
        store.open(NAMES[1])
    assert solve(store) == [NAMES[1]]
    assert contents(store.folder) == before


@pytest.mark.parametrize("size", [0, 1, 100, -1])
def test_cut_off_file_is_made_again(store, size) -> None:
    before = contents(store.folder)
    path = store.path(NAMES[1])
    os.truncate(path, size if size >= 0 else path.stat().st_size - 1)
    assert not store.has(NAMES[1])
    assert list(store.report(NAMES).damaged) == [NAMES[1]]
    assert solve(store) == [NAMES[1]]
    assert contents(store.folder) == before


def test_flipped_bit_in_a_block_is_found_by_check(store) -> None:
    for name in NAMES:
        store.check(name)
    path = store.path(NAMES[1])
    damaged = bytearray(path.read_bytes())
    damaged[100] ^= 4
    path.write_bytes(damaged)
    with pytest.raises(CorruptTableError, match="block 0 of the values of section C0"):
        store.check(NAMES[1])
    with store.lock():
        store.discard(NAMES[1])
    assert solve(store) == [NAMES[1]]


def test_whole_table_of_other_values_disagrees_with_the_manifest(store, tmp_path) -> None:
    other = Store(tmp_path / "other", FAMILY)
    with other.lock():
        other.write(NAMES[1], sections_of(NAMES[2]))
    shutil.copy(other.path(NAMES[1]), store.path(NAMES[1]))
    with pytest.raises(CorruptTableError, match="corrupt in manifest: its SHA-256 is not"):
        store.check(NAMES[1])


@pytest.mark.parametrize("damage", ["gone", "empty", "garbage", "a line less", "cut off", "zeros"])
def test_manifest_that_disagrees_is_made_right(store, damage) -> None:
    before = contents(store.folder)
    path = store.folder / MANIFEST
    text = path.read_text()
    damaged = {
        "empty": b"",
        "garbage": bytes(range(256)) * 3,
        "a line less": "".join(text.splitlines(keepends=True)[1:]).encode(),
        "cut off": text[: len(text) // 2].encode(),
        "zeros": bytes(len(text)),
    }
    path.unlink() if damage == "gone" else path.write_bytes(damaged[damage])
    assert NAMES[0] in store.report(NAMES).unlisted or damage == "cut off"
    assert solve(store) == []
    assert contents(store.folder) == before


def test_killed_between_rename_and_manifest(store) -> None:
    """The table is whole but not listed: it is read, listed and not solved again."""
    before = contents(store.folder)
    lines = (store.folder / MANIFEST).read_text().splitlines(keepends=True)
    (store.folder / MANIFEST).write_text("".join(lines[:-1]))
    assert not store.has(NAMES[2])
    assert store.report(NAMES).unlisted == (NAMES[2],)
    assert solve(store) == []
    assert contents(store.folder) == before


def test_unlisted_table_with_a_damaged_block_is_not_listed(store) -> None:
    before = contents(store.folder)
    (store.folder / MANIFEST).unlink()
    path = store.path(NAMES[0])
    damaged = bytearray(path.read_bytes())
    damaged[100] ^= 4
    path.write_bytes(damaged)
    assert solve(store) == [NAMES[0]]
    assert contents(store.folder) == before


def test_leftovers_are_removed_under_the_lock_only(store) -> None:
    leftover = store.folder / f"{NAMES[0]}.wdl.123.part"
    leftover.write_bytes(b"half a table")
    assert store.report(NAMES).leftovers == (leftover,)
    assert leftover.exists()
    solve(store)
    assert not leftover.exists()


def test_table_of_other_rules_is_refused(store) -> None:
    other = Store(store.root, replace(FAMILY, rules={"flying": "off"}))
    with pytest.raises(WrongRulesError, match=r"'board'.*'off'"):
        other.has(NAMES[0])
    with pytest.raises(WrongRulesError), other.lock():
        pass
    assert "'off'" in other.report(NAMES).damaged[NAMES[0]]


def test_renamed_table_is_refused(store) -> None:
    store.path(NAMES[0]).rename(store.path("r03c03k03"))
    with pytest.raises(WrongRulesError, match="name r03c03k00, not r03c03k03"):
        store.open("r03c03k03")


def test_writing_needs_the_lock(store) -> None:
    with pytest.raises(RuntimeError, match="not locked"):
        store.write(NAMES[0], sections_of(NAMES[0]))
    with pytest.raises(RuntimeError, match="not locked"):
        store.discard(NAMES[0])


def test_second_run_says_so(store) -> None:
    with store.lock():
        second = Store(store.root, FAMILY)
        with pytest.raises(StoreBusyError, match=f"process {os.getpid()}"), second.lock():
            pass
        assert store.has(NAMES[0])
    with second.lock():
        pass


def test_only_one_of_many_gets_the_lock(tmp_path) -> None:
    inside, refused = [], []
    barrier = threading.Barrier(8)

    def run() -> None:
        store = Store(tmp_path, FAMILY)
        barrier.wait()
        try:
            with store.lock():
                inside.append(1)
                done.wait(10)
        except StoreBusyError:
            refused.append(1)
            if len(refused) == 7:
                done.set()

    done = threading.Event()
    threads = [threading.Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(inside), len(refused)) == (1, 7)


def test_replacing_a_table(store) -> None:
    with store.lock():
        store.write(NAMES[0], sections_of(NAMES[1]))
    store.check(NAMES[0])


def test_killed_while_a_table_is_replaced(store, monkeypatch) -> None:
    """Between the rename and the manifest: the new file must not stand under the old sum."""
    with store.lock():
        write_manifest, calls = store._write_manifest, []

        def killed() -> None:
            calls.append(1)
            if len(calls) == 2:
                raise KeyboardInterrupt
            write_manifest()

        monkeypatch.setattr(store, "_write_manifest", killed)
        with pytest.raises(KeyboardInterrupt):
            store.write(NAMES[0], sections_of(NAMES[1]))
    fresh = Store(store.root, FAMILY)
    assert fresh.report(NAMES).unlisted == (NAMES[0],)
    with fresh.lock():
        pass
    fresh.check(NAMES[0])


def test_full_disk(store, monkeypatch) -> None:
    before = contents(store.folder)

    def full(*_arguments):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with store.lock():
        monkeypatch.setattr(os, "write", full)
        with pytest.raises(NoSpaceError, match=r"r03c03k03.*no space left"):
            store.write("r03c03k03", sections_of("r03c03k03"))
        monkeypatch.undo()
    assert contents(store.folder) == before


@pytest.fixture
def small_disk(tmp_path):
    """A file system of one megabyte, where the user may mount one."""
    folder = tmp_path / "small"
    folder.mkdir()
    mount = shutil.which("mount")
    command = [mount, "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    if not mount or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("mounting a small tmpfs needs root")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_really_full_disk(small_disk) -> None:
    store = Store(small_disk, FAMILY)
    solve(store)
    before = contents(store.folder)
    rng = np.random.default_rng(1)
    win = rng.integers(0, 256, 2_000_000, dtype=np.uint8)
    large = Section("C0", 16_000_000, win, ~win)
    with store.lock(), pytest.raises(NoSpaceError):
        store.write("r03c03k03", [large], threads=2)
    assert contents(store.folder) == before
    for name in NAMES:
        store.check(name)


def test_really_read_only_folder(small_disk) -> None:
    store = Store(small_disk, FAMILY)
    solve(store)
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    assert store.has(NAMES[0])
    assert tuple(store.report(NAMES).whole) == NAMES
    store.check(NAMES[0])
    with pytest.raises(StoreAccessError, match="Read-only file system"), store.lock():
        pass


def test_folder_that_is_a_file(tmp_path) -> None:
    (tmp_path / "morris").write_bytes(b"")
    store = Store(tmp_path, FAMILY)
    with pytest.raises(StoreAccessError, match="cannot be written"), store.lock():
        pass
    with pytest.raises(StoreAccessError, match="cannot be read"):
        store.report(NAMES)


def test_folder_without_permission(store, monkeypatch) -> None:
    def refused(*_arguments, **_options):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(os, "open", refused)
    with pytest.raises(StoreAccessError, match="cannot be read: Permission denied"):
        store.open(NAMES[0])
    with (
        pytest.raises(StoreAccessError, match="cannot be written: Permission denied"),
        store.lock(),
    ):
        pass


WRITER = """
    import sys
    from pathlib import Path
    sys.path.insert(0, {tests!r})
    from test_databases_store import FAMILY, NAMES, sections_of
    from databases.store import Store

    store = Store(Path({root!r}), FAMILY)
    with store.lock():
        while True:
            for name in NAMES[1:]:
                store.write(name, sections_of(name))
                print(name, flush=True)
"""


@pytest.mark.parametrize("tables_written", [0, 1, 4, 9, 30])
def test_run_killed_while_it_writes(store, tables_written) -> None:
    """Killed with signal 9 at a moment that varies; what is there is whole, a new run completes."""
    before = contents(store.folder)
    code = textwrap.dedent(WRITER).format(tests=str(Path(__file__).parent), root=str(store.root))
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
        for _ in range(tables_written):
            process.stdout.readline()
        if tables_written:
            with pytest.raises(StoreBusyError, match=str(process.pid)), store.lock():
                pass
        process.send_signal(signal.SIGKILL)
        process.wait()
    fresh = Store(store.root, FAMILY)
    assert not fresh.report(NAMES).damaged
    solve(fresh)
    assert contents(store.folder) == before
    for name in NAMES:
        fresh.check(name)


HALF_WRITER = """
    import sys, time
    from pathlib import Path
    sys.path.insert(0, {tests!r})
    from test_databases_store import FAMILY, NAMES, sections_of
    from databases.store import Store

    def sections():
        yield sections_of(NAMES[1])[0]
        print("half", flush=True)
        time.sleep(60)

    store = Store(Path({root!r}), FAMILY)
    with store.lock():
        store.write(NAMES[0], sections())
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_run_ended_in_the_middle_of_a_table(store, number) -> None:
    before = contents(store.folder)
    code = textwrap.dedent(HALF_WRITER).format(
        tests=str(Path(__file__).parent), root=str(store.root)
    )
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", code], **pipes) as process:
        assert process.stdout.readline() == b"half\n"
        process.send_signal(number)
        process.communicate()
    # Only a kill leaves something, and never under the name of a table.
    assert len(store.report(NAMES).leftovers) == (number == signal.SIGKILL)
    assert solve(store) == []
    assert contents(store.folder) == before


def test_many_small_tables_are_cheap(tmp_path, monkeypatch) -> None:
    """A table costs two fsyncs, its own and the folder's; the manifest none until the end."""
    synced = []
    real = os.fsync
    monkeypatch.setattr(os, "fsync", lambda descriptor: synced.append(real(descriptor)))
    store = Store(tmp_path, FAMILY)
    with store.lock():
        for number in range(20):
            store.write(f"r03c03k{number:02d}", sections_of("0"))
        assert len(synced) == 40
    assert len(store_module.Store(tmp_path, FAMILY).report().whole) == 20
