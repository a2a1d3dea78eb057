"""The two games behind one face, for the commands that treat them alike.

Invariant: nothing here imports numba, and a game is imported only when it is asked for, so a
look-up starts fast.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from engine.morris import Rules as MorrisRules

GAMES = ("morris", "lasca")

METRICS = ("wdl", "dtc")
"""What morris tables hold: values, or distances to conversion as well."""


class GameRules(Protocol):
    """The rules of a game, as tables and JSON name them."""

    def named(self) -> dict[str, Any]: ...


class Game(Protocol):
    """What a command needs of a game; positions and moves are those of the game's engine."""

    name: str
    rules: GameRules
    partial: bool
    """Whether tables may hold a position without all that its moves lead to."""
    has_dtc: bool
    """Whether there are tables of its distances to conversion."""

    def parse(self, text: str) -> Any:
        """The position of a text. Raises IllegalPositionError."""

    def successors(self, position: Any) -> list[tuple[Any, Any]]:
        """Each legal move with the position it leads to; empty when the game is over."""


@dataclass(frozen=True)
class Morris:
    """Lasker Morris under given rules."""

    rules: MorrisRules
    name: str = "morris"
    partial: bool = False
    has_dtc: bool = True

    def parse(self, text: str) -> Any:
        from engine.morris import Position

        return Position.parse(text, self.rules)

    def successors(self, position: Any) -> list[tuple[Any, Any]]:
        return [(move, position.play(move)) for move in position.legal_moves(self.rules)]


@dataclass(frozen=True)
class Lasca:
    """Lasca; it has one set of rules.

    What was explored from a position up to a bound may force its value, but not that of every move.
    """

    rules: GameRules
    name: str = "lasca"
    partial: bool = True
    has_dtc: bool = False

    def parse(self, text: str) -> Any:
        from engine.lasca import Position

        return Position.parse(text)

    def successors(self, position: Any) -> list[tuple[Any, Any]]:
        return list(position.successors())


def game_of(name: str, flying: str = "board") -> Game:
    """The game of a name of GAMES; `flying` matters to morris only."""
    if name == "morris":
        from engine.morris import Rules

        return Morris(Rules(flying=flying))
    from engine.lasca import Rules as LascaRules

    return Lasca(LascaRules())
