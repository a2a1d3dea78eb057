"""Packed positions: one number for a position, its mirror image and its swapped half turn."""

from __future__ import annotations

import random

from naive_lasca import random_position

from engine.lasca import Position
from engine.lasca.index import LascaClass, classes
from engine.lasca.packing import LOW_BITS, pack, unpack


def test_symmetric_images_pack_alike_and_unpack():
    rng = random.Random(47)
    for _ in range(300):
        men = "".join(man.upper() if rng.random() < 0.4 else man for man in "w" * 11 + "b" * 11)
        position = random_position(rng, men, rng.randint(3, 10))
        number = pack(position)
        assert number == pack(position.mirrored()) == pack(position.colours_swapped())
        assert unpack(number) in (position, position.mirrored())
        assert number >> LOW_BITS < 1 << 47


def test_different_positions_pack_differently():
    for of in (*classes(1, 1), LascaClass(2, 1, 1, 0, 2)):
        positions = [of.unrank(i) for i in range(of.size)]
        orbits = {frozenset((p, p.mirrored())) for p in positions}
        assert len({pack(p) for p in positions}) == len(orbits)


def test_the_start_and_the_empty_board():
    for text in ("start", "W:"):
        position = Position.parse(text)
        assert unpack(pack(position)) == position
