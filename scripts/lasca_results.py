"""Prints what the tables of Lasca say, as the Markdown of docs/results.md.

    .venv/bin/python scripts/lasca_results.py --tables DIR [--log FILE]

For each number of men: positions, values, bytes, and from the log of the solve the seconds it took;
which material wins; the longest wins, with a line of perfect play; and of the endings of eleven
officers a side how often the side to move wins, by columns and by whose they are.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from databases import open_tables
from databases.catalog import LASCA_MOST_MEN, LASCA_SECTION, lasca_family
from databases.store import Store
from engine.lasca import Position
from engine.lasca.index import LascaClass, classes
from engine.lasca.rules import MEN_PER_SIDE
from solver.answers import perfect_line
from solver.counts import LascaCounts, lasca_counts, officer_counts
from solver.games import game_of

FIELDS = ("total", "win", "draw", "loss")
WIDTH = 100


def solve_seconds(log: Path | None) -> Counter[str]:
    """Seconds of a thread by the name of the class, as the lines of a log tell them."""
    seconds: Counter[str] = Counter()
    if log is not None:
        pattern = re.compile(r"(w\d+b\d+-\S+?)(?: and \S+)?: .* positions, ([\d.]+) s, ")
        for line in log.read_text().splitlines():
            if found := pattern.search(line):
                seconds[found[1]] += float(found[2])
    return seconds


def ending(columns: int) -> tuple[str, LascaClass]:
    """Title and class of the ending of eleven officers a side in so many columns."""
    plural = "" if columns == 1 else "s"
    return f"11 + 11 officers, {columns} column{plural}", LascaClass(*[MEN_PER_SIDE] * 4, columns)


def percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %"


def shares(win: int, draw: int, loss: int) -> str:
    """Won, drawn and lost, in percent."""
    whole = win + draw + loss
    return " / ".join(f"{100 * part / whole:.0f}" for part in (win, draw, loss))


def totals(store: Store, rows: list[LascaCounts], log: Path | None) -> None:
    """A line for each number of men, both colours together, and for the officers' endings."""
    seconds = solve_seconds(log)
    states = store.report().whole
    sums: dict[str, Counter[str]] = {}

    def add(title: str, names: Iterator[str], counts: list[object]) -> None:
        numbers = sums.setdefault(title, Counter())
        for name in names:
            numbers["bytes"] += states[name].size
            numbers["seconds"] += seconds[name]
        for row in counts:
            numbers.update({field: getattr(row, field) for field in FIELDS})

    for row in rows:
        if row.white_officers == "all":
            men = row.white_men, row.black_men
            add(f"{sum(men)} men", (each.name for each in classes(*men)), [row])
    for row in officer_counts(store.root):
        title, of = ending(row.columns)
        add(title, iter([of.name]), [row])
    print("| what | positions | won | drawn | lost | MB | bytes a position | seconds of a thread |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for title, found in sums.items():
        numbers = " | ".join(f"{found[field]:,}" for field in FIELDS)
        print(
            f"| {title} | {numbers} | {found['bytes'] / 1e6:.1f} "
            f"| {found['bytes'] / found['total']:.3f} | {found['seconds']:.0f} |"
        )
    print()


def material(rows: list[LascaCounts]) -> None:
    """What men and officers are worth: shares won, drawn and lost for the side to move."""
    by_men = {(row.white_men, row.black_men): row for row in rows if row.white_officers == "all"}
    most = max(sum(men) for men in by_men)
    print("Won / drawn / lost for the side to move, in percent of all placements:\n")
    print("| its men \\ the other's | " + " | ".join(map(str, range(1, most))) + " |")
    print("| --- " * most + "|")
    for mine in range(1, most):
        found = [by_men.get((mine, other)) for other in range(1, most)]
        cells = [shares(row.win, row.draw, row.loss) if row else "" for row in found]
        print(f"| {mine} | " + " | ".join(cells) + " |")
    print()
    for men in range(2, most // 2 + 1):
        print(f"{men} men against {men}, by officers:\n")
        print("| its officers \\ the other's | " + " | ".join(map(str, range(men + 1))) + " |")
        print("| --- " * (men + 2) + "|")
        grid = {
            (row.white_officers, row.black_officers): shares(row.win, row.draw, row.loss)
            for row in rows
            if row.white_men == row.black_men == men
        }
        for mine in range(men + 1):
            print(f"| {mine} | " + " | ".join(grid[mine, o] for o in range(men + 1)) + " |")
        print()


def longest_win(store: Store, names: list[LascaClass]) -> tuple[int, LascaClass]:
    """The plies of the longest win in these classes, and the first class that has it."""
    found = []
    for of in names:
        with store.open(of.name) as table:
            found.append((table.sections[LASCA_SECTION].longest_win or 0, of))
    return max(found, key=lambda pair: pair[0])


def first_win(store: Store, of: LascaClass, plies: int) -> tuple[Position, int]:
    """The first position of a class that is won in so many plies, and how many there are."""
    with store.open(of.name) as table:
        win = np.unpackbits(table.planes(LASCA_SECTION)[0], count=of.size, bitorder="little")
        at = np.flatnonzero((table.plies_array(LASCA_SECTION) == plies) & win.view(bool))
    return of.unrank(int(at[0])), len(at)


def longest(store: Store, rows: list[LascaCounts]) -> list[Position]:
    """The longest win by men, in a table; the positions of the longest by men and of officers."""
    groups = [
        (f"{row.white_men} against {row.black_men}", list(classes(row.white_men, row.black_men)))
        for row in rows
        if row.white_officers == "all"
    ]
    endings = [ending(row.columns) for row in officer_counts(store.root)]
    groups += [(title, [of]) for title, of in endings]
    print("| men, the winner to move | plies | in the class | such positions there | one of them |")
    print("| --- | ---: | --- | ---: | --- |")
    best: dict[bool, tuple[int, Position]] = {}
    for title, names in groups:
        plies, of = longest_win(store, names)
        if not plies:
            continue
        position, number = first_win(store, of, plies)
        print(f"| {title} | {plies} | {of.name} | {number:,} | `{position}` |")
        real = of.white_men == MEN_PER_SIDE
        if real not in best or best[real][0] < plies:
            best[real] = plies, position
    print()
    return [position for _, position in best.values()]


def line_of_play(store: Store, position: Position) -> None:
    """A line of perfect play to the end, as one paragraph."""
    with open_tables(store.root) as tables:
        steps = perfect_line(tables, game_of("lasca"), position, None)
    moves = [str(step.move) for step in steps]
    turns = [
        f"{number}. {' '.join(moves[at : at + 2])}"
        for number, at in enumerate(range(0, len(moves), 2), start=1)
    ]
    print(f"From `{position}`, {len(steps)} plies:\n")
    text = ""
    for turn in turns:
        if len(text) + 1 + len(turn) > WIDTH:
            print(text)
            text = ""
        text += f" {turn}" if text else turn
    print(f"{text}\n")


def real_endings(store: Store) -> None:
    """How the side to move fares in endings of eleven officers a side."""
    print("| columns | the mover's | positions | won | drawn | lost |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: |")
    for row in officer_counts(store.root):
        of = ending(row.columns)[1]
        with store.open(of.name) as table:
            planes = [
                np.unpackbits(plane, count=of.size, bitorder="little")
                for plane in table.planes(LASCA_SECTION)
            ]
        ends = [*(group.base for group in of.groups[1:]), of.size]
        by_mine: dict[int, Counter[str]] = {}
        for group, end in zip(of.groups, ends, strict=True):
            win, loss = (int(plane[group.base : end].sum()) for plane in planes)
            numbers = {"total": end - group.base, "win": win, "loss": loss}
            by_mine.setdefault(group.white_columns, Counter()).update(numbers)
        for mine, found in [*by_mine.items(), ("all", sum(by_mine.values(), Counter()))]:
            drawn = found["total"] - found["win"] - found["loss"]
            parts = [percent(n, found["total"]) for n in (found["win"], drawn, found["loss"])]
            print(f"| {of.columns} | {mine} | {found['total']:,} | " + " | ".join(parts) + " |")
    print()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", required=True, type=Path)
    parser.add_argument("--log", type=Path)
    arguments = parser.parse_args()
    store = Store(arguments.tables, lasca_family())
    rows = lasca_counts(arguments.tables, LASCA_MOST_MEN)
    if not rows:
        parser.error(f"{store.folder}: no tables; solve some first")
    totals(store, rows, arguments.log)
    material(rows)
    for position in longest(store, rows):
        line_of_play(store, position)
    real_endings(store)


if __name__ == "__main__":
    main()
