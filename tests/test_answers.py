"""Answers and lines on a made-up table: what is shown, in which order, and from whose view."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_tables import distances, write_distances, write_morris

from databases import MissingTableError, conversion, open_tables
from databases.probe import Tables
from engine.morris.index import Subspace, position_at
from solver.answers import Verdict, answer, missing_distances, perfect_line
from solver.games import game_of

MORRIS = game_of("morris")
LASCA = game_of("lasca")


@dataclass(frozen=True)
class Value:
    wdl: int
    plies: int | None = None


class MadeUp:
    """A table that gives each position the value that a function says; none of distances."""

    def __init__(self, value_of: Callable[[str], Value]) -> None:
        self._value_of = value_of

    def probe(self, position: Any, rules: Any) -> Value:
        return self._value_of(str(position))

    def probe_wdl(self, position: Any, rules: Any) -> int:
        return self._value_of(str(position)).wdl

    def dtc_entry(self, position: Any, rules: Any) -> int:
        raise MissingTableError(f"distances of {position}", Path("table"), "command")

    def get_dtc(self, position: Any, default: None, rules: Any) -> None:
        return default

    def rated_moves(self, position: Any, rules: Any) -> list[conversion.RatedMove]:
        return conversion.rated_moves(self, position, rules)


def test_moves_come_best_first() -> None:
    verdicts = [
        Verdict(-1, 4),
        Verdict(0, None),
        Verdict(1, 9),
        Verdict(-1, 10),
        Verdict(1, 3),
    ]
    ordered = sorted(verdicts, key=lambda verdict: verdict.order)
    assert [(v.wdl, v.plies) for v in ordered] == [(1, 3), (1, 9), (0, None), (-1, 10), (-1, 4)]


def test_moves_are_seen_by_the_player_who_makes_them() -> None:
    position = LASCA.parse("W:c1w g7b")
    values = {
        "W:c1w g7b": Value(1, 5),
        "B:b2w g7b": Value(-1, 6),
        "B:d2w g7b": Value(-1, 4),
    }
    found = answer(MadeUp(values.__getitem__), LASCA, position)
    assert [choice.move for choice in found.choices] == ["c1-d2", "c1-b2"]
    assert [choice.verdict for choice in found.choices] == [Verdict(1, 5), Verdict(1, 7)]


def test_equal_moves_come_by_notation() -> None:
    position = MORRIS.parse("W:Wa1,d7:Bb4:H2,3")
    found = answer(MadeUp(lambda _: Value(0)), MORRIS, position)
    moves = [choice.move for choice in found.choices]
    assert moves == sorted(str(move) for move in position.legal_moves())


def test_json_is_one_line_with_the_published_fields() -> None:
    position = MORRIS.parse("W:Wa4,a7:B:H1,3")
    text = answer(MadeUp(lambda _: Value(0)), MORRIS, position).to_json()
    assert "\n" not in text
    shape = json.loads(text)
    assert list(shape) == [
        "game",
        "rules",
        "position",
        "wdl",
        "category",
        "plies",
        "dtc",
        "moves",
    ]
    assert shape["rules"] == {"men": 10, "flying": "board"}
    assert (shape["game"], shape["position"]) == ("morris", "W:Wa4,a7:B:H1,3")
    assert (shape["wdl"], shape["category"], shape["plies"], shape["dtc"]) == (
        0,
        "draw",
        None,
        None,
    )
    assert shape["moves"][0] == {
        "move": "a1",
        "wdl": 0,
        "category": "draw",
        "plies": None,
        "dtc": None,
        "position": "B:Wa1,a4,a7:B:H0,3",
    }


def test_text_names_the_side_and_the_distance() -> None:
    values = {"W:a5w c7b": Value(-1, 2), "B:b6w c7b": Value(1, 1)}
    found = answer(MadeUp(values.__getitem__), LASCA, LASCA.parse("W:a5w c7b"))
    assert found.to_text().splitlines() == [
        "W:a5w c7b",
        "White to move: loss in 2 plies",
        "  a5-b6  loss in 2 plies",
    ]


def test_text_of_a_finished_game() -> None:
    position = MORRIS.parse("W:Wa1:Bb2,d2,f4:H1,0")
    found = answer(MadeUp(lambda _: Value(-1)), MORRIS, position)
    assert found.to_text().splitlines()[1:] == ["White to move: loss, the game is over"]


def test_a_line_follows_the_best_moves_to_the_end() -> None:
    values = {
        "W:a1w c1w g7b": Value(1, 3),
        "B:a1w b2w g7b": Value(-1, 4),
        "B:c1w b2w g7b": Value(-1, 4),
        "B:a1w d2w g7b": Value(-1, 2),
        "W:a1w d2w f6b": Value(1, 1),
        "B:a1w e3w f6b": Value(-1, 0),
    }

    def value_of(text: str) -> Value:
        return values.get(text, Value(0))

    steps = perfect_line(MadeUp(value_of), LASCA, LASCA.parse("W:a1w c1w g7b"), None)
    assert [step.to_text(n) for n, step in enumerate(steps, start=1)] == [
        "  1. White c1-d2: White wins in 2 plies",
        "  2. Black g7-f6: White wins in 1 ply",
        "  3. White d2-e3: White has won",
    ]


def test_a_line_has_the_length_asked_for_and_avoids_positions_it_has_had() -> None:
    position = MORRIS.parse("W:Wa1,a7,g1,g7:Bd2,d6,b4,f4")
    steps = perfect_line(MadeUp(lambda _: Value(0)), MORRIS, position, 8)
    assert len(steps) == 8
    assert len({step.after for step in steps} | {position}) == 9
    assert steps[0].to_text(1) == "  1. White a1-a4: draw"
    assert perfect_line(MadeUp(lambda _: Value(0)), MORRIS, position, 0) == []


def test_a_move_of_unknown_value_comes_last_where_sets_are_partial() -> None:
    values = {"W:c1w g7b": Value(1, 5), "B:d2w g7b": Value(-1, 4)}

    def value_of(text: str) -> Value:
        if text not in values:
            raise MissingTableError(text, Path("table"), "command")
        return values[text]

    found = answer(MadeUp(value_of), LASCA, LASCA.parse("W:c1w g7b"))
    assert [str(choice.verdict) for choice in found.choices] == ["win in 5 plies", "unknown"]
    move = json.loads(found.to_json())["moves"][1]
    assert (move["wdl"], move["category"], move["plies"]) == (None, "unknown", None)
    with pytest.raises(MissingTableError):
        answer(MadeUp(value_of), MORRIS, MORRIS.parse("start"))
    values["W:W:B:H10,10"] = Value(0)
    with pytest.raises(MissingTableError):
        answer(MadeUp(value_of), MORRIS, MORRIS.parse("start"))


LONGEST_WIN, LONGEST_LOSS = 25, 26  # of three men against three, where a capture ends the game


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory):
    """Morris up to three men a side, with distances."""
    root = tmp_path_factory.mktemp("tables")
    found = distances(3, "board")
    write_morris(root, "board", {subspace: each.value for subspace, each in found.items()})
    write_distances(root, "board", found)
    with open_tables(root) as tables:
        yield tables


@pytest.fixture(scope="module")
def far() -> dict[int, Any]:
    """A position with each of the longest distances."""
    subspace = Subspace(3, 3, 3, 3, "C")
    plies = distances(3, "board")[subspace].plies
    return {
        n: position_at(subspace, int(np.flatnonzero(plies == n)[0]))
        for n in (LONGEST_WIN, LONGEST_LOSS)
    }


def test_distances_to_conversion_are_shown_and_order_the_moves(tables: Tables) -> None:
    position = MORRIS.parse("W:Wa1,a4,d7:Bb2,d2,f4")
    found = answer(tables, MORRIS, position)
    assert found.verdict == Verdict(1, None, 1)
    lines = found.to_text().splitlines()
    assert lines[1] == "White to move: win, conversion in 1 ply"
    assert [line.split() for line in lines[2:5]] == [
        [f"d7-a7x{man}", "win,", "conversion", "in", "1", "ply"] for man in ("b2", "d2", "f4")
    ]
    # Wins come by fewest plies, draws without any, losses by most.
    shown = [(choice.verdict.wdl, choice.verdict.dtc) for choice in found.choices]
    wins, draws, losses = ([dtc for wdl, dtc in shown if wdl == value] for value in (1, 0, -1))
    assert shown == [(1, n) for n in wins] + [(0, n) for n in draws] + [(-1, n) for n in losses]
    assert wins == sorted(wins) and losses == sorted(losses, reverse=True)
    assert set(draws) <= {None} and len(set(wins)) > 1 and len(set(losses)) > 1
    shape = json.loads(found.to_json())
    assert (shape["dtc"], shape["plies"]) == (1, None)
    assert [move["dtc"] for move in shape["moves"]] == wins + draws + losses


@pytest.mark.parametrize("plies", [LONGEST_WIN, LONGEST_LOSS])
def test_a_line_goes_to_the_end_by_distances(tables: Tables, far: dict, plies: int) -> None:
    steps = perfect_line(tables, MORRIS, far[plies], None)
    assert [step.verdict.dtc for step in steps] == list(range(plies - 1, -1, -1))
    winner = "White" if plies == LONGEST_WIN else "Black"
    assert steps[0].to_text(1).endswith(f": {winner} wins, conversion in {plies - 1} plies")
    assert steps[-2].to_text(plies - 1).endswith(f": {winner} wins, conversion in 1 ply")
    assert steps[-1].to_text(plies).endswith(f": {winner} has won")
    assert steps[-1].after.is_lost()
    line = [far[plies], *(step.after for step in steps)]
    assert missing_distances(tables, MORRIS, line) is None
    assert len(perfect_line(tables, MORRIS, far[plies], 7)) == 7


def test_a_line_without_tables_of_distances(tables: Tables, far: dict, tmp_path: Path) -> None:
    (tmp_path / "morris/board").mkdir(parents=True)
    for file in (tables.root / "morris/board").glob("*.*"):
        (tmp_path / "morris/board" / file.name).write_bytes(file.read_bytes())
    with open_tables(tmp_path) as bare:
        steps = perfect_line(bare, MORRIS, far[LONGEST_WIN], None)
        assert 0 < len(steps) <= 20
        assert {step.verdict.dtc for step in steps[:-1]} == {None}
        assert " wins" in steps[0].to_text(1)
        missing = missing_distances(bare, MORRIS, [step.after for step in steps])
        assert "--metric dtc" in missing.command
        assert missing_distances(bare, MORRIS, [drawn()]) is None
        assert missing_distances(bare, LASCA, [LASCA.parse("start")]) is None


def drawn() -> Any:
    """A drawn position of three men against three."""
    for subspace, found in sorted(distances(3, "board").items()):
        draws = np.flatnonzero(found.value == 0)
        if draws.size:
            return position_at(subspace, int(draws[0]))
    raise AssertionError("no draw")
