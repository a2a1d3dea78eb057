"""Half-rounds over whole rows, and the constants they start from.

M wins if some move leads to a loss of the other side O; M escapes if some move leads to a position
that O is not known to win; M loses where it does not escape. Both are ORs over moves, so the order
of evaluation is free and a position without a move is lost without being a special case.

`*_constants` fold in every move that is final before the level's rounds: into not_win (it is won by
such a move) and into an *escape* plane (such a move escapes; set where there is no position, so
that nothing is lost there). `*_half_round` evaluate the rest, slides and C's placements, for rows
whose sources have changed.

Invariant: each kernel writes rows first .. last - 1 of its own side's planes and nothing else.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from engine.morris.board import ALL_POINTS
from solver.rows.captures import column_captures
from solver.rows.column_moves import (
    MOST_MOVES,
    MOVE_NUMBERS,
    closing,
    list_flights,
    list_moves,
    list_placements,
    list_slides,
    quiet,
)
from solver.rows.permute import OFFSETS, pull
from solver.rows.sparse import LOSS, WIN, append_changes
from solver.rows.words import (
    MARGIN,
    both,
    count_bits,
    either,
    load,
    splat,
    store,
    without,
)

# Changes of a row in a half-round: bits of one byte.
LOSS_CHANGED = 1
NOT_WIN_CHANGED = 2


@njit(cache=True, nogil=True)
def _clear(words, at, count):
    """words[at : at + count] = 0."""
    empty = splat(np.uint64(0))
    for y in range(at, at + count, 8):
        store(words, y, empty)


@njit(cache=True, nogil=True)
def clear_blocks(words, at, blocks):
    """The valid blocks of words[at:] = 0."""
    empty = splat(np.uint64(0))
    for x in range(blocks.size):
        store(words, at + 8 * blocks[x], empty)


@njit(cache=True, nogil=True)
def copy_blocks(source, s0, out, o0, blocks):
    """The valid blocks of out[o0:] = those of source[s0:]."""
    for x in range(blocks.size):
        y = 8 * blocks[x]
        store(out, o0 + y, load(source, s0 + y))


@njit(cache=True, nogil=True)
def _set_constants(win, escape, w0, columns, not_win, escapes, at, words):
    """not_win and escapes of a row from its constant wins and escapes, at win[w0:], escape[w0:]."""
    everything = splat(~np.uint64(0))
    for y in range(0, words, 8):
        allowed = load(columns, y)
        store(not_win, at + y, without(allowed, load(win, w0 + y)))
        store(escapes, at + y, either(load(escape, w0 + y), without(everything, allowed)))


@njit(cache=True, nogil=True)
def row_constants(
    first, last, words, slides, placements, columns, valid, landing, not_win, escapes
):
    """Constants of R's rows: captures after slides, and placements.

    columns: uint64[words], the bitmap of C's columns; valid: its `valid_blocks`. slides: (start,
    target, closes, plan) of the level; placements: likewise, links to the level above, with start
    None-like (size 0) when R has no man in hand. landing: (captures_here, captures_above,
    planes_above), each (wins, escapes, number): captures by rows with a mill, with the row's number
    among them; planes_above: C to move on level k + 1 (loss, not_win, its words).
    """
    start, target, closes, plan = slides
    place_start, place_target, place_closes, place_plan = placements
    here_wins, here_escapes, here_number = landing[0]
    above_wins, above_escapes, above_number = landing[1]
    above_loss, above_not_win, above_words = landing[2]
    win = np.empty(words, np.uint64)
    escape = np.empty(words, np.uint64)
    blocks, counts = valid
    work = (np.empty(words, np.uint64), np.empty(OFFSETS, np.int64), blocks, counts)
    for row in range(first, last):
        _clear(win, 0, words)
        _clear(escape, 0, words)
        for x in range(start[row], start[row + 1]):
            if closes[x]:
                s0 = MARGIN + np.int64(here_number[target[x]]) * words
                pull(here_wins, s0, plan[x], win, 0, work)
                pull(here_escapes, s0, plan[x], escape, 0, work)
        if place_start.size:
            for x in range(place_start[row], place_start[row + 1]):
                if place_closes[x]:
                    s0 = MARGIN + np.int64(above_number[place_target[x]]) * above_words
                    pull(above_wins, s0, place_plan[x], win, 0, work)
                    pull(above_escapes, s0, place_plan[x], escape, 0, work)
                else:
                    s0 = MARGIN + np.int64(place_target[x]) * above_words
                    pull(above_loss, s0, place_plan[x], win, 0, work)
                    pull(above_not_win, s0, place_plan[x], escape, 0, work)
        _set_constants(win, escape, 0, columns, not_win, escapes, MARGIN + row * words, words)


@njit(cache=True, nogil=True)
def column_constants(
    rows, first, last, words, columns, valid, flying, removals, taken, not_win, escapes
):
    """Constants of C's rows: captures after slides and placements.

    columns, valid: see `row_constants`. flying: (whether C may fly, uint64[words] the columns that
    may). removals: (start, target,
    left_point, plan) links to level k - 1; taken: (loss, not_win) of (r - 1, c), R to move, on that
    level, both of size 0 when R has too few men left and has lost.
    """
    start, target, left_point, plan = removals
    loss, open_ = taken
    win = np.empty(words + 2 * MARGIN, np.uint64)
    escape = np.empty(words + 2 * MARGIN, np.uint64)
    taken_wins = np.empty(words + 2 * MARGIN, np.uint64)
    taken_escapes = np.empty(words + 2 * MARGIN, np.uint64)
    blocks, counts = valid
    work = (np.empty(words, np.uint64), np.empty(OFFSETS, np.int64), blocks, counts)
    moves = np.empty((MOST_MOVES, MOVE_NUMBERS), np.int64)
    partners = np.empty((MOST_MOVES, 2), np.int64)
    for row in range(first, last):
        men = np.int64(rows[row])
        free = ALL_POINTS & ~men
        _clear(win, 0, words + 2 * MARGIN)
        _clear(escape, 0, words + 2 * MARGIN)
        protected = men != 0
        if protected:
            # A placement of the last man in hand and one more is no move: it must read nothing.
            _clear(taken_wins, 0, taken_wins.size)
            _clear(taken_escapes, 0, taken_escapes.size)
            if loss.size:
                column_captures(
                    men,
                    start[row],
                    start[row + 1],
                    left_point,
                    target,
                    plan,
                    2 * words,
                    loss,
                    open_,
                    (taken_wins, taken_escapes, MARGIN),
                    work,
                )
            else:
                copy_blocks(columns, 0, taken_wins, MARGIN, blocks)
                copy_blocks(columns, 0, taken_escapes, MARGIN, blocks)
            if flying[0]:
                count = list_flights(free, moves, partners)
                closing(taken_wins, MARGIN, win, MARGIN, valid, moves, partners, count)
                closing(taken_escapes, MARGIN, escape, MARGIN, valid, moves, partners, count)
                for y in range(words):
                    win[MARGIN + y] &= flying[1][y]
                    escape[MARGIN + y] &= flying[1][y]
            count = list_moves(free, protected, moves, partners)
            closing(taken_wins, MARGIN, win, MARGIN, valid, moves, partners, count)
            closing(taken_escapes, MARGIN, escape, MARGIN, valid, moves, partners, count)
        at = MARGIN + row * words
        _set_constants(win, escape, MARGIN, columns, not_win, escapes, at, words)


@njit(cache=True, nogil=True)
def _take_wins(win, w0, not_win, at, blocks):
    """not_win[at:] loses the bits of win[w0:]; win keeps those that were new; returns how many."""
    changed = np.int64(0)
    for x in range(blocks.size):
        y = 8 * blocks[x]
        old = load(not_win, at + y)
        new = load(win, w0 + y)
        fresh = both(old, new)
        changed += count_bits(fresh)
        store(win, w0 + y, fresh)
        store(not_win, at + y, without(old, new))
    return changed


@njit(cache=True, nogil=True)
def _take_losses(escape, e0, loss, at, blocks):
    """loss[at:] gains the bits that escape[e0:] lacks; escape becomes the new ones; returns how
    many.
    """
    changed = np.int64(0)
    everything = splat(~np.uint64(0))
    for x in range(blocks.size):
        y = 8 * blocks[x]
        old = load(loss, at + y)
        new = without(everything, load(escape, e0 + y))
        fresh = without(new, old)
        changed += count_bits(fresh)
        store(escape, e0 + y, fresh)
        store(loss, at + y, either(old, new))
    return changed


@njit(cache=True, nogil=True)
def row_half_round(
    first,
    last,
    words,
    valid,
    slides,
    other_loss,
    other_not_win,
    changes,
    always,
    loss,
    not_win,
    escapes,
    news,
    queue,
    fresh_wins,
    win_counts,
):
    """Evaluate R's rows from C's planes; returns the number of changed bits.

    valid: `valid_blocks` of C's men. slides: (start, target, closes, plan). changes: uint8[rows],
    what changed in C's rows in the last half-round; always: what to take as changed in every row,
    whatever `changes` says; news: uint8[rows], set to what changes in R's rows now. queue: int64,
    gets the changes one by one unless it is empty; a total past queue.size says that it overflowed.
    win_counts: int64[rows], set to the number of new wins in each row, whose bits in fresh_wins,
    uint64 as the planes, are then those wins; or both are empty.
    """
    start, target, closes, plan = slides
    gathered = np.empty(words, np.uint64)
    blocks, counts = valid
    work = (np.empty(words, np.uint64), np.empty(OFFSETS, np.int64), blocks, counts)
    total = np.int64(0)
    queued = np.int64(0)
    for row in range(first, last):
        seen = always
        for x in range(start[row], start[row + 1]):
            seen |= changes[target[x]]
        at = MARGIN + row * words
        news[row] = 0
        if win_counts.size:
            win_counts[row] = 0
        if seen & LOSS_CHANGED:
            clear_blocks(gathered, 0, blocks)
            for x in range(start[row], start[row + 1]):
                if (changes[target[x]] | always) & LOSS_CHANGED:
                    s0 = MARGIN + np.int64(target[x]) * words
                    if closes[x]:
                        # With no man of C on the board a mill takes nothing: a quiet move.
                        gathered[0] |= other_loss[s0] & np.uint64(1)
                    else:
                        pull(other_loss, s0, plan[x], gathered, 0, work)
            changed = _take_wins(gathered, 0, not_win, at, blocks)
            if changed:
                news[row] |= NOT_WIN_CHANGED
                total += changed
                if win_counts.size:
                    win_counts[row] = changed
                    copy_blocks(gathered, 0, fresh_wins, at, blocks)
                if queue.size:
                    queued = append_changes(gathered, 0, blocks, row, WIN, queue, queued)
        if seen & NOT_WIN_CHANGED:
            copy_blocks(escapes, at, gathered, 0, blocks)
            for x in range(start[row], start[row + 1]):
                s0 = MARGIN + np.int64(target[x]) * words
                if closes[x]:
                    gathered[0] |= other_not_win[s0] & np.uint64(1)
                else:
                    pull(other_not_win, s0, plan[x], gathered, 0, work)
            changed = _take_losses(gathered, 0, loss, at, blocks)
            if changed:
                news[row] |= LOSS_CHANGED
                total += changed
                if queue.size:
                    queued = append_changes(gathered, 0, blocks, row, LOSS, queue, queued)
    return total


@njit(cache=True, nogil=True)
def _or_column_moves(
    source, at, out, valid, free, protected, placing, flying, moves, partners, extra
):
    """OR into out[MARGIN:] the values of the row at source[at:] behind C's quiet moves."""
    if flying[0]:
        clear_blocks(extra, MARGIN, valid[0])
        count = list_flights(free, moves, partners)
        quiet(source, at, extra, MARGIN, valid, moves, partners, count)
        for x in range(valid[0].size):
            y = 8 * valid[0][x]
            may = both(load(extra, MARGIN + y), load(flying[1], y))
            store(out, MARGIN + y, either(load(out, MARGIN + y), may))
    count = list_slides(free, protected, moves, partners)
    if placing:
        count = list_placements(free, protected, moves, partners, count)
    quiet(source, at, out, MARGIN, valid, moves, partners, count)


