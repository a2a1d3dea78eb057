"""Verification of Lasca tables: right ones pass, and each kind of wrong entry is found."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from databases.catalog import LASCA_SECTION, lasca_family
from databases.errors import CorruptTableError, MissingTableError
from databases.store import Store
from databases.writer import Section
from engine.lasca import Position
from engine.lasca.index import LascaClass, classes, locate
from solver.lasca_game import Family
from solver.lasca_job import families_by_men, solve_families
from solver.verification import Report
from solver.verify_lasca import VerifiedClass, check_lasca, classes_by_men, officer_classes

MEN = 3
WIN, DRAW, LOSS = 1, 0, -1
CLASS = LascaClass(2, 1, 1, 0, 2)


@pytest.fixture(scope="module")
def solved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("solved")
    solve_families(Store(root, lasca_family()), families_by_men(MEN))
    return root


@pytest.fixture
def store(solved: Path, tmp_path: Path) -> Store:
    """A store of its own that a test may damage."""
    shutil.copytree(solved, tmp_path / "tables")
    return Store(tmp_path / "tables", lasca_family())


def entries(store: Store, of: LascaClass) -> tuple[np.ndarray, np.ndarray]:
    """Values (int8) and plies of a class."""
    with store.open(of.name) as table:
        win, loss = table.planes(LASCA_SECTION)
        plies = table.plies_array(LASCA_SECTION)
    won, lost = (
        np.unpackbits(bits, count=of.size, bitorder="little").view(np.int8) for bits in (win, loss)
    )
    assert plies is not None
    return won - lost, plies


def enter(store: Store, of: LascaClass, value: np.ndarray, plies: np.ndarray | None) -> None:
    """Writes the table of a class with these entries."""
    win, loss = (np.packbits(value == wanted, bitorder="little") for wanted in (WIN, LOSS))
    with store.lock():
        store.write(of.name, [Section(LASCA_SECTION, len(value), win, loss, plies)])


def test_right_tables_are_clean(store: Store) -> None:
    checks = check_lasca(store, classes_by_men(MEN), threads=2)
    assert Report(checks).is_clean
    everything = 2216 + 2 * 55_492
    assert [check.positions for check in checks] == [everything] * 2


def test_classes_are_those_of_the_engine() -> None:
    for men in ((1, 1), (2, 1), (2, 2), (1, 3), (4, 1)):
        found = [one for one in classes_by_men(sum(men)) if one[:2] == men]
        expected = sorted(classes(*men))
        assert [(one.table, one.size) for one in found] == [(c.name, c.size) for c in expected]
    sizes = [one.size for one in officer_classes(3)]
    assert sizes == [LascaClass(11, 11, 11, 11, columns).size for columns in (1, 2, 3)]


WRONG = [
    (WIN, 9, WIN, 7),
    (WIN, 7, WIN, 9),
    (LOSS, 4, LOSS, 6),
    (DRAW, 0, WIN, 7),
    (DRAW, 0, LOSS, 4),
    (LOSS, 8, WIN, 7),
    (WIN, 5, LOSS, 4),
    (WIN, 1, LOSS, 0),
]


@pytest.mark.parametrize(("value", "plies", "right", "right_plies"), WRONG)
def test_a_wrong_entry_is_found(
    store: Store, value: int, plies: int, right: int, right_plies: int
) -> None:
    for of in classes(2, 1):
        values, distances = entries(store, of)
        places = np.flatnonzero((values == right) & (distances == right_plies))
        if len(places):
            break
    index = int(places[0])
    values[index], distances[index] = value, plies
    enter(store, of, values, distances)
    derived, mirrored = check_lasca(store, [c for c in classes_by_men(MEN) if c.table == of.name])
    (fault,) = [f for f in derived.examples if (f.table, f.index) == (of.name, index)]
    assert locate(Position.parse(fault.position)) == (of, index)
    assert fault.derived == {WIN: f"win in {right_plies}", LOSS: f"loss in {right_plies}"}[right]
    named = {WIN: f"win in {plies}", LOSS: f"loss in {plies}", DRAW: "draw"}
    assert fault.stored == named[value]
    assert index in [fault.index for fault in mirrored.examples]


def test_a_wrong_win_among_draws_is_found(tmp_path: Path) -> None:
    store = Store(tmp_path, lasca_family())
    solve_families(store, [Family(2, 2, officers_only=True)])
    of = LascaClass(2, 2, 2, 2, 4)
    values, distances = entries(store, of)
    index = int(np.flatnonzero(values == DRAW)[100])
    values[index], distances[index] = WIN, 33
    enter(store, of, values, distances)
    derived, _ = check_lasca(store, [VerifiedClass(2, 2, 2, 2, 4)])
    (fault,) = [fault for fault in derived.examples if fault.index == index]
    assert (fault.stored, fault.derived) == ("win in 33", "draw")


def test_samples_look_at_some_positions_of_each_class(store: Store) -> None:
    chosen = classes_by_men(MEN)
    checks = check_lasca(store, chosen, sample=500)
    assert checks[0].positions == sum(min(500, one.size) for one in chosen)
    assert Report(checks).is_clean


def test_missing_table_is_named(store: Store) -> None:
    with store.lock():
        store.discard(CLASS.name)
    with pytest.raises(MissingTableError, match=CLASS.name):
        check_lasca(store, classes_by_men(MEN))


def test_tables_that_cannot_be_of_the_class_are_refused(store: Store) -> None:
    values, distances = entries(store, CLASS)
    enter(store, CLASS, values, None)
    with pytest.raises(CorruptTableError, match="no distances"):
        check_lasca(store, classes_by_men(MEN))
    enter(store, CLASS, values[:-1], distances[:-1])
    with pytest.raises(CorruptTableError, match="entries long"):
        check_lasca(store, classes_by_men(MEN))
