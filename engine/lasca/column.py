"""A column of men: who owns it, what is under its commander, and how capturing changes it.

Men are letters: w and b soldiers, W and B officers. Invariant (Lasker and Landau): a column is one
run of its owner's men over one run, perhaps empty, of the enemy's; both what is left of a captured
column and a column with a new captive under it have this form again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from engine.errors import IllegalPositionError

_FORM = re.compile(r"[wW]+[bB]*|[bB]+[wW]*")

OTHER = {"w": "b", "b": "w"}


def colour_of(man: str) -> str:
    """The colour of a man, "w" or "b"."""
    return man.lower()


@dataclass(frozen=True, slots=True)
class Column:
    """A column, its `men` from the top down, such as "WbbB".

    Raises IllegalPositionError for a letter that is no man and for a column that changes colour
    more than once.
    """

    men: str

    def __post_init__(self) -> None:
        if not _FORM.fullmatch(self.men):
            strange = self.men.strip("wWbB")
            if strange or not self.men:
                raise IllegalPositionError(f"column {self.men!r}: men are written w, b, W or B")
            raise IllegalPositionError(f"column {self.men!r} changes colour more than once")

    def __str__(self) -> str:
        return self.men

    @property
    def commander(self) -> str:
        return self.men[0]

    @property
    def owner(self) -> str:
        """The colour, "w" or "b", of the commander."""
        return colour_of(self.men[0])

    @property
    def has_officer(self) -> bool:
        """Whether the commander is an officer."""
        return self.men[0].isupper()

    @property
    def own_men(self) -> str:
        """The upper run: the owner's men."""
        return "".join(man for man in self.men if colour_of(man) == self.owner)

    @property
    def captives(self) -> str:
        """The lower run: the enemy's men."""
        return self.men[len(self.own_men) :]

    def without_commander(self) -> Column | None:
        """What a capture leaves on the square: None when the commander stood alone."""
        return Column(self.men[1:]) if len(self.men) > 1 else None

    def with_captive(self, man: str) -> Column:
        """The column with one more captive at its bottom."""
        return Column(self.men + man)

    def promoted(self) -> Column:
        """The column with its commander an officer; the men below keep their rank."""
        return Column(self.men[0].upper() + self.men[1:])

    def colours_swapped(self) -> Column:
        """The column with every man in the other colour."""
        return Column(self.men.translate(str.maketrans("wbWB", "bwBW")))


# A column or None for each of the 25 squares, in the board's order.
Board = tuple[Column | None, ...]
