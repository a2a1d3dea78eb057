"""Prints what the tables of the whole game say, as the Markdown of docs/results.md.

    .venv/bin/python scripts/morris_results.py --tables DIR [--flying board] [--log FILE]

The value of the start, of each first move and of the replies to it, of every start with fewer men,
the totals of every unit, and, from the log of the solve, the time and memory it took.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter, defaultdict
from pathlib import Path

from databases import Tables, open_tables
from databases.catalog import morris_family
from databases.store import Store
from engine.morris import Position, Rules
from engine.morris.board import SYMMETRIES, image
from engine.morris.index import subspaces_of_level
from solver.morris_job import units

NAMES = {1: "win", 0: "draw", -1: "loss"}
MEN = range(3, 11)


def canonical(position: Position) -> tuple[int, int]:
    """The least of a position's images."""
    return min((image(position.white, s), image(position.black, s)) for s in range(len(SYMMETRIES)))


def classes_of_moves(position: Position, rules: Rules) -> list[tuple[str, Position]]:
    """One move of each class of moves that lead to the same position but for a symmetry."""
    seen = {}
    for move in sorted(position.legal_moves(rules), key=str):
        after = position.play(move)
        seen.setdefault(canonical(after), (str(move), after))
    return list(seen.values())


def first_moves(tables: Tables, rules: Rules) -> None:
    start = Position.parse("start")
    print(f"The start is a **{NAMES[tables.probe_wdl(start, rules)]}**.\n")
    print("| first move | value for White | replies, value for Black |")
    print("| --- | --- | --- |")
    for move, after in classes_of_moves(start, rules):
        by_value: dict[int, list[str]] = defaultdict(list)
        for reply, then in classes_of_moves(after, rules):
            by_value[-tables.probe_wdl(then, rules)].append(reply)
        replies = "; ".join(f"{NAMES[v]}: {', '.join(by_value[v])}" for v in sorted(by_value)[::-1])
        print(f"| {move} | {NAMES[-tables.probe_wdl(after, rules)]} | {replies} |")
    print()


def starts(tables: Tables, rules: Rules) -> None:
    print("| first player's men \\ second player's | " + " | ".join(map(str, MEN)) + " |")
    print("| --- " * (len(MEN) + 1) + "|")
    for mine in MEN:
        row = [NAMES[tables.probe_wdl(Position(0, 0, mine, other, True), rules)] for other in MEN]
        print(f"| {mine} | " + " | ".join(row) + " |")
    print()


def totals(store: Store, log: Path | None) -> None:
    seconds: Counter[tuple[int, int]] = Counter()
    memory: dict[tuple[int, int], str] = {}
    if log is not None:
        pattern = re.compile(r"r(\d+)c(\d+)k\d+: .* ([\d.]+) s, peak memory (.*)$")
        for line in log.read_text().splitlines():
            if found := pattern.search(line):
                unit = int(found[1]), int(found[2])
                seconds[unit] += float(found[3])
                memory[unit] = found[4]
    print("| unit | positions | won | drawn | lost | MB | seconds | peak memory |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    whole: Counter[str] = Counter()
    report = store.report()
    for r, c in units(10):
        sums: Counter[str] = Counter()
        for k in range(r + 1):
            state = report.whole[subspaces_of_level(r, c, k)[0].stem]
            sums["bytes"] += state.size
            for section in state.header.sections:
                for field in ("entries", "win", "draw", "loss"):
                    sums[field] += getattr(section, field)
        whole += sums
        numbers = " | ".join(f"{sums[field]:,}" for field in ("entries", "win", "draw", "loss"))
        print(
            f"| ({r}, {c}) | {numbers} | {sums['bytes'] / 1e6:.1f} | {seconds[r, c]:.0f} "
            f"| {memory.get((r, c), '')} |"
        )
    numbers = " | ".join(f"{whole[field]:,}" for field in ("entries", "win", "draw", "loss"))
    print(f"| all | {numbers} | {whole['bytes'] / 1e6:.1f} | {sum(seconds.values()):.0f} | |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", required=True, type=Path)
    parser.add_argument("--flying", default="board")
    parser.add_argument("--log", type=Path)
    arguments = parser.parse_args()
    rules = Rules(flying=arguments.flying)
    with open_tables(arguments.tables) as tables:
        first_moves(tables, rules)
        starts(tables, rules)
    totals(Store(arguments.tables, morris_family(arguments.flying)), arguments.log)


if __name__ == "__main__":
    main()
