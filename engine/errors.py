"""The two ways in which input can break the rules of a game.

Both are ValueErrors whose text is one line that says what is wrong, fit to be shown to a user.
"""

from __future__ import annotations


class IllegalPositionError(ValueError):
    """The text or the numbers given describe no position of the game."""


class IllegalMoveError(ValueError):
    """The text given is no move, or the move can't be played in the position at hand."""
