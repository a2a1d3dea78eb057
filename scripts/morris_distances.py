"""Prints what the tables of distances to conversion say, as the Markdown of docs/results.md.

    .venv/bin/python scripts/morris_distances.py --tables DIR [--flying board] [--log FILE]

For every unit how many won positions have no winning conversion, the longest distance with an
example, and, from the log of the solve, time and memory; at last the line of the longest of all.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from pathlib import Path

import numpy as np

from databases import Tables, open_tables
from databases.catalog import morris_dtc_family, morris_family
from databases.store import Store
from engine.morris import Position, Rules
from engine.morris.index import Subspace, position_at, subspaces_of_level
from solver.answers import perfect_line
from solver.games import Morris
from solver.morris_job import units

_LOG_LINE = re.compile(r"r(\d+)c(\d+)k\d+: .* steps in ([\d.]+) s, peak memory (.*)$")


def example(tables: Tables, store: Store, subspace: Subspace, plies: int, rules: Rules) -> Position:
    """The first position of a subspace with this distance: the longest one of its section."""
    with store.open(subspace.stem) as table:
        entries = table.plies_array(subspace.section)
    for index in np.flatnonzero(entries == plies).tolist():
        position = position_at(subspace, index)
        # Entries without a meaning repeat those with one.
        if tables.probe_dtc(position, rules) == plies:
            return position
    raise ValueError(f"{subspace} has no position with a distance of {plies} plies")


def distances(root: Path, flying: str, log: Path | None) -> None:
    """The table of the units, then the longest line."""
    rules = Rules(flying=flying)
    store = Store(root, morris_dtc_family(flying))
    values, sizes = Store(root, morris_family(flying)).report(), store.report()
    seconds: Counter[tuple[int, int]] = Counter()
    memory: dict[tuple[int, int], str] = {}
    for line in log.read_text().splitlines() if log is not None else ():
        if found := _LOG_LINE.search(line):
            unit = int(found[1]), int(found[2])
            seconds[unit] += float(found[3])
            memory[unit] = found[4]
    print("| unit | won | without a winning conversion | longest | example ", end="")
    print("| MB | seconds | peak memory |")
    print("| --- | ---: | ---: | ---: | --- | ---: | ---: | ---: |")
    whole: Counter[str] = Counter()
    longest_of_all: tuple[int, Position | None] = (0, None)
    with open_tables(root) as tables:
        for r, c in units(10):
            sums: Counter[str] = Counter()
            longest, where = 0, None
            for subspaces in (subspaces_of_level(r, c, k) for k in range(r + 1)):
                stem = subspaces[0].stem
                sums["bytes"] += sizes.whole[stem].size
                sums["won"] += sum(s.win for s in values.whole[stem].header.sections)
                counts = sizes.whole[stem].header.about["distances"]
                sums["without"] += sum(map(sum, counts.values()))
                for subspace in subspaces:
                    if len(counts[subspace.section]) > longest:
                        longest, where = len(counts[subspace.section]), subspace
            whole += sums
            text = ""
            if where is not None:
                position = example(tables, store, where, longest, rules)
                longest_of_all = max(longest_of_all, (longest, position), key=lambda pair: pair[0])
                text = f"`{position}`"
            print(
                f"| ({r}, {c}) | {sums['won']:,} | {sums['without']:,} | {longest or ''} | {text} "
                f"| {sums['bytes'] / 1e6:.1f} | {seconds[r, c]:.0f} | {memory.get((r, c), '')} |"
            )
        print(
            f"| all | {whole['won']:,} | {whole['without']:,} | {longest_of_all[0]} | "
            f"| {whole['bytes'] / 1e6:.1f} | {sum(seconds.values()):.0f} | |\n"
        )
        print(f"The longest of all, {longest_of_all[1]}:\n")
        for number, step in enumerate(
            perfect_line(tables, Morris(rules), longest_of_all[1], longest_of_all[0]), start=1
        ):
            print("   ", step.to_text(number))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", required=True, type=Path)
    parser.add_argument("--flying", default="board")
    parser.add_argument("--log", type=Path)
    arguments = parser.parse_args()
    distances(arguments.tables, arguments.flying, arguments.log)


if __name__ == "__main__":
    main()
