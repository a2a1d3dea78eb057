"""What each subcommand does: it calls the module with the logic and prints the result.

Each function takes the parsed options and returns the exit code. Invariant: only a function that
runs imports what it needs; those that answer look-ups never import numba.
"""

from __future__ import annotations

import os
import stat
import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from solver.errors import ResourceError, UsageError
from solver.games import Game, game_of

if TYPE_CHECKING:
    from solver.lasca_game import Family as LascaFamily
    from solver.progress import Progress
    from solver.room import Estimate


def tables_folder(options: Namespace) -> Path:
    """The folder of the tables: --tables, $LASKER_TABLES, or the user's data directory.

    It need not be there, but there must be nothing else in its place: UsageError, or the OSError
    that says why it can't be a folder.
    """
    if options.tables == "":
        raise UsageError("--tables names no folder")
    named = options.tables or os.environ.get("LASKER_TABLES")
    if named:
        folder = Path(named)
    else:
        data = os.environ.get("XDG_DATA_HOME", "")
        # The XDG specification wants a relative path ignored.
        home = Path(data) if os.path.isabs(data) else Path.home() / ".local" / "share"
        folder = home / "lasker"
    try:
        if not stat.S_ISDIR(folder.stat().st_mode):
            raise UsageError(f"{folder}: not a folder of tables")
    except FileNotFoundError:
        pass
    return folder


def _game(options: Namespace) -> Game:
    return game_of(options.game, options.flying)


def _men(options: Namespace) -> int:
    """The bound of --men for the game asked about, or its greatest."""
    from databases.catalog import LASCA_MOST_MEN
    from engine.morris.rules import LOSING_TOTAL, MOST_MEN

    least, most = (LOSING_TOTAL + 1, MOST_MEN) if options.game == "morris" else (2, LASCA_MOST_MEN)
    men = most if options.men is None else options.men
    if not least <= men <= most:
        raise UsageError(f"--men {men} is out of range for {options.game} ({least} to {most})")
    return men


def index(options: Namespace) -> int:
    """`lasker index`"""
    from solver.places import describe, position_of

    game = _game(options)
    if options.unrank:
        print(position_of(game, options.position))
    else:
        print(describe(game, game.parse(options.position)))
    return 0


def perft(options: Namespace) -> int:
    """`lasker perft`"""
    from solver.sequences import sequence_counts

    game = _game(options)
    for row in sequence_counts(game, game.parse(options.position), options.depth):
        print(row, flush=True)
    return 0


def probe(options: Namespace) -> int:
    """`lasker probe`"""
    from databases import open_tables
    from solver.answers import answer

    game = _game(options)
    position = game.parse(options.position)
    with open_tables(tables_folder(options)) as tables:
        found = answer(tables, game, position)
    print(found.to_json() if options.json else found.to_text())
    return 0


def line(options: Namespace) -> int:
    """`lasker line`"""
    from databases import open_tables
    from solver.answers import missing_distances, perfect_line

    game = _game(options)
    position = game.parse(options.position)
    with open_tables(tables_folder(options)) as tables:
        steps = perfect_line(tables, game, position, options.plies)
        missing = missing_distances(tables, game, [position, *(step.after for step in steps)])
    for number, step in enumerate(steps, start=1):
        print(step.to_text(number))
    if not game.successors(position):
        print("the game is over")
    if missing is not None:
        print(f"lasker: wins may go round in circles: {missing}", file=sys.stderr)
    return 0


def counts(options: Namespace) -> int:
    """`lasker counts`"""
    from solver import counts as counting

    if options.officers and (options.game != "lasca" or options.men is not None):
        raise UsageError("--officers goes with lasca and without --men")
    root = tables_folder(options)
    if options.officers:
        print(counting.as_csv(counting.officer_counts(root), counting.OfficerCounts))
    elif options.metric == "dtc":
        if options.game != "morris":
            raise UsageError("--metric dtc goes with morris")
        rows = counting.morris_distances(root, options.flying, _men(options))
        print(counting.as_csv(rows, counting.MorrisDistances))
    elif options.game == "morris":
        rows = counting.morris_counts(root, options.flying, _men(options))
        print(counting.as_csv(rows, counting.MorrisCounts))
    else:
        rows = counting.lasca_counts(root, _men(options))
        print(counting.as_csv(rows, counting.LascaCounts))
    return 0


def status(options: Namespace) -> int:
    """`lasker status`"""
    from solver.status import status as lines

    for text in lines(tables_folder(options)):
        print(text)
    return 0


@contextmanager
def _progress(options: Namespace) -> Iterator[Progress]:
    """The progress report of a long job, with --quiet and --log as given."""
    from solver.progress import Progress

    with ExitStack() as stack:
        log = None
        if options.log is not None:
            log = stack.enter_context(Path(options.log).open("a", encoding="utf-8"))
        progress = Progress(quiet=options.quiet, log=log)
        stack.callback(progress.end)
        yield progress


def _processors() -> int:
    return len(os.sched_getaffinity(0))


def _threads(options: Namespace) -> int:
    return options.threads or _processors()


def _memory(options: Namespace) -> int | None:
    """The bytes that a job may take, None when --memory does not bound it."""
    return None if options.memory is None else int(options.memory * (1 << 30))


def _make_room(options: Namespace, estimate: Estimate) -> None:
    """Print an estimate and, unless --force is given, refuse a job that does not fit."""
    from solver.room import describe, require

    root = tables_folder(options)
    if not options.quiet:
        print(describe(estimate, root, _threads(options)), file=sys.stderr)
    if not options.force:
        require(estimate, root, _memory(options))


def _nothing_to_do(options: Namespace, tables: int) -> int:
    if not options.quiet:
        print(f"nothing to do: all {tables} tables are there", file=sys.stderr)
    return 0


