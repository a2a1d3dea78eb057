"""The stand-alone reader agrees with the library, and shares nothing with it."""

from __future__ import annotations

import ast
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from databases import Store, TableFile, lasca_family, morris_family
from databases.catalog import LASCA_SECTION, morris_dtc_family, morris_place
from databases.pack import Section
from databases.writer import write_table
from engine.lasca.index import LascaClass
from engine.morris import Position
from engine.morris.index import Subspace, position_at, subspaces_of_level

SCRIPT = Path(__file__).parents[1] / "scripts" / "read_table.py"
WORDS = {0: "draw", 1: "win", -1: "loss"}


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True)


def random_section(name: str, entries: int, plies_dtype=None) -> Section:
    rng = np.random.default_rng(entries)
    values = rng.integers(-1, 2, entries)
    win, loss = (np.packbits(values == value, bitorder="little") for value in (1, -1))
    plies = None
    if plies_dtype is not None:
        plies = rng.integers(0, np.iinfo(plies_dtype).max, entries).astype(plies_dtype)
        plies[values == 0] = 0
    return Section(name, entries, win, loss, plies)


def test_it_is_short_and_plain() -> None:
    source = SCRIPT.read_text()
    assert len(source.splitlines()) < 110
    imported = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add(node.module)
    assert imported - set(sys.stdlib_module_names) == {"zstandard"}


def test_values_and_plies_at_a_place(tmp_path) -> None:
    path = tmp_path / "t"
    draws = np.zeros(40, np.uint8)
    keys = np.arange(301, dtype=">u4").view(np.uint8).reshape(301, 4)
    write_table(
        path,
        game="morris",
        rules={},
        fingerprint="",
        name="t",
        block_entries=128,
        sections=[
            random_section("R1", 300),
            Section("R2", 320, draws, draws),
            replace(random_section("R3", 301, np.uint8), keys=keys),
            random_section("R4", 500, np.uint16),
            Section("D1", 300, None, None, (np.arange(300) % 256).astype(np.uint8)),
            Section("D2", 400, None, None, np.arange(400, dtype=np.uint16)),
            random_section("R5", 310),
            Section("S1", 300, None, None, scores=draws.repeat(8)[:300]),
            Section("S2", 300, None, None, scores=np.arange(700, 1000, dtype=np.uint16)),
            random_section("R6", 310),
        ],
    )
    with TableFile(path) as table:
        for name, info in table.sections.items():
            for index in (0, 1, 127, 128, 200, info.entries - 1):
                if not info.has_values:
                    expected = [name, str(index), "entry", str(table.entry(name, index))]
                    assert run(path, name, index).stdout.split() == expected
                    continue
                plies = table.plies(name, index)
                expected = [name, str(index), WORDS[table.value(name, index)]]
                assert run(path, name, index).stdout.split() == expected + (
                    [] if plies is None else [str(plies)]
                )
        assert '"name": "R4"' in run(path).stdout
        for place in (("R1", 300), ("R1", -1), ("C1", 0)):
            refused = run(path, *place)
            assert refused.returncode == 1 and refused.stdout == ""
            assert "Traceback" not in refused.stderr


@pytest.mark.parametrize(
    "text",
    [
        "W:W:B:H3,4",
        "B:W:B:H3,3",
        "W:Wa1,d7,g1:Bb4,e3:H0,1",
        "B:Wa1,d7,g1:Bb4,e3:H1,1",
        "B:Wb6,d6,f6:Bd7,d5,a4",
        "W:Wb6,d6,f6:Bd7,d5,a4,c3",
        "B:Wc4:Bd5:H2,3",
    ],
)
def test_morris_positions_have_the_place_of_the_index(tmp_path, text) -> None:
    position = Position.parse(text)
    place = morris_place(position)
    r, c, k = (int(place.table[at : at + 2]) for at in (1, 4, 7))
    store = Store(tmp_path, morris_family("board"))
    with store.lock():
        sections = [random_section(s.section, s.size) for s in subspaces_of_level(r, c, k)]
        store.write(place.table, sections)
    with store.open(place.table) as table:
        word = WORDS[table.value(place.section, place.index)]
    found = run(store.path(place.table), text)
    assert found.stdout.split() == [place.section, str(place.index), word], found.stderr


def test_many_rows_with_symmetries_of_their_own(tmp_path) -> None:
    """The first symmetry that leads to the least image counts, as in the index."""
    subspace = Subspace(3, 4, 2, 1, "R")
    store = Store(tmp_path, morris_family("board"))
    with store.lock():
        sections = [random_section(s.section, s.size) for s in subspaces_of_level(3, 4, 2)]
        store.write(subspace.stem, sections)
    for index in range(0, subspace.size, 61):
        found = run(store.path(subspace.stem), position_at(subspace, index))
        place = morris_place(position_at(subspace, index))
        assert found.stdout.split()[:2] == ["R1", str(place.index)]


def test_distances_to_conversion(tmp_path) -> None:
    text = "W:Wa1,d7,g1:Bb4,e3,f6"
    place = morris_place(Position.parse(text))
    store = Store(tmp_path, morris_dtc_family("board"))
    with store.lock():
        sections = [
            Section(s.section, s.size, None, None, (np.arange(s.size) % 251).astype(np.uint8))
            for s in subspaces_of_level(3, 3, 3)
        ]
        store.write(place.table, sections)
    found = run(store.path(place.table), text).stdout.split()
    assert found == [place.section, str(place.index), "entry", str(place.index % 251)]


def test_lasca(tmp_path) -> None:
    of = LascaClass(2, 1, 1, 0, 3)
    store = Store(tmp_path, lasca_family())
    with store.lock():
        scores = np.random.default_rng(3).integers(0, 256, of.size, np.uint8)
        scores[:2] = 255, 254
        store.write(of.name, [Section(LASCA_SECTION, of.size, None, None, scores=scores)])
    with store.open(of.name) as table:
        for index in (0, 1, of.size // 2, of.size - 1):
            value, plies = table.value(LASCA_SECTION, index), table.plies(LASCA_SECTION, index)
            expected = f"white {index} {WORDS[value]} {'' if plies is None else plies}".split()
            assert run(store.path(of.name), LASCA_SECTION, index).stdout.split() == expected


def test_damage_gives_a_message_and_no_value(tmp_path) -> None:
    path = tmp_path / "t"
    sections = [random_section("R1", 4000)]
    write_table(path, game="g", rules={}, fingerprint="", name="t", sections=sections)
    whole = path.read_bytes()
    damages = [whole[:size] for size in (0, 1, 15, 16, 100, len(whole) - 1)]
    for at in (0, 9, 20, 500, *range(-300, 0, 17)):
        flipped = bytearray(whole)
        flipped[at] ^= 1
        damages.append(bytes(flipped))
    for damaged in damages:
        path.write_bytes(damaged)
        refused = run(path, "R1", 5)
        assert refused.returncode == 1 and refused.stdout == "", refused.stdout
        assert str(path) in refused.stderr and "Traceback" not in refused.stderr
