"""Looks up positions of both games in a folder of tables.

    with open_tables(path) as tables:
        tables.probe_wdl(position)
        tables.best_moves(position)

Values are seen by the player to move: 1 win, 0 draw, -1 loss. Invariant: a value returned is the
one stored for that position under the rules asked for, or that of a game which is over; everything
else is an error of errors.py. A Tables object may be used from several threads.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from databases import conversion
from databases.cache import BlockCache, OpenFiles
from databases.catalog import (
    Family,
    Place,
    explored_family,
    lasca_family,
    lasca_place,
    morris_dtc_family,
    morris_family,
    morris_place,
)
from databases.errors import MissingTableError, StoreAccessError
from databases.store import open_table
from engine.morris import Position as MorrisPosition
from engine.morris import Rules as MorrisRules

if TYPE_CHECKING:
    from databases.reader import TableFile
    from engine.lasca import Position as LascaPosition
    from engine.lasca import Rules as LascaRules
    from engine.morris import Move as MorrisMove

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Value:
    """The value of a position for its mover, and the plies to the end of the game if stored."""

    wdl: int
    plies: int | None


class Tables:
    """A folder of tables, open for look-ups; see `open_tables`."""

    def __init__(self, root: Path, max_open_files: int, cache_bytes: int) -> None:
        self.root = root
        self._files = OpenFiles(max_open_files)
        self._blocks = BlockCache(cache_bytes)

    def __enter__(self) -> Tables:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all files; a later look-up opens them again."""
        self._files.close()
        self._blocks.clear()

    def probe_wdl(
        self,
        position: MorrisPosition | LascaPosition,
        rules: MorrisRules | LascaRules | None = None,
    ) -> int:
        """The value 1, 0, -1 of a position for its mover; `rules` default to those of the game.

        Raises MissingTableError (a KeyError) that names the subspace and the command that makes
        it, CorruptTableError with file and block, WrongRulesError, StoreAccessError.
        """
        return self._look_up(position, rules, with_plies=False).wdl

    def get_wdl(
        self,
        position: MorrisPosition | LascaPosition,
        default: _T = None,
        rules: MorrisRules | LascaRules | None = None,
    ) -> int | _T:
        """As `probe_wdl`, but `default` where the table is missing; other errors are raised."""
        try:
            return self.probe_wdl(position, rules)
        except MissingTableError:
            return default

    def probe(
        self,
        position: MorrisPosition | LascaPosition,
        rules: MorrisRules | LascaRules | None = None,
    ) -> Value:
        """Value and plies of a position, else as `probe_wdl`; no plies for morris and for draws."""
        return self._look_up(position, rules, with_plies=True)

    def probe_dtc(self, position: MorrisPosition, rules: MorrisRules | None = None) -> int | None:
        """Plies to conversion of a morris position, see `databases.conversion`; None for a draw.

        Raises MissingTableError, where values are missing or distances, and else as `probe_wdl`.
        """
        return conversion.distance(self, position, rules or MorrisRules())

    def get_dtc(
        self, position: MorrisPosition, default: _T = None, rules: MorrisRules | None = None
    ) -> int | _T | None:
        """As `probe_dtc`, but `default` where a table is missing; other errors are raised."""
        try:
            return self.probe_dtc(position, rules)
        except MissingTableError:
            return default

    def best_moves(
        self, position: MorrisPosition, rules: MorrisRules | None = None
    ) -> list[MorrisMove]:
        """The legal moves of a morris position that are best, none when the game is over.

        A win is kept by the fewest plies to conversion, a loss drawn out by the most; where there
        is no table of distances all moves that keep the value are best. Raises as `probe_wdl`.
        """
        return conversion.best_moves(self, position, rules or MorrisRules())

    def rated_moves(
        self, position: MorrisPosition, rules: MorrisRules | None = None
    ) -> list[conversion.RatedMove]:
        """All legal moves of a morris position with value and distance, best first.

        Raises as `probe_wdl`.
        """
        return conversion.rated_moves(self, position, rules or MorrisRules())

    def dtc_entry(self, position: MorrisPosition, rules: MorrisRules) -> int:
        """What the table of distances holds for a position, whether it means something or not.

        ValueError when a side has fewer than three men. Else raises as `probe_wdl`.
        """
        place = morris_place(position)
        with self._table(morris_dtc_family(rules.flying), place, position) as file:
            return file.entry(place.section, place.index)

    def _look_up(
        self,
        position: MorrisPosition | LascaPosition,
        rules: MorrisRules | LascaRules | None,
        with_plies: bool,
    ) -> Value:
        if not isinstance(position, MorrisPosition):
            try:
                return self._read(lasca_family(), lasca_place(position), position, with_plies)
            except MissingTableError:
                if position.is_lost():
                    return Value(-1, 0)
                found = self._read_explored(position)
                if found is None:
                    raise
                return found
        rules = rules or MorrisRules()
        if position.is_short_of_men:  # no table holds such a position
            return Value(-1 if position.is_lost(rules) else 1, None)
        try:
            family = morris_family(rules.flying)
            return self._read(family, morris_place(position), position, with_plies)
        except MissingTableError:
            if position.is_lost(rules):
                return Value(-1, None)
            raise

    def _read(self, family: Family, place: Place, position: object, with_plies: bool) -> Value:
        _, section, index = place
        with self._table(family, place, position) as file:
            wdl = file.value(section, index)
            return Value(wdl, file.plies(section, index) if with_plies and wdl else None)

    @contextmanager
    def _table(self, family: Family, place: Place, position: object) -> Iterator[TableFile]:
        """The open table of a place; if it is missing the error names the position's subspace."""
        try:
            with self._open(family, place.table) as file:
                yield file
        except MissingTableError as error:
            command = family.command(self.root, place.table, position)
            name = f"{place.table} {place.section}"
            raise MissingTableError(name, error.path, command) from error

    def _read_explored(self, position: LascaPosition) -> Value | None:
        """The value of a position from the sets explored, best one that tells the plies."""
        from databases.explored import explored_tables, look_up_in

        best = None
        for table in explored_tables(self.root):
            with self._open(explored_family(), table) as file:
                found = look_up_in(file, position)
            if found is not None and (best is None or best.plies is None):
                best = Value(*found)
        return best

    def _open(self, family: Family, table: str) -> AbstractContextManager[TableFile]:
        return self._files.use(
            (family.folder, table), lambda: open_table(self.root, family, table, self._blocks)
        )


def open_tables(
    path: Path | str, *, max_open_files: int = 64, cache_bytes: int = 64 << 20
) -> Tables:
    """The tables under the folder `path`, for look-ups of both games.

    Nothing is opened yet: a table file opens at its first look-up, at most `max_open_files` stay
    open, and blocks of at most `cache_bytes` are kept in memory. A table written later is found.
    Raises StoreAccessError when `path` is something else than a folder.
    """
    root = Path(path)
    if root.exists() and not root.is_dir():
        raise StoreAccessError(f"{root}: not a folder of tables")
    return Tables(root, max_open_files, cache_bytes)
