"""Which tables there are: their folders and names, and the place of a position in them.

A *family* is all tables of one game under one set of rules, in one folder. Invariant: whoever
writes a table and whoever looks one up gets folder, name and section from here, so that what one
writes the other finds; and a family holds everything that a table of it must say about itself.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from databases.format import DISTANCES, VALUES

if TYPE_CHECKING:
    from engine.lasca import Position as LascaPosition
    from engine.morris import Position as MorrisPosition

LASCA_SECTION = "white"
"""The one section of a Lasca table: White to move. Black to move is the colour-swapped class."""


LASCA_MOST_MEN = 6
"""The most men for which the tables of all classes are within reach of one machine."""

LASCA_MOST_OFFICER_COLUMNS = 4
"""The most columns for which the table of eleven officers a side is within reach of one machine."""


class Place(NamedTuple):
    """Where the value of a position stands: table, section in it, index in the section."""

    table: str
    section: str
    index: int


@dataclass(frozen=True)
class Family:
    """The tables of one game and set of rules.

    folder: relative to the root of all tables. rules, board: what every header must hold.
    scope: the options of `lasker solve` that make a table, given its name and a position in it.
    contents: VALUES, or DISTANCES alone, of databases.format.
    """

    game: str
    folder: str
    suffix: str
    rules: Mapping[str, object]
    board: str
    scope: Callable[[str, object], list[str]]
    contents: str = VALUES

    def path(self, root: Path, table: str) -> Path:
        """The file of a table under the root of all tables."""
        return root / self.folder / f"{table}{self.suffix}"

    def command(self, root: Path, table: str, position: object = "POSITION") -> str:
        """The command line that makes a table, or at least the value of a position in it."""
        words = ["lasker", "solve", self.game, *self.scope(table, position)]
        return shlex.join([*words, "--tables", str(root)])


@cache
def morris_family(flying: str) -> Family:
    """The tables of Lasker Morris; they serve any number of men up to ten, so only flying counts.

    A table is a level of a unit, `engine.morris.index.Subspace.stem`; its sections are subspaces.
    """
    from engine.morris import Rules
    from engine.morris.board import fingerprint

    rules = Rules(flying=flying)

    def scope(table: str, _position: object) -> list[str]:
        # The greater of the two totals of a unit bounds both.
        men = int(re.fullmatch(r"r\d+c(\d+)k\d+", table)[1])
        return ["--men", str(men), *([] if rules == Rules() else ["--flying", flying])]

    return Family("morris", f"morris/{flying}", ".wdl", rules.named(), fingerprint(), scope)


@cache
def morris_dtc_family(flying: str) -> Family:
    """The distances to conversion beside `morris_family`: the same names of tables and sections.

    An entry is the distance of its position where the mover has won and no conversion at once keeps
    the win; everywhere else it means nothing, see `databases.conversion`.
    """
    values = morris_family(flying)

    def scope(table: str, position: object) -> list[str]:
        return [*values.scope(table, position), "--metric", "dtc"]

    folder = f"{values.folder}/dtc"
    return replace(values, folder=folder, suffix=".dtc", scope=scope, contents=DISTANCES)


@cache
def lasca_family() -> Family:
    """The tables of Lasca. A table is a class, `engine.lasca.index.LascaClass.name`."""
    from engine.lasca import Rules
    from engine.lasca.board import fingerprint

    return Family("lasca", "lasca/classes", ".tbl", Rules().named(), fingerprint(), _scope_of_class)


@cache
def explored_family() -> Family:
    """The tables of sets of Lasca positions explored from one, see `databases.explored`."""
    return replace(lasca_family(), folder="lasca/explored", scope=_scope_of_position)


def morris_place(position: MorrisPosition) -> Place:
    """The place of a position. ValueError when a side has fewer than three men: it has none."""
    from engine.morris.index import locate

    subspace, row, column = locate(position)
    return Place(subspace.stem, subspace.section, row * subspace.columns + column)


def lasca_place(position: LascaPosition) -> Place:
    """The place of a position."""
    from engine.lasca.index import locate

    of, index = locate(position)
    return Place(of.name, LASCA_SECTION, index)


def _scope_of_class(table: str, position: object) -> list[str]:
    """The options that make the table of a class, or if no batch job does, solve the position."""
    from engine.lasca.rules import MEN_PER_SIDE

    pattern = r"w(\d+)b(\d+)-W(\d+)B(\d+)-c(\d+)"
    *men, white_officers, black_officers, columns = map(int, re.fullmatch(pattern, table).groups())
    if sum(men) <= LASCA_MOST_MEN:
        return ["--men", str(sum(men))]
    all_officers = men == [white_officers, black_officers] == [MEN_PER_SIDE] * 2
    if all_officers and columns <= LASCA_MOST_OFFICER_COLUMNS:
        return ["--officers", "--columns", str(columns)]
    return _scope_of_position(table, position)


def _scope_of_position(_table: str, position: object) -> list[str]:
    return ["--from", str(position)]
