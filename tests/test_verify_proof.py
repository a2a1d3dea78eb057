"""Forward proofs of morris values: right ones are proved, circles of slides are not."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
from small_tables import circular_values, write_morris

from databases.store import Store
from engine.morris import Rules
from engine.morris.index import Subspace
from solver.morris_game import solve_all
from solver.retrograde import LOSS, WIN
from solver.verify_proof import check_proofs


@cache
def values() -> dict[Subspace, np.ndarray]:
    return {s: part.value for s, part in solve_all(3, Rules()).items()}


def sections(subspaces: dict[Subspace, np.ndarray]) -> list[tuple[str, str]]:
    return [(subspace.stem, subspace.section) for subspace in subspaces]


def store(root: Path) -> Store:
    return write_morris(root, "board", values())


def test_right_values_are_proved(tmp_path: Path) -> None:
    check = check_proofs(store(tmp_path), sections(values()), sample=4)
    assert check.positions > len(values())
    assert check.faults == check.undecided == 0
    again = check_proofs(store(tmp_path), sections(values()), sample=4, threads=2, memory=1)
    assert again == check


def test_small_bounds_leave_values_undecided(tmp_path: Path) -> None:
    of = Subspace(3, 3, 3, 3, "C")
    check = check_proofs(store(tmp_path), [(of.stem, of.section)], sample=40, bound=2)
    assert check.positions == 40
    assert 0 < check.undecided < 40
    assert not check.faults


def test_a_circle_of_slides_is_no_proof(tmp_path: Path) -> None:
    wrong, planted = circular_values()
    tables = write_morris(tmp_path, "off", wrong)
    check = check_proofs(tables, sections(planted), sample=3_000)
    assert check.faults
    places = {(of.stem, of.section, i) for of, indices in planted.items() for i in indices.tolist()}
    for fault in check.examples:
        assert (fault.table, fault.section, fault.index) in places
        assert fault.derived == "draw"


def test_values_that_contradict_each_other_are_faults(tmp_path: Path) -> None:
    of = Subspace(3, 3, 3, 3, "C")
    wrong = {subspace: value.copy() for subspace, value in values().items()}
    wrong[of][wrong[of] == LOSS] = WIN
    check = check_proofs(write_morris(tmp_path, "board", wrong), [(of.stem, of.section)])
    assert check.faults
