"""Real tables of small morris units and Lasca classes, made by the plain engine, for tests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import groupby
from pathlib import Path

import numpy as np

from databases.catalog import morris_family
from databases.store import Store
from databases.writer import Section
from engine.morris.index import Subspace
from solver.retrograde import LOSS, WIN


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
