"""The distance to conversion of morris positions: what tables hold of it, and what follows.

The distance (dtc) of a won or lost position is the number of plies to the next move that can't be
undone, a *conversion* (a placement or a capture, by either side), or to the end of the game, when
the winner keeps the win and hurries and the loser delays. Conversions lower the men in hand or in
the game, so who follows the distances wins in the end.

A table holds the distance only where the mover has won and has no winning conversion; its other
entries mean nothing. Invariant: what is returned is the distance by that definition, derived from
such entries, from values and from the legal moves alone; no entry without a meaning has a part in
it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from databases.errors import MissingTableError
from engine.morris import Move, Position, Rules


class Source(Protocol):
    """Where values and stored distances come from. Both raise MissingTableError."""

    def probe_wdl(self, position: Position, rules: Rules) -> int:
        """The value 1, 0, -1 of a position for its mover."""

    def dtc_entry(self, position: Position, rules: Rules) -> int:
        """What the table of distances holds for a position whose game is not over."""


@dataclass(frozen=True, slots=True)
class RatedMove:
    """A legal move and the position after it, with what it gets the player who makes it.

    wdl: 1, 0 or -1. dtc: plies to conversion counted from before the move, so 1 if the move is one;
    None for a draw and where there is no table.
    """

    move: Move
    after: Position
    wdl: int
    dtc: int | None

    @property
    def worth(self) -> tuple[int, int]:
        """Smaller is better for the player: wins soon, draws, losses late."""
        return -self.wdl, (self.dtc or 0) * self.wdl


def is_conversion(move: Move) -> bool:
    """Whether a move can't be undone: it places a man or takes one."""
    return move.source is None or move.capture is not None


def distance(source: Source, position: Position, rules: Rules) -> int | None:
    """The distance of a position, 0 if its game is over, None for a draw.

    Raises the errors of `source`, MissingTableError also where a table is missing and the values
    alone would have told the distance.
    """
    if position.is_over(rules):
        return 0
    wdl = source.probe_wdl(position, rules)
    if wdl == 0:
        return None
    entry = source.dtc_entry(position, rules)
    if wdl < 0:
        return _of_lost(source, position, rules)
    return 1 if _has_winning_conversion(source, position, rules) else entry


def rated_moves(source: Source, position: Position, rules: Rules) -> list[RatedMove]:
    """All legal moves, best first: wins by fewest plies and of these conversions first, draws,
    losses by most plies; then by notation. Raises the errors of `source.probe_wdl`.

    Where a table of distances is missing no move has one.
    """
    rated = _with_distances(source, position, rules, _valued_moves(source, position, rules))
    return sorted(rated, key=_order)


def best_moves(source: Source, position: Position, rules: Rules) -> list[Move]:
    """The first of `rated_moves` and all that are worth as much; none when the game is over."""
    moves = _valued_moves(source, position, rules)
    best = max((rated.wdl for rated in moves), default=0)
    moves = [rated for rated in moves if rated.wdl == best]
    moves = _with_distances(source, position, rules, moves)
    least = min((rated.worth for rated in moves), default=None)
    return [rated.move for rated in sorted(moves, key=_order) if rated.worth == least]


def _order(rated: RatedMove) -> tuple[tuple[int, int], bool, str]:
    slide_wins = rated.wdl > 0 and not is_conversion(rated.move)
    return rated.worth, slide_wins, str(rated.move)


def _valued_moves(source: Source, position: Position, rules: Rules) -> list[RatedMove]:
    """All legal moves with their values, without distances."""
    moves = [(move, position.play(move)) for move in position.legal_moves(rules)]
    return [RatedMove(move, after, -source.probe_wdl(after, rules), None) for move, after in moves]


def _with_distances(
    source: Source, position: Position, rules: Rules, moves: list[RatedMove]
) -> list[RatedMove]:
    """The same moves with their distances, or as they are where a table is missing."""
    if not any(rated.wdl for rated in moves):
        return moves
    try:
        source.dtc_entry(position, rules)  # without its table conversions get no distance either
        return [_with_distance(source, rules, rated) for rated in moves]
    except MissingTableError:
        return moves


def _with_distance(source: Source, rules: Rules, rated: RatedMove) -> RatedMove:
    if rated.wdl == 0:
        return rated
    plies = 1 if is_conversion(rated.move) else 1 + distance(source, rated.after, rules)
    return RatedMove(rated.move, rated.after, rated.wdl, plies)


def _has_winning_conversion(source: Source, position: Position, rules: Rules) -> bool:
    conversions = [move for move in position.legal_moves(rules) if is_conversion(move)]
    conversions.sort(key=lambda move: move.capture is None)  # a capture wins most often
    return any(source.probe_wdl(position.play(move), rules) < 0 for move in conversions)


def _of_lost(source: Source, position: Position, rules: Rules) -> int:
    """The distance of a lost position whose game is not over."""
    moves = position.legal_moves(rules)
    slides = [position.play(move) for move in moves if not is_conversion(move)]
    if not slides:
        return 1
    # The winner has 1 after a slide, or what is stored. So the greatest entries first: those not
    # above the longest found can't change it, whether they mean something or not.
    entries = [(source.dtc_entry(after, rules), after) for after in slides]
    entries.sort(key=lambda pair: pair[0], reverse=True)
    longest = 1
    for entry, after in entries:
        if entry <= longest:
            break
        if not _has_winning_conversion(source, after, rules):
            longest = entry
    return 1 + longest
