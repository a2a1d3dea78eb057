"""The command line `lasker`: its arguments, where its output goes, and its exit codes.

What a subcommand does is in `solver.commands`. Invariant: results go to stdout and everything else
to stderr; an error is one line, never a traceback; nothing is imported before it is known to be
needed, so a look-up stays fast.
"""

from __future__ import annotations

import argparse
import errno
import sys
from typing import NoReturn, TextIO

from engine.morris.rules import FLYING_OPTIONS
from solver import commands
from solver.games import GAMES, METRICS
from solver.streams import discard, standard_streams

EXIT_USAGE = 2
EXIT_MISSING = 3
EXIT_CORRUPT = 4
EXIT_RESOURCES = 5
EXIT_BUG = 70
EXIT_INTERRUPTED = 130


class _Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line, and which takes no abbreviated options."""

    def __init__(self, **settings: object) -> None:
        super().__init__(allow_abbrev=False, **settings)  # type: ignore[arg-type]

    def error(self, message: str) -> NoReturn:
        self.exit(EXIT_USAGE, f"lasker: {_one_line(message)}; see {self.prog} --help\n")

    def print_help(self, file: TextIO | None = None) -> None:
        """Writes the help; argparse by itself would pass over an error in that."""
        (file or sys.stdout).write(self.format_help())


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    with standard_streams():
        try:
            code = _run(arguments)
            sys.stdout.flush()
        except KeyboardInterrupt:
            print("lasker: interrupted", file=sys.stderr)
            return EXIT_INTERRUPTED
        except BrokenPipeError:
            # Whoever read the output has left, as in `lasker counts morris | head`.
            discard(sys.stdout)
            return 0
        except Exception as error:
            code, message = _explain(error)
            print(f"lasker: {message}", file=sys.stderr)
    return code


def _run(arguments: list[str] | None) -> int:
    try:
        options = _parser().parse_args(arguments)
    except SystemExit as ended:  # after --help, or after an error that argparse has printed
        return int(ended.code or 0)
    return options.run(options)


def _explain(error: Exception) -> tuple[int, str]:
    """The exit code and the line that an error stands for."""
    from databases.errors import (
        CorruptTableError,
        MissingTableError,
        NoSpaceError,
        StoreAccessError,
        StoreBusyError,
        WrongRulesError,
    )
    from engine.errors import IllegalMoveError, IllegalPositionError
    from solver.errors import ResourceError, UsageError

    codes = {
        (IllegalPositionError, IllegalMoveError, UsageError, StoreAccessError): EXIT_USAGE,
        (MissingTableError,): EXIT_MISSING,
        (CorruptTableError, WrongRulesError): EXIT_CORRUPT,
        (NoSpaceError, StoreBusyError, ResourceError): EXIT_RESOURCES,
    }
    for classes, code in codes.items():
        if isinstance(error, classes):
            return code, _one_line(error)
    if isinstance(error, MemoryError):
        return EXIT_RESOURCES, "out of memory; ask for less, or free some"
    if isinstance(error, OSError):
        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        code = EXIT_RESOURCES if full else EXIT_USAGE
        if error.filename is not None:
            return code, _one_line(f"{error.filename}: {error.strerror}")
        if full:
            return code, f"the output cannot be written: {error.strerror}"
    what = _one_line(f"{type(error).__name__}: {error}")
    return EXIT_BUG, f"a fault of this program, please report it: {what}"


def _one_line(message: object) -> str:
    return " ".join(str(message).split())


def _number(least: int, most: int | None = None) -> type:
    """An argument type: a whole number from `least` to `most`."""
    bounds = f"at least {least}" if most is None else f"{least} to {most}"

    def parse(text: str) -> int:
        if not (text.isascii() and text.removeprefix("-").isdigit() and len(text) < 16):
            raise argparse.ArgumentTypeError(f"{text!r} is no whole number")
        number = int(text)
        if number < least or (most is not None and number > most):
            raise argparse.ArgumentTypeError(f"{number} is out of range ({bounds})")
        return number

    return parse  # type: ignore[return-value]


def _gigabytes(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of gigabytes") from None
    if not 0 < number < 1e6:
        raise argparse.ArgumentTypeError(f"{text} gigabytes make no sense")
    return number


_MOST_POSITIONS = 2**31 - 1  # as many as an exploration can number

_POSITION = 'such as "W:Wa1,d7:Bb4:H8,9" (morris) or "W:a1w d4WbbB g7b" (lasca), or start'


def _add_common(parser: _Parser, **defaults: object) -> None:
    """The options of every command. They may stand before the command or after it."""
    # A default of the command's parser would undo an option that stood before the command.
    for name in ("tables", "quiet", "log"):
        defaults.setdefault(name, argparse.SUPPRESS)
    parser.add_argument(
        "--tables",
        metavar="DIR",
        default=defaults["tables"],
        help="folder of the tables (else $LASKER_TABLES, else $XDG_DATA_HOME/lasker)",
    )
    parser.add_argument(
        "--quiet", action="store_true", default=defaults["quiet"], help="no progress on stderr"
    )
    parser.add_argument(
        "--log", metavar="FILE", default=defaults["log"], help="append progress lines to FILE"
    )


def _parser() -> _Parser:
    parser = _Parser(
        prog="lasker",
        description="Perfect-play tables for the two games of Emanuel Lasker.",
    )
    _add_common(parser, tables=None, quiet=False, log=None)
    subcommands = parser.add_subparsers(metavar="COMMAND", required=True)

    def add(into: argparse._SubParsersAction, name: str, run: object, text: str) -> _Parser:
        added = into.add_parser(name, help=text, description=text)
        _add_common(added)
        if run is not None:
            added.set_defaults(run=run)
        return added

    add(subcommands, "quickstart", commands.quickstart, "solve, verify and query small tables")

    for name, morris, lasca, text in (
        ("solve", commands.solve_morris, commands.solve_lasca, "make tables"),
        ("estimate", commands.estimate_morris, commands.estimate_lasca, "what solving would cost"),
    ):
        games = add(subcommands, name, None, text).add_subparsers(metavar="GAME", required=True)
        _add_morris_selection(add(games, "morris", morris, f"{text}: Lasker Morris"))
        _add_lasca_selection(add(games, "lasca", lasca, f"{text}: Lasca"))

    add(subcommands, "status", commands.status, "which tables are there, and which are not")

    def add_query(name: str, run: object, text: str) -> _Parser:
        added = add(subcommands, name, run, text)
        added.add_argument("game", choices=GAMES)
        added.add_argument(
            "--flying",
            choices=FLYING_OPTIONS,
            default=FLYING_OPTIONS[0],
            help="morris: when a man may move to any empty point (default: %(default)s)",
        )
        return added

    probe = add_query("probe", commands.probe, "value of a position and of each move, best first")
    probe.add_argument("position", help=_POSITION)
    probe.add_argument("--json", action="store_true", help="one JSON object on one line")

    line = add_query("line", commands.line, "a line of perfect play")
    line.add_argument("position", help=_POSITION)
    line.add_argument("--plies", type=_number(0), help="length (default: to the end if known)")

    counts = add_query("counts", commands.counts, "CSV of win/draw/loss for each solved subspace")
    counts.add_argument(
        "--metric",
        choices=METRICS,
        default=METRICS[0],
        help="morris: dtc counts distances to conversion instead, by entries of the tables and not "
        "by placements (default: %(default)s)",
    )
    counts.add_argument(
        "--officers", action="store_true", help="lasca: the endings of 11 + 11 officers instead"
    )
    verify = add_query("verify", commands.verify, "check the tables by independent code")
    verify.add_argument("--known", action="store_true", help="compare with the published values")
    verify.add_argument(
        "--sample",
        type=_number(1),
        metavar="N",
        help="look at about N positions of each subspace only (default: at all; at samples where"
        " there are more than two thousand million)",
    )
    for added in (counts, verify):
        added.add_argument(
            "--men",
            type=_number(2, 22),
            help="bound of each side's total (morris) or of all men (lasca); default: none",
        )

    index = add_query("index", commands.index, "where a position stands in the tables")
    index.add_argument("position", help=f'{_POSITION}; with --unrank "SUBSPACE INDEX"')
    index.add_argument("--unrank", action="store_true", help="from a place back to its position")

    perft = add_query("perft", commands.perft, "CSV of the number of move sequences by length")
    perft.add_argument("depth", type=_number(0, 100))
    perft.add_argument("position", nargs="?", default="start", help=_POSITION)
    return parser


def _add_morris_selection(parser: _Parser) -> None:
    parser.add_argument(
        "--men", type=_number(3, 10), help="men a side at most (default: the whole game, ten)"
    )
    parser.add_argument("--flying", choices=FLYING_OPTIONS, default=FLYING_OPTIONS[0])
    parser.add_argument(
        "--metric",
        choices=METRICS,
        default=METRICS[0],
        help="wdl: values; dtc: distances to conversion too (default: %(default)s)",
    )
    _add_resources(parser)


def _add_lasca_selection(parser: _Parser) -> None:
    selection = parser.add_mutually_exclusive_group(required=True)
    selection.add_argument("--men", type=_number(2, 22), help="every class of at most so many men")
    selection.add_argument(
        "--officers", action="store_true", help="11 + 11 men, all officers; with --columns"
    )
    selection.add_argument("--from", dest="start", metavar="POSITION", help="what it leads to")
    parser.add_argument("--columns", type=_number(1, 22), help="with --officers: columns at most")
    parser.add_argument(
        "--max-positions",
        type=_number(1, _MOST_POSITIONS),
        help="with --from: positions explored at most",
    )
    _add_resources(parser)


def _add_resources(parser: _Parser) -> None:
    parser.add_argument("--threads", type=_number(1, 1024), help="default: one a processor")
    parser.add_argument(
        "--memory",
        type=_gigabytes,
        metavar="GB",
        help="memory to use at most (default: what is free)",
    )
    parser.add_argument("--force", action="store_true", help="start although it may not suffice")


if __name__ == "__main__":
    sys.exit(main())