def solve_morris(options: Namespace) -> int:
    """`lasker solve morris`"""
    from databases.catalog import morris_dtc_family, morris_family
    from databases.store import Store
    from engine.morris import Rules
    from engine.morris.rules import MOST_MEN
    from solver.morris_job import estimate, solve_distances, table_names
    from solver.morris_job import solve_morris as solve

    men = options.men or MOST_MEN
    names = table_names(men)
    root = tables_folder(options)
    values = Store(root, morris_family(options.flying))
    distances = Store(root, morris_dtc_family(options.flying))
    wanted = [values, distances] if options.metric == "dtc" else [values]
    todo = [store for store in wanted if not store.report().whole.keys() >= set(names)]
    if not todo:
        return _nothing_to_do(options, len(wanted) * len(names))
    if options.men is None:
        _make_room(options, estimate(men, _threads(options), options.metric))
    settings = {"threads": _threads(options), "memory": _memory(options)}
    rules = Rules(flying=options.flying)
    with _progress(options) as progress:
        if values in todo:
            solve(values, men, rules, **settings, progress=progress)
        if distances in todo:
            solve_distances(values, distances, men, rules, **settings, progress=progress)
    return 0


def estimate_morris(options: Namespace) -> int:
    """`lasker estimate morris`"""
    from engine.morris.rules import MOST_MEN
    from solver.morris_job import estimate
    from solver.room import describe

    found = estimate(options.men or MOST_MEN, _threads(options), options.metric)
    print(describe(found, tables_folder(options), _threads(options)))
    return 0


def _lasca_families(options: Namespace) -> tuple[LascaFamily, ...]:
    """The families of classes that --men, or --officers and --columns, select."""
    from solver.lasca_job import families_by_men, officers_family

    if options.officers != (options.columns is not None):
        raise UsageError("--officers and --columns K go together")
    if options.max_positions is not None:
        raise UsageError("--max-positions goes with --from")
    try:
        return (
            (officers_family(options.columns),)
            if options.officers
            else families_by_men(options.men)
        )
    except ValueError as error:
        raise UsageError(str(error)) from None


def _most_positions(options: Namespace) -> int:
    """The bound of an exploration: --max-positions, and what fits into --memory."""
    from solver.lasca_explore import DEFAULT_MOST_POSITIONS, positions_within

    most = options.max_positions or DEFAULT_MOST_POSITIONS
    return most if options.memory is None else min(most, positions_within(_memory(options)))


def _solve_lasca_from(options: Namespace) -> int:
    """`lasker solve lasca --from`: prints what `probe` prints; explores only what is not known."""
    from databases import MissingTableError, open_tables
    from databases.explored import write_explored
    from solver.answers import answer
    from solver.lasca_explore import solve_from

    game = game_of("lasca")
    position = game.parse(options.start)
    root = tables_folder(options)
    try:
        with open_tables(root) as tables:
            print(answer(tables, game, position).to_text())
        return 0
    except MissingTableError:
        pass  # that is what this command is for
    with _progress(options) as progress:
        explored = solve_from(position, _most_positions(options), progress)
    write_explored(root, position, explored)
    print(answer(explored, game, position).to_text())
    return 0


def solve_lasca(options: Namespace) -> int:
    """`lasker solve lasca`"""
    if options.start is not None:
        return _solve_lasca_from(options)
    from databases.catalog import lasca_family
    from databases.store import Store
    from solver.lasca_cost import estimate, too_large
    from solver.lasca_job import solve_families, table_names
    from solver.room import free_memory

    families = _lasca_families(options)
    store = Store(tables_folder(options), lasca_family())
    names = table_names(families)
    if store.report().whole.keys() >= set(names):
        return _nothing_to_do(options, len(names))
    if reason := too_large(families):
        raise ResourceError(reason)
    memory = free_memory() if options.memory is None else _memory(options)
    _make_room(options, estimate(families, _threads(options), memory))
    with _progress(options) as progress:
        solve_families(
            store,
            families,
            threads=_threads(options),
            memory=memory,
            progress=progress,
        )
    return 0


def estimate_lasca(options: Namespace) -> int:
    """`lasker estimate lasca`"""
    from solver.room import describe

    root, threads, reason = tables_folder(options), _threads(options), None
    if options.start is not None:
        from solver.lasca_explore import estimate_from

        game_of("lasca").parse(options.start)
        # What a position leads to is only known once it is explored; the bound is known before.
        found, threads = estimate_from(_most_positions(options)), 1
        print("at most:")
    else:
        from solver.lasca_cost import estimate, too_large

        families = _lasca_families(options)
        found, reason = estimate(families, threads, _memory(options)), too_large(families)
    print(describe(found, root, threads))
    if reason:
        print(f"but it can't be solved: {reason}")
    return 0


def verify(options: Namespace) -> int:
    """`lasker verify`"""
    from solver.verify_job import verify_lasca, verify_morris

    root = tables_folder(options)
    men = None if options.men is None else _men(options)
    with _progress(options) as progress:
        settings = {
            "sample": options.sample,
            "known": options.known,
            "threads": _processors(),
            "progress": progress,
        }
        if options.game == "morris":
            report = verify_morris(root, options.flying, men, **settings)
        else:
            report = verify_lasca(root, men, **settings)
    for text in report.lines():
        print(text)
    return 0 if report.is_clean else 1


def quickstart(options: Namespace) -> int:
    """`lasker quickstart`"""
    from solver.quickstart import quickstart as run

    words = ["--tables", str(tables_folder(options))]
    if options.log is not None:
        words += ["--log", options.log]
    return run(words, quiet=options.quiet)