@njit(cache=True, nogil=True)
def column_half_round(
    rows,
    first,
    last,
    words,
    valid,
    placing,
    flying,
    other_loss,
    other_not_win,
    changes,
    always,
    loss,
    not_win,
    escapes,
    news,
    queue,
    fresh_wins,
    win_counts,
):
    """Evaluate C's rows from R's planes; returns the number of changed bits.

    valid, flying: see `column_constants`. changes: uint8[rows], what changed in R's rows in the
    last half-round; news: uint8[rows], set to what changes in C's rows now. queue: int64, gets the
    changes one by one unless it is empty; a total past queue.size says that it overflowed. placing:
    whether C's placements are evaluated; else they must be among the constants. fresh_wins,
    win_counts: see `row_half_round`.
    """
    gathered = np.empty(words + 2 * MARGIN, np.uint64)
    extra = np.empty(words + 2 * MARGIN, np.uint64)
    blocks = valid[0]
    moves = np.empty((MOST_MOVES, MOVE_NUMBERS), np.int64)
    partners = np.empty((MOST_MOVES, 2), np.int64)
    total = np.int64(0)
    queued = np.int64(0)
    for row in range(first, last):
        men = np.int64(rows[row])
        free = ALL_POINTS & ~men
        protected = men != 0
        at = MARGIN + row * words
        news[row] = 0
        if win_counts.size:
            win_counts[row] = 0
        seen = changes[row] | always
        if seen & LOSS_CHANGED:
            clear_blocks(gathered, MARGIN, blocks)
            _or_column_moves(
                other_loss,
                at,
                gathered,
                valid,
                free,
                protected,
                placing,
                flying,
                moves,
                partners,
                extra,
            )
            changed = _take_wins(gathered, MARGIN, not_win, at, blocks)
            if changed:
                news[row] |= NOT_WIN_CHANGED
                total += changed
                if win_counts.size:
                    win_counts[row] = changed
                    copy_blocks(gathered, MARGIN, fresh_wins, at, blocks)
                if queue.size:
                    queued = append_changes(gathered, MARGIN, blocks, row, WIN, queue, queued)
        if seen & NOT_WIN_CHANGED:
            copy_blocks(escapes, at, gathered, MARGIN, blocks)
            _or_column_moves(
                other_not_win,
                at,
                gathered,
                valid,
                free,
                protected,
                placing,
                flying,
                moves,
                partners,
                extra,
            )
            changed = _take_losses(gathered, MARGIN, loss, at, blocks)
            if changed:
                news[row] |= LOSS_CHANGED
                total += changed
                if queue.size:
                    queued = append_changes(gathered, MARGIN, blocks, row, LOSS, queue, queued)
    return total
