"""Positions and moves of Lasker Morris: the readable definition of the rules.

A position is two disjoint masks of points (see board.py), the men in hand and the side to move. No
move-count rule exists, so nothing else is needed.

Invariant: a Position object is always legal. Its masks are disjoint, hands are not negative, no
side has more than ten men, and at most one side has fewer than three, which ends the game.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from engine.errors import IllegalMoveError, IllegalPositionError
from engine.morris.board import (
    ALL_POINTS,
    MILLS_AT,
    NEIGHBOUR_MASKS,
    NUMBER,
    POINTS,
    men_in_mills,
    points_of,
)
from engine.morris.rules import LOSING_TOTAL, MOST_MEN, Rules

_DEFAULT_RULES = Rules()
_HANDS = re.compile(r"(-?[0-9]{1,9}),(-?[0-9]{1,9})")
_MOVE = re.compile(r"(?:([a-z][0-9])-)?([a-z][0-9])(?:x([a-z][0-9]))?")
_FORM = "side to move, White's men, Black's men, men in hand, like W:Wa1,d7:Bb4:H8,9"


def _names(mask: int) -> list[str]:
    return sorted(POINTS[p] for p in points_of(mask))


@dataclass(frozen=True, slots=True)
class Move:
    """One turn: a placement (`source` is None) or a slide, with what it takes, if anything.

    The fields are point numbers. Text: `d6`, `a1-a4`, and `xd7` appended for a capture.
    """

    source: int | None
    target: int
    capture: int | None = None

    @classmethod
    def parse(cls, text: str) -> Move:
        """The move of a text such as `a1-a4xd7`. Raises IllegalMoveError."""
        parts = _MOVE.fullmatch(text.strip())
        if parts is None:
            raise IllegalMoveError(f"{text!r} is no move; expected one like d6, a1-a4 or a1-a4xd7")
        for name in parts.groups():
            if name is not None and name not in NUMBER:
                raise IllegalMoveError(f"unknown point {name!r} in {text!r}")
        source, target, capture = (NUMBER.get(name) for name in parts.groups())
        return cls(source, target, capture)

    def __str__(self) -> str:
        start = "" if self.source is None else f"{POINTS[self.source]}-"
        taken = "" if self.capture is None else f"x{POINTS[self.capture]}"
        return f"{start}{POINTS[self.target]}{taken}"


@dataclass(frozen=True, slots=True)
class Position:
    """A position: masks of White's and Black's men, their men in hand, and who is to move.

    Raises IllegalPositionError when the numbers break the invariant of the module.

    >>> position = Position.parse("W:Wa1,d7:Bb4:H8,9")
    >>> str(position.play(Move.parse("a1-a4")))
    'B:Wa4,d7:Bb4:H8,9'
    """

    white: int
    black: int
    white_hand: int
    black_hand: int
    white_to_move: bool

    START: ClassVar[Position]

    def __post_init__(self) -> None:
        if (self.white | self.black) & ~ALL_POINTS:
            raise IllegalPositionError("a man stands outside the board")
        if self.white & self.black:
            name = _names(self.white & self.black)[0]
            raise IllegalPositionError(f"both sides have a man on {name}")
        for side, hand, total in (
            ("White", self.white_hand, self.white_total),
            ("Black", self.black_hand, self.black_total),
        ):
            if hand < 0:
                raise IllegalPositionError(f"{side} has a negative number of men in hand: {hand}")
            if total > MOST_MEN:
                raise IllegalPositionError(f"{side} has {total} men, more than {MOST_MEN}")
        if self.white_total <= LOSING_TOTAL and self.black_total <= LOSING_TOTAL:
            raise IllegalPositionError("both sides have fewer than three men")

    @classmethod
    def parse(cls, text: str, rules: Rules = _DEFAULT_RULES) -> Position:
        """The position of a text such as `W:Wa1,d7:Bb4:H8,9`, or of `start`.

        The men in hand may be left out when there are none. Raises IllegalPositionError with the
        reason, also when a side has more men than `rules` give it.
        """
        text = text.strip()
        if text == "start":
            return cls(0, 0, rules.men, rules.men, True)
        side, *fields = text.split(":")
        if side not in ("W", "B"):
            raise IllegalPositionError(f"{side!r} is no side to move (W or B); expected {_FORM}")
        if len(fields) not in (2, 3) or [f[:1] for f in fields] != ["W", "B", "H"][: len(fields)]:
            raise IllegalPositionError(f"{text!r} is no position; expected {_FORM}")
        hands = (0, 0)
        if len(fields) == 3:
            numbers = _HANDS.fullmatch(fields[2][1:])
            if numbers is None:
                raise IllegalPositionError(
                    f"{fields[2]!r} does not give the men in hand; expected two numbers like H8,9"
                )
            hands = (int(numbers[1]), int(numbers[2]))
        position = cls(_parse_men(fields[0]), _parse_men(fields[1]), *hands, side == "W")
        for name, total in (("White", position.white_total), ("Black", position.black_total)):
            if total > rules.men:
                raise IllegalPositionError(f"{name} has {total} men, more than {rules.men}")
        return position

    def __str__(self) -> str:
        side = "W" if self.white_to_move else "B"
        hands = f":H{self.white_hand},{self.black_hand}"
        if not (self.white_hand or self.black_hand):
            hands = ""
        return f"{side}:W{','.join(_names(self.white))}:B{','.join(_names(self.black))}{hands}"

    @property
    def white_total(self) -> int:
        """White's men on the board and in hand."""
        return self.white.bit_count() + self.white_hand

    @property
    def black_total(self) -> int:
        """Black's men on the board and in hand."""
        return self.black.bit_count() + self.black_hand

    @property
    def mover(self) -> tuple[int, int]:
        """Mask and hand of the side to move."""
        if self.white_to_move:
            return self.white, self.white_hand
        return self.black, self.black_hand

    @property
    def other(self) -> tuple[int, int]:
        """Mask and hand of the side not to move."""
        if self.white_to_move:
            return self.black, self.black_hand
        return self.white, self.white_hand

    @property
    def is_short_of_men(self) -> bool:
        """Whether a side has fewer than three men in all, which has ended the game."""
        return self.white_total <= LOSING_TOTAL or self.black_total <= LOSING_TOTAL

    def is_lost(self, rules: Rules = _DEFAULT_RULES) -> bool:
        """Whether the side to move has lost: fewer than three men, or nothing it can move."""
        men, hand = self.mover
        if men.bit_count() + hand <= LOSING_TOTAL:
            return True
        return not self.is_short_of_men and self._is_blocked(rules)

    def is_over(self, rules: Rules = _DEFAULT_RULES) -> bool:
        """Whether the game has ended; if so the side to move has lost or, not `is_lost`, won."""
        return self.is_short_of_men or self._is_blocked(rules)

    def _is_blocked(self, rules: Rules) -> bool:
        men, hand = self.mover
        if hand or rules.may_fly(men.bit_count(), hand):
            return False
        empty = ALL_POINTS & ~(self.white | self.black)
        return not any(NEIGHBOUR_MASKS[p] & empty for p in points_of(men))

    def legal_moves(self, rules: Rules = _DEFAULT_RULES) -> tuple[Move, ...]:
        """Every legal move, placements first, by point numbers; none when the game is over."""
        if self.is_short_of_men:
            return ()
        men, hand = self.mover
        opposing = self.other[0]
        empty = ALL_POINTS & ~(men | opposing)
        takeable = points_of(opposing & ~men_in_mills(opposing) or opposing) or (None,)
        moves: list[Move] = []

        def add(source: int | None, target: int, rest: int) -> None:
            """Add the move or, when it closes a mill, one move for each man it can take."""
            now = rest | 1 << target
            if any(now & mill == mill for mill in MILLS_AT[target]):
                moves.extend(Move(source, target, capture) for capture in takeable)
            else:
                moves.append(Move(source, target))

        if hand:
            for target in points_of(empty):
                add(None, target, men)
        flying = rules.may_fly(men.bit_count(), hand)
        for source in points_of(men):
            reach = empty if flying else empty & NEIGHBOUR_MASKS[source]
            for target in points_of(reach):
                add(source, target, men & ~(1 << source))
        return tuple(moves)

    def play(self, move: Move) -> Position:
        """The position after a move of `legal_moves`.

        Only what keeps the position whole is checked: the men moved and taken are there and the
        target is empty, else IllegalMoveError. Whether rules allow the move is for `legal_moves`.
        """
        men, hand = self.mover
        opposing, opposing_hand = self.other
        target = 1 << move.target
        if target & (men | opposing):
            raise IllegalMoveError(f"{move}: {POINTS[move.target]} is not empty")
        if move.source is None:
            if not hand:
                raise IllegalMoveError(f"{move}: no man in hand")
            hand -= 1
        else:
            if not men >> move.source & 1:
                raise IllegalMoveError(f"{move}: no man of the mover on {POINTS[move.source]}")
            men &= ~(1 << move.source)
        men |= target
        if move.capture is not None:
            if not opposing >> move.capture & 1:
                raise IllegalMoveError(f"{move}: no man to take on {POINTS[move.capture]}")
            opposing &= ~(1 << move.capture)
        if self.white_to_move:
            return Position(men, opposing, hand, opposing_hand, False)
        return Position(opposing, men, opposing_hand, hand, True)


def _parse_men(field: str) -> int:
    """The mask of a field such as `Wa1,d7`; the first letter is the colour."""
    mask = 0
    for name in field[1:].split(",") if field[1:] else ():
        point = NUMBER.get(name)
        if point is None:
            raise IllegalPositionError(f"unknown point {name!r} in {field!r}")
        if mask >> point & 1:
            raise IllegalPositionError(f"point {name} stands twice in {field!r}")
        mask |= 1 << point
    return mask


Position.START = Position(0, 0, MOST_MEN, MOST_MEN, True)
