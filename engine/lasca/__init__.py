"""Lasca: columns, moves, positions, notation and the perfect-hash index of each class of positions.

`Position`, `Move` and `Rules` are what other packages use; `engine.lasca.index` numbers positions.
"""

from engine.lasca.column import Column
from engine.lasca.moves import Move
from engine.lasca.position import Position
from engine.lasca.rules import Rules

__all__ = ["Column", "Move", "Position", "Rules"]
