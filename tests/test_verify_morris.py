"""Verification of morris tables: right ones pass, and each kind of wrong value is found."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from small_tables import circular_values, write_levels, write_morris

from databases import format as layout
from databases.errors import CorruptTableError, MissingTableError
from databases.store import Store
from engine.morris import Position, Rules
from engine.morris.index import Subspace, locate
from solver import retrograde, verify_fixpoint, verify_morris
from solver.morris_game import MorrisClass, solve_all
from solver.retrograde import DRAW, HOLE, LOSS, WIN
from solver.verification import Report

MEN = 3
LOST_ONCE = np.array([LOSS], np.int8)


@cache
def values(flying: str) -> dict[Subspace, np.ndarray]:
    return {s: part.value for s, part in solve_all(MEN, Rules(flying=flying)).items()}


def verified(store: Store, sample: int | None = None) -> Report:
    checks = verify_morris.check_values(store, MEN, sample=sample)
    solved_again, large = verify_fixpoint.check_fixpoint(store, MEN)
    assert not large
    return Report(checks + solved_again)


@pytest.mark.parametrize("flying", ["board", "total", "off"])
def test_right_tables_are_clean(flying: str, tmp_path: Path) -> None:
    report = verified(write_morris(tmp_path, flying, values(flying)))
    assert report.is_clean
    everything = sum(value.size for value in values(flying).values())
    assert [check.positions for check in report.checks] == [everything] * 3
    assert all("no fault" in line for line in report.lines())


KINDS = [(stored, right) for stored in (WIN, DRAW, LOSS) for right in (WIN, DRAW, LOSS)]


@pytest.mark.parametrize(("stored", "right"), [kind for kind in KINDS if kind[0] != kind[1]])
def test_a_wrong_value_is_found(stored: int, right: int, tmp_path: Path) -> None:
    wrong = dict(values("board"))
    subspace = Subspace(3, 3, 2, 3, "C")
    index = int(np.flatnonzero(wrong[subspace] == right)[7])
    wrong[subspace] = wrong[subspace].copy()
    wrong[subspace][index] = stored
    checks = verified(write_morris(tmp_path, "board", wrong)).checks
    names = {WIN: "win", DRAW: "draw", LOSS: "loss"}
    for check in (checks[0], checks[2]):
        (fault,) = [fault for fault in check.examples if fault.index == index]
        assert (fault.table, fault.section) == (subspace.stem, subspace.section)
        assert (fault.stored, fault.derived) == (names[stored], names[right])
        found, row, column = locate(Position.parse(fault.position))
        assert (found, row * found.columns + column) == (subspace, index)
        assert str(fault) in " ".join(Report([check]).lines())


def test_unequal_copies_are_found(tmp_path: Path) -> None:
    subspace = Subspace(3, 3, 3, 3, "C")
    holes = retrograde.solve(MorrisClass(subspace, Rules(), values("board"))).value == HOLE
    copy = int(np.flatnonzero(holes & (values("board")[subspace] == WIN))[0])
    wrong = dict(values("board"))
    wrong[subspace] = wrong[subspace].copy()
    wrong[subspace][copy] = DRAW
    store = write_morris(tmp_path, "board", wrong)
    copies = verify_morris.check_values(store, MEN)[1]
    assert copy in [fault.index for fault in copies.examples]


def test_a_circle_of_slides_that_passes_for_a_win_is_found(tmp_path: Path) -> None:
    wrong, planted = circular_values()
    values_check, copies, fixpoint = verified(write_morris(tmp_path, "off", wrong)).checks
    assert values_check.faults == copies.faults == 0  # each value follows from the others
    assert fixpoint.faults == sum(len(places) for places in planted.values())
    assert {fault.derived for fault in fixpoint.examples} == {"draw"}


def test_samples_look_at_some_positions_of_each_subspace(tmp_path: Path) -> None:
    store = write_morris(tmp_path, "board", values("board"))
    checks = verify_morris.check_values(store, MEN, sample=100)
    assert checks[0].positions == sum(min(100, value.size) for value in values("board").values())
    assert not checks[0].faults


@pytest.mark.parametrize("memory", [1, 1 << 30])
def test_values_read_as_they_are_needed(memory: int, tmp_path: Path) -> None:
    """Samples as large as the subspaces find what a look at everything finds."""
    wrong = {subspace: value.copy() for subspace, value in values("board").items()}
    of = Subspace(3, 3, 3, 3, "C")
    assert of.size > 1 << 17  # more than a page
    for index in np.flatnonzero(wrong[of] == LOSS)[[0, -1]].tolist():
        wrong[of][index] = WIN
    store = write_morris(tmp_path, "board", wrong)
    expected = verify_morris.check_values(store, MEN)
    for threads in (1, 2):
        found = verify_morris.check_values(
            store, MEN, sample=1 << 40, memory=memory, threads=threads
        )
        for check, other in zip(found, expected, strict=True):
            assert check.examples and check.examples == other.examples
            assert (check.positions, check.faults) == (other.positions, other.faults)


def test_samples_read_no_block_that_they_do_not_need(tmp_path: Path) -> None:
    """A damaged block is noticed by those only who look at it."""
    store = write_morris(tmp_path, "board", values("board"))
    path = store.path("r03c03k03")
    data = bytearray(path.read_bytes())
    end = layout.decode_trailer(data[-layout.TRAILER_SIZE :], len(data), path).index_offset
    data[end - 1] ^= 1
    path.write_bytes(data)
    with verify_morris.Values(store, 1 << 30, 1, whole=False) as some:
        run = verify_morris.Run.of(verify_morris.Side(3, 3, 3, 3), "board", some)
        assert run.stored(0) == values("board")[Subspace(3, 3, 3, 3, "C")][0] % 3
        with pytest.raises(CorruptTableError, match="block 1 of the values of section C3"):
            run.stored(run.side.size - 1)
        with pytest.raises(CorruptTableError, match="block 1 of the values of section C3"):
            run.check(run.side.size - 10, run.side.size)


def test_threads_and_memory_do_not_matter(tmp_path: Path) -> None:
    store = write_morris(tmp_path, "board", values("board"))
    checks = verify_morris.check_values(store, MEN, memory=1, threads=2)
    assert not checks[0].faults
    (check,), large = verify_fixpoint.check_fixpoint(store, MEN, memory=50_000, threads=2)
    assert not check.faults
    assert Subspace(3, 3, 3, 3, "C") in large
    assert check.positions < sum(value.size for value in values("board").values())


def test_missing_table_is_named(tmp_path: Path) -> None:
    store = write_morris(tmp_path, "board", values("board"))
    with store.lock():
        store.discard("r03c03k02")
    for check in (verify_morris.check_values, verify_fixpoint.check_fixpoint):
        with pytest.raises(MissingTableError, match="r03c03k02"):
            check(store, MEN)


def test_sections_that_do_not_fit_the_name_are_refused(tmp_path: Path) -> None:
    store = write_morris(tmp_path, "board", values("board"))
    level = [s for s in values("board") if s.k == 1]
    for wrong in ({s: values("board")[s] for s in level[1:]}, dict.fromkeys(level, LOST_ONCE)):
        with store.lock():
            write_levels(store, wrong)
        for check in (verify_morris.check_values, verify_fixpoint.check_fixpoint):
            with pytest.raises(CorruptTableError, match=r"k01.*not \d+ entries long"):
                check(store, MEN)
