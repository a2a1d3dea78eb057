"""Distances to conversion from tables: their definition, play by them, and tables that lack."""

from __future__ import annotations

import random
from pathlib import Path

import naive_conversion
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_tables import distances, write_distances, write_morris

from databases import MissingTableError, open_tables
from databases.conversion import is_conversion
from databases.probe import Tables
from engine.morris import Move, Position, Rules
from engine.morris.index import Subspace, position_at
from engine.morris.rules import FLYING_OPTIONS
from solver.morris_game import Distances
from solver.retrograde import LOSS, WIN


def write(root: Path, men: int, flying: str) -> None:
    found = distances(men, flying)
    write_morris(root, flying, {subspace: each.value for subspace, each in found.items()})
    write_distances(root, flying, found)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Values and distances up to three men a side by each rule, up to four with flying board."""
    root = tmp_path_factory.mktemp("tables")
    for flying in FLYING_OPTIONS:
        write(root, 4 if flying == "board" else 3, flying)
    return root


@pytest.fixture(scope="module")
def tables(root: Path):
    with open_tables(root) as tables:
        yield tables


def subspaces(flying: str) -> list[Subspace]:
    return sorted(distances(4 if flying == "board" else 3, flying))


@st.composite
def places(draw: st.DrawFn) -> tuple[str, Subspace, int]:
    """A flying rule and an index of a subspace; as often where distances are long as not."""
    flying = draw(st.sampled_from(FLYING_OPTIONS))
    subspace = draw(st.sampled_from(subspaces(flying)))
    plies = distances(4 if flying == "board" else 3, flying)[subspace].plies
    far = np.flatnonzero(plies > 1)
    if far.size and draw(st.booleans()):
        return flying, subspace, int(far[draw(st.integers(0, far.size - 1))])
    return flying, subspace, draw(st.integers(0, subspace.size - 1))


@settings(max_examples=300)
@given(places())
def test_distances_are_those_of_the_plain_engine(tables: Tables, place: tuple) -> None:
    flying, subspace, index = place
    found = distances(4 if flying == "board" else 3, flying)[subspace]
    expected = int(found.plies[index]) if found.value[index] else None
    position = position_at(subspace, index)
    assert tables.probe_dtc(position, Rules(flying=flying)) == expected
    assert tables.get_dtc(position, rules=Rules(flying=flying)) == expected


@settings(max_examples=150)
@given(places())
def test_distances_and_moves_keep_to_the_definition(tables: Tables, place: tuple) -> None:
    flying, subspace, index = place
    rules = Rules(flying=flying)
    position = position_at(subspace, index)

    def value(of: Position) -> int:
        return tables.probe_wdl(of, rules)

    def distance(of: Position) -> int | None:
        return tables.probe_dtc(of, rules)

    expected = naive_conversion.definition(position, rules, value, distance)
    assert distance(position) == expected
    rated = tables.rated_moves(position, rules)
    assert {move.move for move in rated} == set(position.legal_moves(rules))
    for each in rated:
        assert each.after == position.play(each.move)
        assert each.wdl == -value(each.after)
        decided = 1 if is_conversion(each.move) else 1 + (distance(each.after) or 0)
        assert each.dtc == (decided if each.wdl else None)
    ranks = [(-each.wdl, (each.dtc or 0) * each.wdl) for each in rated]
    assert ranks == sorted(ranks)
    best = tables.best_moves(position, rules)
    assert best == [each.move for each, rank in zip(rated, ranks, strict=True) if rank == ranks[0]]
    if rated:
        assert (rated[0].wdl, rated[0].dtc) == (value(position), expected)
        converting = [is_conversion(move) for move in best]
        assert value(position) < 1 or converting == sorted(converting, reverse=True)


def test_all_of_three_against_three(tables: Tables) -> None:
    subspace = Subspace(3, 3, 3, 3, "C")
    found = distances(4, "board")[subspace]
    value, plies, capture = naive_conversion.three_against_three()
    number = {mask: i for i, mask in enumerate(naive_conversion.SETS.tolist())}
    positions = [position_at(subspace, index) for index in range(subspace.size)]
    movers, others = (
        np.array([number[men] for men in side])
        for side in zip(*((p.white, p.black) for p in positions), strict=True)
    )
    at = movers, others
    assert (found.value == value[at]).all()
    assert (found.plies == plies[at]).all()
    assert (found.stored == (value[at] == WIN) & ~capture[at]).all()
    # A capture ends the game here, so these are the longest win and the longest loss.
    for decided, longest in ((WIN, 25), (LOSS, 26)):
        assert found.plies[found.value == decided].max() == longest
        index = int(np.flatnonzero((found.value == decided) & (found.plies == longest))[0])
        assert tables.probe_dtc(positions[index]) == longest


def play_out(tables: Tables, position: Position, chance: random.Random, *, resists: bool) -> int:
    """Plays a won position by `best_moves` to its end; the number of plies.

    Each ply on the way to a conversion must bring it nearer, and by exactly one if the loser
    resists as long as it can; else the loser moves at random.
    """
    winner = position.white_to_move
    plies = 0
    while moves := position.legal_moves():
        ours = position.white_to_move == winner
        assert tables.probe_wdl(position) == (1 if ours else -1)
        before = tables.probe_dtc(position)
        best = tables.best_moves(position)
        assert set(best) <= set(moves)
        move = chance.choice(best if ours or resists else moves)
        position = position.play(move)
        plies += 1
        if is_conversion(move):
            assert before == 1 or not (ours or resists)
            continue
        after = tables.probe_dtc(position)
        assert after == before - 1 if ours or resists else after < before
    loser_moves = position.white_to_move != winner
    assert position.is_lost() == loser_moves and position.is_over()
    return plies


@pytest.mark.parametrize("resists", [True, False])
def test_a_won_position_is_won(tables: Tables, resists: bool) -> None:
    chance = random.Random(5)
    lengths = []
    won = [s for s in subspaces("board") if (distances(4, "board")[s].value == WIN).any()]
    for _ in range(25):
        subspace = chance.choice(won)
        # Half of them from where it takes longest.
        found = distances(4, "board")[subspace]
        longest = int(found.plies[found.value == WIN].max())
        least = longest - 4 if chance.random() < 0.5 else 0
        wins = np.flatnonzero((found.value == WIN) & (found.plies >= least))
        position = position_at(subspace, int(chance.choice(wins)))
        lengths.append(play_out(tables, position, chance, resists=resists))
    assert max(lengths) > (20 if resists else 4)


@pytest.mark.parametrize(
    ("text", "wdl"),
    [
        ("W:Wa1:Bb4,b2,c3", -1),
        ("W:Wa1,a4,b4:Bb2:H0,1", 1),
        ("W:Wa7,d7,g7,g4:Ba4,d6,f4,g1", -1),
    ],
)
def test_games_that_are_over_need_no_table(tmp_path: Path, text: str, wdl: int) -> None:
    position = Position.parse(text)
    with open_tables(tmp_path) as tables:
        assert tables.probe_wdl(position) == wdl
        assert tables.probe_dtc(position) == 0
        assert tables.best_moves(position) == tables.rated_moves(position) == []


def test_a_mill_against_a_bare_board(tables: Tables) -> None:
    """It takes nothing: the placement is a conversion, the slide is not."""
    position = Position.parse("W:Wa1,a4,d7:B:H1,3")
    rated = {str(each.move): each for each in tables.rated_moves(position)}
    placed, slid = rated["a7"], rated["d7-a7"]
    assert placed.move.capture is slid.move.capture is None
    assert is_conversion(placed.move) and not is_conversion(slid.move)


def without_distances(root: Path, flying: str = "board") -> dict[Subspace, Distances]:
    found = distances(3, flying)
    write_morris(root, flying, {subspace: each.value for subspace, each in found.items()})
    return found


def test_without_tables_of_distances(tmp_path: Path) -> None:
    without_distances(tmp_path)
    position = Position.parse("W:Wa1,a4,d7:Bb2,d2,f4")
    with open_tables(tmp_path) as tables:
        with pytest.raises(MissingTableError) as caught:
            tables.probe_dtc(position)
        assert caught.value.subspace == "r03c03k03 C3"
        assert caught.value.path == tmp_path / "morris/board/dtc/r03c03k03.dtc"
        assert caught.value.command == (
            f"lasker solve morris --men 3 --metric dtc --tables {tmp_path}"
        )
        assert tables.get_dtc(position) is None
        assert tables.get_dtc(position, 7) == 7
        rated = tables.rated_moves(position)
        assert {each.dtc for each in rated} == {None}
        wins = {each.move for each in rated if each.wdl == 1}
        assert Move.parse("d7-a7xb2") in wins and len(wins) < len(rated)
        assert set(tables.best_moves(position)) == wins


def test_a_class_with_half_of_its_tables(tmp_path: Path) -> None:
    """With equal totals the positions after a slide may stand in the table of another level."""
    found = without_distances(tmp_path)
    write_distances(tmp_path, "board", {s: each for s, each in found.items() if s.k == 3})
    subspace = Subspace(3, 3, 3, 2, "C")
    places = found[subspace]
    index = int(np.flatnonzero((places.value == LOSS) & (places.plies > 1))[0])
    position = position_at(subspace, index)
    with open_tables(tmp_path) as tables:
        with pytest.raises(MissingTableError, match=r"r03c03k02\.dtc is missing"):
            tables.probe_dtc(position)
        assert {each.dtc for each in tables.rated_moves(position)} == {None}
        assert set(tables.best_moves(position)) == set(position.legal_moves())
