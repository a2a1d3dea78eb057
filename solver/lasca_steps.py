"""The steps of all positions that share their squares, found at once.

In a class, positions with the same squares differ in their *contents* alone: who is where in the
columns. Where a step leads in the index falls apart likewise: the squares part of the new number
depends on the squares alone, the contents part on the contents, on the order in which the columns
come to stand, and on whether the commander is promoted. The few orders that occur are met again and
again, so a *row* of new contents numbers, one for each contents number, is made once for each and
kept while the solver is at the group. Then a step costs one addition. A row of column codes
likewise spares taking the contents number apart where moves are not planned.

Invariant: a row is right for every choice of squares in the group with its key, since the key holds
all that the contents part depends on: the owners of the columns, the order they come to, the column
whose commander is promoted, if any, and how many commanders are bound to be officers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from solver.lasca_kernels import (
    _BLACK_OFFICERS,
    _BLACK_ON_1,
    _CAN_STEP,
    _COLUMNS,
    _MIRROR,
    _ON_7,
    _RADIX,
    _RANK_7,
    _STEP,
    _WHITE_OFFICERS,
    CONTENTS,
    FIRST,
    OWN,
    RECORD,
    _is_least_image,
    _lowest,
    _mirrored_mask,
    _popcount,
    _put_men,
    _rank_men,
    _rank_squares,
    _turn,
    _turned_mask,
)

_kernel = njit(cache=True, nogil=True, _nrt=False)  # see `solver.lasca_kernels`

MOST_COLUMNS = 8  # the order of so many fits a key
_ANY, _OFFICER, _SOLDIER = 0, 1, 2  # what the commander must be for a step

_OFFICERS_ROW, _MIRROR_ROW, _STEP_ROW, _CODES_ROW = 0, 1, 2, 3
_KEYS = 1 << 12
_ENTRIES = 1 << 24
_FULL = -1


class Rows(NamedTuple):
    """Rows kept for one group. keys, places: int64[2**k], a hash table (-1: empty); entries:
    int32[n], the rows; state: int64[3], entries used, keys used, the group's first number."""

    keys: np.ndarray
    places: np.ndarray
    entries: np.ndarray
    state: np.ndarray


class Steps(NamedTuple):
    """The steps for one choice of squares, int64[n] each: the mover's column that moves (counted
    among his by square), what its commander must be, the number of the target with contents 0, and
    where the row of contents numbers begins."""

    column: np.ndarray
    needs: np.ndarray
    target: np.ndarray
    row: np.ndarray


class Scratch(NamedTuple):
    """white, black: int64[27], shares of the columns; record, turned: int32[27]."""

    white: np.ndarray
    black: np.ndarray
    record: np.ndarray
    turned: np.ndarray


def new_rows(entries: int = _ENTRIES) -> Rows:
    """No rows yet, and room for so many entries (untouched memory costs nothing)."""
    return Rows(
        np.full(_KEYS, -1, np.int64),
        np.empty(_KEYS, np.int64),
        np.empty(entries, np.int32),
        np.array([0, 0, -1], np.int64),
    )


def new_steps() -> Steps:
    """Room for the steps of any position: four directions and a promotion in two of them."""
    return Steps(*(np.empty(6 * 25, np.int64) for _ in range(4)))


def new_scratch() -> Scratch:
    """Scratch space for one thread."""
    shares = (np.empty(RECORD, np.int64) for _ in range(2))
    return Scratch(*shares, *(np.empty(RECORD, np.int32) for _ in range(2)))


@_kernel
def _contents_of(group):
    """How many positions of a group share their squares."""
    return group[_RADIX + 5] * group[_RADIX + 6] * group[_RADIX + 7] * group[_RADIX + 8]


@_kernel
def _enter_group(rows, first):
    """Forgets all rows unless they are of the group that begins at number `first`."""
    if rows.state[2] != first:
        rows.keys[:] = -1
        rows.state[0], rows.state[1], rows.state[2] = 0, 0, first


@_kernel
def _place_of(key, rows):
    """The slot of a key in the hash table: where it is, or where it belongs."""
    word = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    at = np.int64(word >> np.uint64(52))
    while rows.keys[at] != -1 and rows.keys[at] != key:
        at = (at + 1) & (_KEYS - 1)
    return at


@_kernel
def _claim(key, at, length, rows):
    """Room for a new row; returns where it begins, or _FULL."""
    used = rows.state[0]
    if used + length > rows.entries.size or 2 * rows.state[1] > _KEYS:
        return np.int64(_FULL)
    rows.keys[at], rows.places[at] = key, used
    rows.state[0] += length
    rows.state[1] += 1
    return used


@_kernel
def _owners(own, occupied):
    """Which columns, counted by square, are the mover's: bit i for column i."""
    owners = np.int64(0)
    i = 0
    while occupied:
        s = _lowest(occupied)
        occupied &= occupied - 1
        owners |= (own >> s & 1) << i
        i += 1
    return owners


@_kernel
def _order(occupied, departure, arrival, target, turned, mirror):
    """Where the columns on the squares `target` come from: 3 bits each, by square, for the number
    of the column in `occupied`. The target is half turned, mirrored or both; one column may have
    gone from `departure` to `arrival`."""
    order = np.int64(0)
    shift = 0
    while target:
        s = _lowest(target)
        target &= target - 1
        if mirror:
            s = _MIRROR[s]
        if turned:
            s = 24 - s
        if s == arrival:
            s = departure
        order |= _popcount(occupied & (np.int64(1) << s) - 1) << shift
        shift += 3
    return order


