"""A Lasca position: an immutable board with the side to move.

Invariant: a `Position` is legal. Each square of the 25 holds a column in Lasker-Landau form or
none, no soldier commands on its own far rank, and neither side has more than eleven men.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from engine.errors import IllegalMoveError, IllegalPositionError
from engine.lasca.board import FAR_RANK, HALF_TURN, MIRROR, SQUARE_COUNT, SQUARES
from engine.lasca.column import Board, colour_of
from engine.lasca.moves import Move, generate
from engine.lasca.notation import format_position, parse_position
from engine.lasca.rules import MEN_PER_SIDE


@dataclass(frozen=True, slots=True)
class Position:
    """Columns by square (25 of `Column` or None, Lasker's order) and the side to move.

    Raises IllegalPositionError, with the reason, for a board that no game could show.

    >>> str(Position.parse("W:1w 13WbbB").play(Move.parse("a1-b2")))
    'B:b2w d4WbbB'
    """

    board: Board
    white_to_move: bool = True

    START: ClassVar[Position]

    def __post_init__(self) -> None:
        if len(self.board) != SQUARE_COUNT:
            raise IllegalPositionError(f"a board has {SQUARE_COUNT} squares, not {len(self.board)}")
        for square, column in enumerate(self.board):
            if column and not column.has_officer and square in FAR_RANK[column.owner]:
                raise IllegalPositionError(
                    f"a soldier commands on its far rank: {SQUARES[square]}{column}"
                )
        for colour, name in (("w", "White"), ("b", "Black")):
            if self.men(colour) > MEN_PER_SIDE:
                raise IllegalPositionError(
                    f"{name} has {self.men(colour)} men, more than {MEN_PER_SIDE}"
                )

    @classmethod
    def parse(cls, text: str) -> Position:
        """Reads `W:a1w d4WbbB g7b`, squares also by Lasker's numbers, and `start`.

        Raises IllegalPositionError with the reason.
        """
        return cls(*parse_position(text))

    def __str__(self) -> str:
        return format_position(self.board, self.white_to_move)

    @property
    def mover(self) -> str:
        """The colour of the side to move, "w" or "b"."""
        return "w" if self.white_to_move else "b"

    def men(self, colour: str) -> int:
        """The number of men of a colour ("w" or "b") anywhere in the columns."""
        return sum(
            colour_of(man) == colour for column in self.board if column for man in column.men
        )

    def successors(self) -> tuple[tuple[Move, Position], ...]:
        """Each legal move with the position it leads to; empty when the side to move has lost."""
        return tuple(
            (move, Position(board, not self.white_to_move))
            for move, board in generate(self.board, self.mover)
        )

    def legal_moves(self) -> tuple[Move, ...]:
        """The legal moves; empty when the side to move has lost."""
        return tuple(move for move, _ in generate(self.board, self.mover))

    def play(self, move: Move) -> Position:
        """The position after a legal move; IllegalMoveError for any other."""
        for legal, after in self.successors():
            if legal == move:
                return after
        raise IllegalMoveError(f"{move} is not legal in {self}")

    def is_lost(self) -> bool:
        """Whether the side to move has lost: no column of its own, or no legal move."""
        return not generate(self.board, self.mover)

    def mirrored(self) -> Position:
        """The image under a <-> g, of the same value."""
        return Position(
            tuple(self.board[MIRROR[s]] for s in range(SQUARE_COUNT)), self.white_to_move
        )

    def colours_swapped(self) -> Position:
        """The half turn with colours and the side to move swapped: the same value for the mover."""
        turned = tuple(self.board[HALF_TURN[s]] for s in range(SQUARE_COUNT))
        swapped = tuple(column and column.colours_swapped() for column in turned)
        return Position(swapped, not self.white_to_move)


Position.START = Position.parse("start")
