"""Lasker Morris: board, rules, positions, and the index that gives each position its place.

Importing the package costs next to nothing; only `engine.morris.index` needs numpy.
"""

from engine.errors import IllegalMoveError, IllegalPositionError
from engine.morris.position import Move, Position
from engine.morris.rules import Rules

__all__ = ["IllegalMoveError", "IllegalPositionError", "Move", "Position", "Rules"]