@_kernel
def _codes_row(group, own, other, rows, scratch):
    """The row of the column codes by contents, a code for each column by square; where it begins,
    or _FULL. Which commanders are bound to be officers follows from the group and the owners."""
    occupied = own | other
    key = _owners(own, occupied) << 2 | _CODES_ROW
    at = _place_of(key, rows)
    if rows.keys[at] == key:
        return rows.places[at]
    contents = _contents_of(group)
    row = _claim(key, at, contents * group[_COLUMNS], rows)
    if row == _FULL:
        return row
    place = row
    for number in range(contents):
        _put_men(number, group, own, other, scratch.white, scratch.black, scratch.record)
        rest = occupied
        while rest:
            rows.entries[place] = scratch.record[_lowest(rest)]
            rest &= rest - 1
            place += 1
    return row


@_kernel
def _officers_row(group, own, other, rows, scratch):
    """The row that tells by contents which of the mover's columns have an officer, bit i for his
    i-th column by square; where it begins, or _FULL."""
    key = _owners(own, own | other) << 2 | _OFFICERS_ROW
    at = _place_of(key, rows)
    if rows.keys[at] == key:
        return rows.places[at]
    contents = _contents_of(group)
    row = _claim(key, at, contents, rows)
    if row == _FULL:
        return row
    for number in range(contents):
        _put_men(number, group, own, other, scratch.white, scratch.black, scratch.record)
        officers = np.int64(0)
        i = 0
        rest = own
        while rest:
            officers |= (np.int64(scratch.record[_lowest(rest)]) & 1) << i
            rest &= rest - 1
            i += 1
        rows.entries[row + number] = officers
    return row


@_kernel
def _mirror_row(group, own, other, rows, scratch):
    """The row of the contents numbers of the mirror images; where it begins, or _FULL."""
    occupied = own | other
    order = _order(occupied, -1, -1, _mirrored_mask(occupied), False, True)
    key = (order << 8 | _owners(own, occupied)) << 2 | _MIRROR_ROW
    at = _place_of(key, rows)
    if rows.keys[at] == key:
        return rows.places[at]
    contents = _contents_of(group)
    row = _claim(key, at, contents, rows)
    if row == _FULL:
        return row
    image = (_mirrored_mask(own), _mirrored_mask(other))
    for number in range(contents):
        _put_men(number, group, own, other, scratch.white, scratch.black, scratch.record)
        rows.entries[row + number] = _rank_men(scratch.record, True, image[0], image[1])[0]
    return row


@_kernel
def _step_row(
    key, group, own, other, s, t, promotes, after_own, after_other, mirror, rows, scratch
):
    """The row of the contents numbers after the step s to t, which leads to the squares given
    (turned, and mirrored if `mirror`); where it begins, or _FULL.

    Where the commander is not what the step needs, there is no such step and the number in the row
    means nothing.
    """
    key = key << 2 | _STEP_ROW
    at = _place_of(key, rows)
    if rows.keys[at] == key:
        return rows.places[at]
    contents = _contents_of(group)
    row = _claim(key, at, contents, rows)
    if row == _FULL:
        return row
    record, turned = scratch.record, scratch.turned
    for number in range(contents):
        _put_men(number, group, own, other, scratch.white, scratch.black, record)
        code = np.int64(record[s])
        record[s] = 0
        record[t] = code | promotes
        record[OWN] = own ^ (np.int64(1) << s | np.int64(1) << t)
        _turn(record, turned)
        rows.entries[row + number] = _rank_men(turned, mirror, after_own, after_other)[0]
    return row


@_kernel
def _steps_of(group, own, other, bases, rows, steps, scratch):
    """Writes the steps for one choice of squares, captures apart; returns how many, or _FULL.

    group int64[GROUP]; bases as for `_rank`, those of the other side.
    """
    occupied = own | other
    empty = ~occupied
    owners = _owners(own, occupied)
    columns = group[_COLUMNS]
    turned_own, turned_other = _turned_mask(other), _turned_mask(own)
    white_officers = group[_WHITE_OFFICERS] + group[_ON_7]
    black_officers = group[_BLACK_OFFICERS] + group[_BLACK_ON_1]
    count = 0
    column = 0
    rest = own
    while rest:
        s = _lowest(rest)
        rest &= rest - 1
        for d in range(4):
            t = s + _STEP[d]
            if not (_CAN_STEP[d] >> s & 1 and empty >> t & 1):
                continue
            after_own = turned_own
            after_other = turned_other ^ (np.int64(1) << (24 - s) | np.int64(1) << (24 - t))
            mirror = not _is_least_image(after_own, after_other)
            if mirror:
                after_own, after_other = _mirrored_mask(after_own), _mirrored_mask(after_other)
            squares, p, u, t_, v = _rank_squares(after_own, after_other)
            order = _order(occupied, s, t, after_own | after_other, True, mirror)
            key = ((order << 8 | owners) << 3 | v) << 4
            # Up to the far rank an officer goes as he is and a soldier is promoted.
            far = d < 2 and _RANK_7 >> t & 1
            for promotes in range(2 if far else 1):
                needs = _SOLDIER if promotes else _OFFICER if far or d >= 2 else _ANY
                officers = white_officers + promotes
                if officers == bases.shape[1]:
                    continue  # there is no soldier to promote
                first = bases[black_officers, officers, columns, p, u, t_, v, FIRST]
                if first < 0:
                    continue
                contents = bases[black_officers, officers, columns, p, u, t_, v, CONTENTS]
                row = _step_row(
                    key | (column + 1 if promotes else 0),
                    group,
                    own,
                    other,
                    s,
                    t,
                    promotes,
                    after_own,
                    after_other,
                    mirror,
                    rows,
                    scratch,
                )
                if row == _FULL:
                    return np.int64(_FULL)
                steps.column[count] = column
                steps.needs[count] = needs
                steps.target[count] = first + squares * contents
                steps.row[count] = row
                count += 1
        column += 1
    return np.int64(count)
