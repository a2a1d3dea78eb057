"""Solving from a position: equal to the tables when closed, never wrong when bounded."""

from __future__ import annotations

import random

import numpy as np
import pytest
from naive_lasca import random_position

from databases import (
    CorruptTableError,
    MissingTableError,
    Store,
    Tables,
    lasca_family,
    open_tables,
)
from databases.catalog import explored_family
from databases.explored import table_name, write_explored
from databases.format import UNKNOWN_PLIES
from engine.lasca import Position
from engine.lasca.index import LascaClass, classes
from engine.lasca.packing import LOW_BITS, pack, unpack
from solver import lasca_explore as explore
from solver.lasca_explore import UnknownValueError, solve_from
from solver.lasca_job import families_by_men, solve_families
from solver.lasca_kernels import RECORD, to_record

REAL_GAME = [
    ("W:c1B b6WBbbbbBB d6wWwwWw c7Wwwwbbb", 1, 7),
    ("W:b2b c5wWwwWw b6WBbbbbBB c7Wwwwbbb", 1, 9),
    ("W:c3b d4WBbbbbB c5BwWwwWw c7Wwwwbbb", 1, 11),
    ("B:c3b d4WBbbbbB d6BwWwwWw c7Wwwwbbb", -1, 12),
]


@pytest.fixture(scope="module")
def three_men(tmp_path_factory) -> Tables:
    root = tmp_path_factory.mktemp("tables")
    solve_families(Store(root, lasca_family()), families_by_men(3))
    with open_tables(root) as tables:
        yield tables


def positions_of(found: explore.Explored, step: int = 1) -> list[tuple[int, Position]]:
    """The number of every step-th position of a set, and the position."""
    packed = zip(found.high[::step].tolist(), found.low[::step].tolist(), strict=True)
    return [(i * step, unpack(high << LOW_BITS | low)) for i, (high, low) in enumerate(packed)]


@pytest.mark.parametrize(("text", "wdl", "plies"), REAL_GAME)
def test_values_of_the_real_game_from_the_position_alone(text, wdl, plies):
    position = Position.parse(text)
    found = solve_from(position, 2_000_000)
    value = found.probe(position)
    assert (value.wdl, value.plies) == (wdl, plies)
    for _, after in position.successors():
        found.probe(after)


@pytest.mark.parametrize("text", ["W:a1w g7b", "W:d4w f6bW", "B:d4W a7B g7B"])
def test_a_closed_set_equals_the_tables(three_men, text):
    position = Position.parse(text)
    graph = explore._Exploration(position)
    graph.go_on(1_000_000, explore.Progress(quiet=True))
    found = explore._solved(graph.graph())
    assert found.complete and found.explored == found.high.size
    for _, reached in positions_of(found, 7):
        assert found.probe(reached) == three_men.probe(reached)
        assert found.probe(reached.mirrored()) == three_men.probe(reached)
        assert found.settles(reached)


@pytest.mark.parametrize("bound", [1, 2, 50, 400, 3000])
def test_what_a_bounded_set_settles_is_right(three_men, bound):
    rng = random.Random(bound)
    certain = inexact = 0
    for _ in range(12):
        of = rng.choice(classes(2, 1))
        exploration = explore._Exploration(of.unrank(rng.randrange(of.size)))
        exploration.go_on(bound, explore.Progress(quiet=True))
        found = explore._solved(exploration.graph())
        assert found.explored <= bound
        for number, reached in positions_of(found):
            true, seen = three_men.probe(reached), found.probe(reached)
            assert seen.wdl == true.wdl
            assert seen.plies in (true.plies, None)
            certain += 1
            inexact += found.plies[number] == UNKNOWN_PLIES
    assert certain > bound // 20
    assert inexact or bound < 3000


def test_going_on_finds_what_one_go_finds():
    position = Position.parse("W:a1w c3w g7b")
    once, often = explore._Exploration(position), explore._Exploration(position)
    quiet = explore.Progress(quiet=True)
    once.go_on(20_000, quiet)
    for bound in (1, 2, 7, 100, 5000, 20_000):
        often.go_on(bound, quiet)
    graphs = [exploration.graph() for exploration in (once, often)]
    for name in ("high", "low", "offsets", "successors"):
        assert np.array_equal(*(getattr(graph, name) for graph in graphs))


