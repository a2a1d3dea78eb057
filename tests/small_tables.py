"""Real tables of small morris units and Lasca classes, made by the plain engine, for tests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from itertools import groupby
from pathlib import Path

import numpy as np

from databases.catalog import morris_dtc_family, morris_family
from databases.store import Store
from databases.writer import Section
from engine.morris.index import Subspace
from engine.morris.rules import Rules
from solver import retrograde
from solver.morris_game import Distances, MorrisClass, classes, solve_class, solve_distances
from solver.retrograde import DRAW, LOSS, WIN, Solution


def write_morris(root: Path, flying: str, values: Mapping[Subspace, np.ndarray]) -> Store:
    """A store of morris tables with these values (int8)."""
    store = Store(root, morris_family(flying))
    with store.lock():
        write_levels(store, values)
    return store


def write_levels(store: Store, values: Mapping[Subspace, np.ndarray]) -> None:
    """Writes, or writes again, the levels of these subspaces; the store must be locked."""
    for stem, subspaces in groupby(sorted(values, key=lambda s: (s.stem, s)), lambda s: s.stem):
        store.write(stem, sections(subspaces, values))


def sections(
    subspaces: Iterable[Subspace], values: Mapping[Subspace, np.ndarray]
) -> Iterable[Section]:
    for subspace in subspaces:
        value = values[subspace]
        win, loss = (np.packbits(value == wanted, bitorder="little") for wanted in (WIN, LOSS))
        yield Section(subspace.section, value.size, win, loss, None)


@cache
def distances(men: int, flying: str) -> dict[Subspace, Distances]:
    """Values and distances of all subspaces with totals up to `men`, by the plain engine."""
    values: dict[Subspace, np.ndarray] = {}
    found: dict[Subspace, Distances] = {}
    for subspace in classes(men):
        parts = solve_distances(subspace, Rules(flying=flying), values)
        values.update((part, solved.value) for part, solved in parts.items())
        found.update(parts)
    return found


def write_distances(root: Path, flying: str, found: Mapping[Subspace, Distances]) -> Store:
    """A store of tables of distances; entries without a meaning are random."""
    store = Store(root, morris_dtc_family(flying))
    with store.lock():
        for stem, group in groupby(sorted(found, key=lambda s: (s.stem, s)), lambda s: s.stem):
            subspaces = list(group)
            about = {"distances": {s.section: histogram(found[s]) for s in subspaces}}
            store.write(stem, [distance_section(s, found[s]) for s in subspaces], about=about)
    return store


def distance_section(subspace: Subspace, solved: Distances) -> Section:
    noise = np.random.default_rng(subspace.size).integers(0, 256, subspace.size, np.uint8)
    plies = np.where(solved.stored, solved.plies, noise)
    return Section(subspace.section, subspace.size, None, None, plies)


def histogram(solved: Distances) -> list[int]:
    """How many entries are stored with distance 1, 2, 3, ..."""
    return np.bincount(solved.plies[solved.stored])[1:].tolist()


def circular_values() -> tuple[dict[Subspace, np.ndarray], dict[Subspace, np.ndarray]]:
    """Values (int8) of three men a side without flying in which each follows from its successors',
    but some draws pass for wins and losses in circles of slides; and the indices of those."""
    rules = Rules(flying="off")
    values: dict[Subspace, np.ndarray] = {}
    planted = {}
    for subspace in classes(3):
        parts = solve_class(subspace, rules, values)
        values.update((part, solution.value) for part, solution in parts.items())
        if (subspace.k, subspace.l) != (3, 2):
            continue
        game = MorrisClass(subspace, rules, values)
        solution = retrograde.solve(game)
        claimed = Solution(_circle(game, solution), solution.plies)
        game.spread(claimed)
        split = game.subspaces[0].size
        for part, value in zip(game.subspaces, np.split(claimed.value, [split]), strict=True):
            planted[part] = np.flatnonzero(value != values[part])
            values[part] = value
    return values, planted


def _circle(game: MorrisClass, solution: Solution) -> np.ndarray:
    """Values (int8) that are wrong but consistent: draws in which the first side claims to win.

    The second side's draws are called losses, the first side's wins, and whatever does not follow
    from its successors is a draw again, until all does: a greatest fixpoint.
    """
    claimed = solution.value.copy()
    draws = np.flatnonzero(solution.value == DRAW).tolist()
    claimed[draws] = [WIN if index < game.subspaces[0].size else LOSS for index in draws]
    moves = {}
    for index in draws:
        found = game.expand(index, index + 1)
        successors = found.successors[: int(found.offsets[1])].tolist()
        moves[index] = int(found.outcome[0]), successors
    changed = True
    while changed:
        changed = False
        for index in draws:
            outcome, successors = moves[index]
            value = max([outcome] + [-int(claimed[successor]) for successor in successors])
            if claimed[index] != DRAW and claimed[index] != value:
                claimed[index] = DRAW
                changed = True
    return claimed
