"""Read a value from a table file with nothing of this project, by databases/FORMAT.md alone.

python read_table.py FILE [SECTION INDEX | MORRIS-POSITION]
    a place is such as R3 786952; without one it prints what the file says about itself
"""

import json
import struct
import sys
import zlib
from itertools import accumulate, combinations, product
from math import comb
from pathlib import Path

import zstandard

POINTS = "a7d7g7g4g1d1a1a4" + "c5d5e5e4e3d3c3c4" + "b6d6f6f4f2d2b2b4"


def need(condition, fault):
    if not condition:
        sys.exit(f"{sys.argv[1]}: {fault}")


def open_table(path):
    """The bytes of a file, its header, and (offset, size, check) of each block."""
    raw = Path(path).read_bytes()
    need(raw[:12] == b"LASKTBL\x1a\1\0\0\0" and raw[-4:] == b"LEND", "no whole table of version 1")
    at, index_size, _, size, *crcs = struct.unpack("<QQQQIII", raw[-48:-4])
    need(crcs[2] == zlib.crc32(raw[-48:-8]) and size == len(raw), "damaged trailer")
    index, header = raw[at : at + index_size], raw[at + index_size : -48]
    need(crcs[:2] == [zlib.crc32(index), zlib.crc32(header)], "damaged index or header")
    blocks = list(struct.iter_unpack("<II", index))
    offsets = accumulate((size for size, _ in blocks), initial=16)
    return raw, json.loads(header), [(next(offsets), *block) for block in blocks]


def read(raw, header, blocks, name, index):
    """Value, 0 draw, 1 loss, 2 win for the player to move, or 3 for none, and plies of an entry."""

    def block(number):
        """The bytes of a block, or the number that all its entries have."""
        offset, size, check = blocks[number]
        frame = raw[offset : offset + size]
        need(not size or zlib.crc32(frame) == check, f"damaged block {number}")
        return zstandard.ZstdDecompressor().decompress(frame) if size else check

    def number_in(block):
        """The entry of a block of plies or scores."""
        width = section["plies_bytes"]
        alike = isinstance(block, int)
        return block if alike else int.from_bytes(block[entry :: len(block) // width], "little")

    first = 0
    for section in header["sections"]:
        count, wdl = -(-section["entries"] // header["block_entries"]), section["win"] is not None
        if section["name"] == name:
            break
        kinds = wdl + (section["plies_bytes"] > 0) + (section["key_bytes"] > 0)
        first += count * (1 if "scores" in section else kinds)
    need(section["name"] == name and 0 <= index < section["entries"], f"has no {name} {index}")
    number, entry = divmod(index, header["block_entries"])
    value = block(first + number) if wdl else 3
    if "scores" in section:
        score = number_in(value)
        draw = score == 256 ** section["plies_bytes"] - 1
        return (0, "") if draw else (1 + score % 2, score)
    if isinstance(value, bytes):
        win, loss = value[entry // 8], value[len(value) // 2 + entry // 8]
        value = 2 * (win >> entry % 8 & 1) + (loss >> entry % 8 & 1)
    stored = section["plies_bytes"] and value
    return value, number_in(block(first + count * wdl + number)) if stored else ""


def image(points, permutation):
    return sum(1 << permutation[p] for p in points)


def place(text):
    """Section and index of a morris position by their definition, counting the lesser rows."""
    side, *fields = text.split(":")
    men = [[POINTS.index(p) // 2 for p in f[1:].split(",") if p] for f in fields[:2]]
    hands = [int(hand) for hand in fields[2][1:].split(",")] if len(fields) > 2 else [0, 0]
    mover = "WB".index(side)
    totals = [len(men[player]) + hands[player] for player in (mover, 1 - mover)]
    row, column = men[:: 1 if (mover == 0) == (totals[0] < totals[1]) else -1]
    symmetries = [
        [(8 * (swap ^ p // 8) if p < 16 else 16) + (turn + flip * p) % 8 for p in range(24)]
        for swap, flip, turn in product((0, 1), (1, -1), (0, 2, 4, 6))
    ]
    chosen = min(symmetries, key=lambda symmetry: image(row, symmetry))
    least, rank = image(row, chosen), 0
    for points in combinations(range(24), len(row)):
        if (mask := image(points, range(24))) < least:
            rank += all(image(points, symmetry) >= mask for symmetry in symmetries)
    free = [p for p in range(24) if not least >> p & 1]
    column = sorted(free.index(chosen[p]) for p in column)
    index = rank * comb(len(free), len(column)) + sum(comb(i, n) for n, i in enumerate(column, 1))
    return f"{'R' if totals[0] < totals[1] else 'C'}{len(column)}", index


table = open_table(sys.argv[1])
if len(sys.argv) == 2:
    print(json.dumps(table[1], indent=1))
else:
    where = place(sys.argv[2]) if len(sys.argv) == 3 else (sys.argv[2], int(sys.argv[3]))
    value, plies = read(*table, *where)
    print(*where, ("draw", "loss", "win", "entry")[value], "unknown" if plies == 65535 else plies)
