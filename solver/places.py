"""Where a position stands in the tables, and which position stands at a place.

Invariant: a place is written `SUBSPACE INDEX`, as in `r05c06k05 R3 786952` (morris) and
`w2b1-W1B0-c3 4711` (Lasca), and `position_of` reads what `describe` writes.
"""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import Any

from engine.errors import IllegalPositionError
from solver.errors import UsageError
from solver.games import Game

_MORRIS_PLACE = re.compile(r"r(\d\d)c(\d\d)k(\d\d) ([RC])(\d\d?) (\d{1,18})", re.ASCII)
_LASCA_PLACE = re.compile(r"w(\d\d?)b(\d\d?)-W(\d\d?)B(\d\d?)-c(\d\d?) (\d{1,36})", re.ASCII)


def describe(game: Game, position: Any) -> str:
    """Subspace, file, row (morris only) and index of a position, a line each.

    The file is relative to the folder of tables. Raises IllegalPositionError where the game is
    over by the number of men, since no table holds such positions.
    """
    if game.name == "morris":
        lines = _describe_morris(position, game.rules.named()["flying"])
    else:
        lines = _describe_lasca(position)
    return "\n".join(f"{name + ':':<9} {text}" for name, text in lines)


def _describe_morris(position: Any, flying: str) -> list[tuple[str, object]]:
    from databases.catalog import morris_family
    from engine.morris.index import locate

    if position.is_short_of_men:
        raise IllegalPositionError(f"{position}: the game is over, no table holds it")
    subspace, row, column = locate(position)
    return [
        ("subspace", subspace),
        ("file", morris_family(flying).path(PurePath(), subspace.stem)),
        ("row", f"{row} of {subspace.rows}"),
        ("column", f"{column} of {subspace.columns}"),
        ("index", f"{row * subspace.columns + column} of {subspace.size}"),
    ]


def _describe_lasca(position: Any) -> list[tuple[str, object]]:
    from databases.catalog import lasca_family
    from engine.lasca.index import locate

    lasca_class, index = locate(position)
    return [
        ("subspace", lasca_class.name),
        ("file", lasca_family().path(PurePath(), lasca_class.name)),
        ("index", f"{index} of {lasca_class.size}"),
    ]


def position_of(game: Game, place: str) -> Any:
    """The position, White to move, that stands at a place. Raises UsageError if there is none."""
    words = " ".join(place.split())
    try:
        return _morris_at(words) if game.name == "morris" else _lasca_at(words)
    except (ValueError, IndexError) as error:
        raise UsageError(str(error)) from None


def _morris_at(place: str) -> Any:
    from engine.morris.index import Subspace, position_at

    match = _MORRIS_PLACE.fullmatch(place)
    if match is None:
        raise UsageError(f"{place!r} is no place; expected one like 'r05c06k05 R3 786952'")
    r, c, k, mover, on_board, index = match.groups()
    return position_at(Subspace(int(r), int(c), int(k), int(on_board), mover), int(index))


def _lasca_at(place: str) -> Any:
    from engine.lasca.index import LascaClass

    match = _LASCA_PLACE.fullmatch(place)
    if match is None:
        raise UsageError(f"{place!r} is no place; expected one like 'w2b1-W1B0-c3 4711'")
    *numbers, index = (int(number) for number in match.groups())
    of = LascaClass(*numbers)
    if not of.columns:
        raise UsageError(f"a position has one column at least, {of.name} has none")
    return of.unrank(index)
