"""Answers of the tables to a player: the value of a position and of its moves, and perfect lines.

Values are seen by the player to move in the position asked about, also those of its moves ("what
this move gets me"); distances, to the end of the game or to conversion, count from that position
too, so the best move has the distance of the position. Invariant: the moves of an answer are in
order, best first: wins by fewest plies, draws, losses by most plies, then by notation; last those
whose value is unknown. Among wins equally near to conversion the conversions come first.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from databases.errors import MissingTableError
from solver.errors import ResourceError
from solver.games import Game

CATEGORIES = {1: "win", 0: "draw", -1: "loss", None: "unknown"}

UNDECIDED_LINE = 20
"""Plies of a line whose length is not asked for and whose end no table tells."""


class Values(Protocol):
    """What gives the values: `databases.open_tables`."""

    def probe(self, position: Any, rules: Any) -> Any:
        """Value (wdl, plies) of a position. MissingTableError or ResourceError if unknown."""

    # Only asked for in a game that has distances to conversion:

    def probe_dtc(self, position: Any, rules: Any) -> int | None:
        """The distance of a position, None for a draw. MissingTableError."""

    def get_dtc(self, position: Any, default: None, rules: Any) -> int | None:
        """The same, `default` where a table is missing."""

    def rated_moves(self, position: Any, rules: Any) -> Iterable[Any]:
        """The legal moves (move, after, wdl, dtc), best first."""


@dataclass(frozen=True)
class Verdict:
    """A value, 1, 0 or -1, with the plies to the end of the game where they are known.

    A value of None is unknown; only the moves of an answer may have it. dtc: plies to conversion
    where they are known.
    """

    wdl: int | None
    plies: int | None
    dtc: int | None = None

    def from_before(self) -> Verdict:
        """The same, as the player sees it whose move led here."""
        if self.wdl is None:
            return self
        return Verdict(-self.wdl, None if self.plies is None else self.plies + 1)

    @property
    def fields(self) -> dict[str, Any]:
        """The verdict in JSON."""
        category = CATEGORIES[self.wdl]
        return {"wdl": self.wdl, "category": category, "plies": self.plies, "dtc": self.dtc}

    @property
    def order(self) -> tuple[int, int]:
        """Smaller is better for the player whose value this is; unknown is last."""
        if self.wdl is None:
            return 2, 0
        return -self.wdl, (self.plies or self.dtc or 0) * self.wdl

    def __str__(self) -> str:
        return CATEGORIES[self.wdl] + _distance(self.plies) + _conversion(self.dtc)


UNKNOWN = Verdict(None, None)


@dataclass(frozen=True)
class Choice:
    """A legal move, what it gets the player, and the position it leads to."""

    move: str
    verdict: Verdict
    after: Any


@dataclass(frozen=True)
class Answer:
    """The value of a position and of its moves, best first."""

    game: Game
    position: Any
    verdict: Verdict
    choices: tuple[Choice, ...]

    def to_json(self) -> str:
        """One JSON object on one line."""
        moves = [
            {"move": choice.move, **choice.verdict.fields, "position": str(choice.after)}
            for choice in self.choices
        ]
        head = {
            "game": self.game.name,
            "rules": self.game.rules.named(),
            "position": str(self.position),
        }
        return json.dumps({**head, **self.verdict.fields, "moves": moves}, separators=(",", ":"))

    def to_text(self) -> str:
        """The position, its value, and a line for each move."""
        side = "White" if self.position.white_to_move else "Black"
        over = "" if self.choices else ", the game is over"
        lines = [str(self.position), f"{side} to move: {self.verdict}{over}"]
        width = max((len(choice.move) for choice in self.choices), default=0)
        lines += [f"  {choice.move:<{width}}  {choice.verdict}" for choice in self.choices]
        return "\n".join(lines)


@dataclass(frozen=True)
class Step:
    """One ply of a line: the move, the position after it and its value for the side to move."""

    move: str
    after: Any
    verdict: Verdict

    def to_text(self, number: int) -> str:
        """The ply with its number, who moved, and who wins now."""
        mover, winner = ("Black", "White") if self.after.white_to_move else ("White", "Black")
        winner = mover if self.verdict.wdl < 0 else winner
        over = 0 in (self.verdict.plies, self.verdict.dtc)
        wins = f"{winner} has won" if over else f"{winner} wins"
        value = "draw" if self.verdict.wdl == 0 else wins
        distance = _distance(self.verdict.plies or None) + _conversion(self.verdict.dtc)
        return f"{number:>3}. {mover} {self.move}: {value}{distance}"


def _distance(plies: int | None) -> str:
    if plies is None:
        return ""
    return f" in {plies} {'ply' if plies == 1 else 'plies'}"


def _conversion(dtc: int | None) -> str:
    """Nothing either where the game is over."""
    return f", conversion{_distance(dtc)}" if dtc else ""


def _verdict(values: Values, game: Game, position: Any) -> Verdict:
    found = values.probe(position, game.rules)
    dtc = values.get_dtc(position, None, game.rules) if game.has_dtc else None
    return Verdict(found.wdl, found.plies, dtc)


def _verdict_after(values: Values, game: Game, position: Any) -> Verdict:
    """The verdict of a position that a move leads to, as the player sees it who moves there."""
    try:
        return _verdict(values, game, position).from_before()
    except (MissingTableError, ResourceError):
        if not game.partial:
            raise
        return UNKNOWN


def _choices(values: Values, game: Game, position: Any) -> list[Choice]:
    """The legal moves, best first."""
    if game.has_dtc:
        return [
            Choice(str(rated.move), Verdict(rated.wdl, None, rated.dtc), rated.after)
            for rated in values.rated_moves(position, game.rules)
        ]
    choices = [
        Choice(str(move), _verdict_after(values, game, after), after)
        for move, after in game.successors(position)
    ]
    return sorted(choices, key=lambda choice: (choice.verdict.order, choice.move))


def answer(values: Values, game: Game, position: Any) -> Answer:
    """The answer for a position. Raises the errors of `values.probe`."""
    verdict = _verdict(values, game, position)
    return Answer(game, position, verdict, tuple(_choices(values, game, position)))


def perfect_line(values: Values, game: Game, position: Any, plies: int | None) -> list[Step]:
    """A line of perfect play of at most `plies` plies, to its end if the game ends before.

    Without `plies` a line goes to the end of the game where the tables know a distance, else for
    UNDECIDED_LINE plies. Where several moves are best, one that does not repeat a position is
    preferred, so that a line goes on instead of going round. Raises the errors of `values.probe`.
    """
    steps: list[Step] = []
    seen = {position}
    here = answer(values, game, position)
    if plies is None and here.verdict.plies is not None:
        plies = here.verdict.plies

    def goes_on() -> bool:
        if plies is not None:
            return len(steps) < plies
        # Distances to conversion lead on to the end, through positions that are all new.
        leads_on = here.verdict.dtc is not None and len(seen) > len(steps)
        return leads_on or len(steps) < UNDECIDED_LINE

    while here.choices and goes_on():
        best = [c for c in here.choices if c.verdict.order == here.choices[0].verdict.order]
        chosen = next((c for c in best if c.after not in seen), best[0])
        here = answer(values, game, chosen.after)
        seen.add(chosen.after)
        steps.append(Step(chosen.move, chosen.after, here.verdict))
    return steps


def missing_distances(
    values: Values, game: Game, positions: Iterable[Any]
) -> MissingTableError | None:
    """What keeps some of the positions from having a distance to conversion, None if nothing does.

    A draw and a position of a game without such distances lack nothing.
    """
    try:
        for position in positions if game.has_dtc else ():
            values.probe_dtc(position, game.rules)
    except MissingTableError as error:
        return error
    return None