def test_a_bound_that_settles_nothing():
    with pytest.raises(UnknownValueError, match="unknown within 1,000 positions"):
        solve_from(Position.START, 1000)


def test_a_bound_that_is_exactly_enough():
    position = Position.parse("W:a1w g7b")
    exploration = explore._Exploration(position)
    exploration.go_on(10**6, explore.Progress(quiet=True))
    size = exploration.graph().size
    assert solve_from(position, size).complete
    short = explore._Exploration(position)
    short.go_on(size - 1, explore.Progress(quiet=True))
    assert not short.graph().complete


@pytest.mark.parametrize("text", ["W:d4b", "W:", "W:a5w b6b c7b"])
def test_a_game_that_is_over(text):
    position = Position.parse(text)
    assert solve_from(position, 1).probe(position).plies == 0


def test_a_bound_of_nothing_is_refused():
    for bound in (0, 1 << 31):
        with pytest.raises(ValueError, match="bound"):
            solve_from(Position.START, bound)


def test_the_kernels_pack_as_the_readable_code_does():
    rng = random.Random(53)
    record = np.empty(RECORD, np.int32)
    few = [LascaClass(2, 1, 1, 0, 3), LascaClass(1, 1, 0, 1, 2), LascaClass(11, 11, 11, 11, 3)]
    positions = [of.unrank(rng.randrange(of.size)) for of in few for _ in range(200)]
    for _ in range(200):
        men = "".join(man.upper() if rng.random() < 0.4 else man for man in "w" * 11 + "b" * 11)
        positions.append(random_position(rng, men, rng.randint(3, 10)))
    positions.append(Position.START)
    for position in positions:
        number = pack(position)
        high, low = explore._canonical(to_record(position))
        assert high << LOW_BITS | low == number
        explore._unpack(high, low, record)
        assert np.array_equal(record, to_record(unpack(number)))


def look_up_explored(root, position):
    """Value and plies as a look-up finds them in the sets explored, or None."""
    with open_tables(root) as tables:
        try:
            value = tables.probe(position)
        except MissingTableError:
            return None
    return value.wdl, value.plies


def test_what_is_written_is_looked_up_again(tmp_path):
    position = Position.parse("W:d4w f6bW")
    found = solve_from(position, 100_000)
    assert look_up_explored(tmp_path, position) is None
    write_explored(tmp_path, position, found)
    with Store(tmp_path, explored_family()).open(table_name(position.mirrored())) as table:
        assert table.header.about["start"] == str(position)
        assert table.header.about["complete"] is found.complete
    for _, reached in positions_of(found, 11):
        value = found.probe(reached)
        assert look_up_explored(tmp_path, reached) == (value.wdl, value.plies)
        turned = reached.colours_swapped()
        assert look_up_explored(tmp_path, turned) == (value.wdl, value.plies)
    assert look_up_explored(tmp_path, Position.START) is None


def test_several_blocks_and_the_set_that_knows_the_plies(tmp_path):
    position = Position.parse(REAL_GAME[0][0])
    exploration = explore._Exploration(position)
    exploration.go_on(200_000, explore.Progress(quiet=True))
    found = explore._solved(exploration.graph())
    assert found.high.size > 1 << 14
    blurred = np.full_like(found.plies, UNKNOWN_PLIES)
    write_explored(
        tmp_path,
        position,
        explore.Explored(found.high, found.low, found.value, blurred, found.explored, False),
    )
    assert look_up_explored(tmp_path, position) == (1, None)
    write_explored(tmp_path, position.successors()[0][1], found)
    for _, reached in positions_of(found, found.high.size // 50):
        value = found.probe(reached)
        assert look_up_explored(tmp_path, reached) == (value.wdl, value.plies)


def test_damage_is_recognised(tmp_path):
    position = Position.parse("W:d4w f6bW")
    write_explored(tmp_path, position, solve_from(position, 100_000))
    store = Store(tmp_path, explored_family())
    store.check(table_name(position))
    path = store.path(table_name(position))
    whole = path.read_bytes()
    for at in (0, 14, 30, 200, len(whole) // 2, len(whole) - 1):
        damaged = bytearray(whole)
        damaged[at] ^= 0x10
        path.write_bytes(damaged)
        with pytest.raises(CorruptTableError):
            store.check(table_name(position))
    path.write_bytes(whole[:-5])
    with pytest.raises(CorruptTableError):
        look_up_explored(tmp_path, position)
