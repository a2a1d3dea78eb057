"""The options of Lasker Morris that change the value of a position.

Invariant: a Rules object always holds a known combination; every table file names all its options.
"""

from __future__ import annotations

from dataclasses import dataclass

LOSING_TOTAL = 2
"""A side with this many men or fewer, board and hand together, has lost."""

MOST_MEN = 10
"""Men a side of the full game."""

FLYING_OPTIONS = ("board", "total", "off")


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of one game.

    men: men of each side at the start, 3 to 10.
    flying: when a man may move to any empty point instead of an adjacent one. "board": its side
        has three men on the board and none in hand; "total": three men on the board and in hand
        together; "off": never.
    Raises ValueError for anything else.
    """

    men: int = MOST_MEN
    flying: str = "board"

    def __post_init__(self) -> None:
        if not LOSING_TOTAL < self.men <= MOST_MEN:
            raise ValueError(f"men must be {LOSING_TOTAL + 1} to {MOST_MEN}, not {self.men}")
        if self.flying not in FLYING_OPTIONS:
            options = ", ".join(FLYING_OPTIONS)
            raise ValueError(f"flying must be one of {options}, not {self.flying!r}")

    def may_fly(self, on_board: int, in_hand: int) -> bool:
        """Whether a side with these numbers of men may move to points that are not adjacent."""
        if self.flying == "off":
            return False
        return on_board + in_hand == 3 and (in_hand == 0 or self.flying == "total")

    def named(self) -> dict[str, int | str]:
        """The rules as the header of a table and JSON name them."""
        return {"men": self.men, "flying": self.flying}
