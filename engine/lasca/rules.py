"""The rules of Lasca as Lasker published them in 1911, as an object for tables to name.

There is one set of rules and no option yet; `engine.lasca.moves` is their definition. Invariant:
`Rules().named()` is what a table of this game was made for, and tables of anything else are
refused.
"""

from __future__ import annotations

from dataclasses import dataclass

# Eleven soldiers a side at the start, and no man ever leaves the board.
MEN_PER_SIDE = 11


@dataclass(frozen=True, slots=True)
class Rules:
    """Lasker's rules: compulsory capture with a free choice, one man taken from a square a move."""

    def named(self) -> dict[str, str]:
        """The rules as the header of a table names them."""
        return {"edition": "lasker-1911"}
