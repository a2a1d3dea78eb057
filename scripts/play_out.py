"""Play won morris positions to their end by `best_moves`, from all over the tables.

python scripts/play_out.py [--tables DIR] [--flying RULE] [--men N] [--positions N] [--seed N]

Each position is played twice: against a loser that moves at random, and against one that resists as
long as it can. Seen to hold at every ply: the value stays; the distance to conversion falls, by
exactly one if the loser resists, until the conversion; the game ends and is won. The first game in
which something does not hold is shown, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import random
import sys
from argparse import Namespace

from tqdm import tqdm

from databases import open_tables
from databases.conversion import is_conversion
from databases.probe import Tables
from engine.morris import Position, Rules
from engine.morris.index import Subspace, position_at, subspaces_of_level
from engine.morris.rules import FLYING_OPTIONS, LOSING_TOTAL, MOST_MEN
from solver.commands import tables_folder

_TRIES = 200  # indices drawn from a subspace before it counts as one without wins


class PlayError(Exception):
    """A game that did not go as the tables say."""


def options() -> Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("--tables", metavar="DIR")
    parser.add_argument("--flying", choices=FLYING_OPTIONS, default=FLYING_OPTIONS[0])
    parser.add_argument("--men", type=int, default=MOST_MEN, help="men a side at most")
    parser.add_argument("--positions", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def subspaces(men: int) -> list[Subspace]:
    """All subspaces with totals up to `men`."""
    totals = range(LOSING_TOTAL + 1, men + 1)
    levels = [(r, c, k) for c in totals for r in totals if r <= c for k in range(r + 1)]
    return [subspace for level in levels for subspace in subspaces_of_level(*level)]


def drawn(tables: Tables, rules: Rules, among: list[Subspace], chance: random.Random) -> Position:
    """A won position of a subspace drawn at random; where few are won, of another one."""
    while True:
        subspace = chance.choice(among)
        for _ in range(_TRIES):
            position = position_at(subspace, chance.randrange(subspace.size))
            if tables.probe_wdl(position, rules) == 1:
                return position


def play(
    tables: Tables, rules: Rules, position: Position, chance: random.Random, *, resists: bool
) -> int:
    """Plays a won position to its end; the number of plies. Raises PlayError."""
    winner = position.white_to_move
    plies = 0
    while not position.is_over(rules):
        ours = position.white_to_move == winner
        before = tables.probe_dtc(position, rules)
        chosen = ours or resists
        moves = tables.best_moves(position, rules) if chosen else position.legal_moves(rules)
        move = chance.choice(moves)
        after = position.play(move)
        if tables.probe_wdl(after, rules) != (-1 if ours else 1):
            raise PlayError(f"{move} in {position} loses the win")
        if not is_conversion(move):
            left = tables.probe_dtc(after, rules)
            if left > before - 1 or (chosen and left != before - 1):
                raise PlayError(f"{move} in {position} leads from {before} plies to {left}")
        elif chosen and before != 1:
            raise PlayError(f"{move} in {position} converts, {before} plies before it should")
        position = after
        plies += 1
    if position.is_lost(rules) == (position.white_to_move == winner):
        raise PlayError(f"{position} is no win")
    return plies


def main() -> int:
    """Plays the games and prints how long they took."""
    chosen = options()
    rules = Rules(flying=chosen.flying)
    chance = random.Random(chosen.seed)
    among = subspaces(chosen.men)
    lengths: dict[bool, list[int]] = {True: [], False: []}
    with open_tables(tables_folder(chosen), cache_bytes=1 << 30) as tables:
        for _ in tqdm(range(chosen.positions), disable=None):
            start = drawn(tables, rules, among, chance)
            for resists, plies in lengths.items():
                try:
                    plies.append(play(tables, rules, start, chance, resists=resists))
                except PlayError as error:
                    print(f"from {start}, loser {_named(resists)}: {error}")
                    return 1
    for resists, plies in lengths.items():
        mean = sum(plies) / max(1, len(plies))
        print(
            f"loser {_named(resists)}: {len(plies):,} games won, "
            f"{mean:.1f} plies on the average, {max(plies, default=0)} at most"
        )
    return 0


def _named(resists: bool) -> str:
    return "resists" if resists else "moves at random"


if __name__ == "__main__":
    sys.exit(main())
