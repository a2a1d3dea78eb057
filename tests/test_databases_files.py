"""Table files: what is written is read back, and no damage ever gives a value.

One module for format.py, writer.py and reader.py, which are two directions of one thing.
"""

from __future__ import annotations

import errno
import json
import os
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from databases import format as layout
from databases.errors import (
    CorruptTableError,
    NoSpaceError,
    StoreAccessError,
    UnsupportedVersionError,
    WrongRulesError,
)
from databases.pack import Section
from databases.reader import TableFile
from databases.writer import write_table

RULES = {"men": 10, "flying": "board"}
SMALL_BLOCKS = 128  # entries a block: several blocks in a small test


def bitmaps(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Win and loss bitmaps of an int array of values -1, 0, 1."""
    return tuple(np.packbits(values == value, bitorder="little") for value in (1, -1))


def section(name: str, values: np.ndarray, plies: np.ndarray | None = None) -> Section:
    return Section(name, values.size, *bitmaps(values), plies)


def random_section(name: str, entries: int, seed: int = 0, plies_dtype=None) -> Section:
    rng = np.random.default_rng(seed)
    values = rng.integers(-1, 2, entries)
    plies = None
    if plies_dtype is not None:
        plies = rng.integers(0, np.iinfo(plies_dtype).max + 1, entries).astype(plies_dtype)
        plies[values == 0] = 0
    return section(name, values, plies)


def write(path: Path, *sections: Section, **options):
    arguments = dict(
        game="morris",
        rules=RULES,
        fingerprint="f" * 64,
        name="r03c03k03",
        block_entries=SMALL_BLOCKS,
    )
    return write_table(path, sections=sections, **{**arguments, **options})


values_lists = st.one_of(
    st.lists(st.sampled_from((-1, 0, 1)), max_size=600),
    st.builds(
        lambda value, count: [value] * count, st.sampled_from((-1, 0, 1)), st.integers(0, 600)
    ),
    st.builds(
        lambda value, count, other: [value] * count + [other],
        st.sampled_from((-1, 0, 1)),
        st.integers(0, 600),
        st.sampled_from((-1, 0, 1)),
    ),
)


@given(
    contents=st.lists(
        st.tuples(values_lists, st.none() | st.sampled_from((np.uint8, np.uint16))), max_size=4
    ),
    block_entries=st.sampled_from((64, 128, 192)),
    threads=st.sampled_from((1, 2)),
    seed=st.integers(0, 99),
)
def test_what_is_written_is_read_back(
    tmp_path_factory, contents, block_entries, threads, seed
) -> None:
    path = tmp_path_factory.mktemp("t") / "table"
    rng = np.random.default_rng(seed)
    sections = []
    for number, (values, plies_dtype) in enumerate(contents):
        values = np.array(values, np.int8)
        plies = None
        if plies_dtype is not None:
            plies = rng.integers(0, 256 if seed % 2 else 3, values.size).astype(plies_dtype)
            plies[values == 0] = 0
        sections.append((values, section(f"s{number}", values, plies)))
    written = write(path, *(s for _, s in sections), block_entries=block_entries, threads=threads)
    with TableFile(path) as table:
        table.check()
        assert table.header == written.header
        assert list(table.sections) == [s.name for _, s in sections]
        for values, wrote in sections:
            info = table.sections[wrote.name]
            assert (info.win, info.draw, info.loss) == tuple(
                int((values == value).sum()) for value in (1, 0, -1)
            )
            win, loss = table.planes(wrote.name, threads)
            assert (win == wrote.win).all() and (loss == wrote.loss).all()
            used = (np.full(win.size, 0x5A, np.uint8), np.full(win.size, 0xA5, np.uint8))
            win, loss = table.planes(wrote.name, threads, out=used)
            assert win is used[0] and loss is used[1]
            assert (win == wrote.win).all() and (loss == wrote.loss).all()
            assert [table.value(wrote.name, i) for i in range(values.size)] == values.tolist()
            if wrote.plies is None:
                assert table.plies_array(wrote.name) is None
            else:
                assert (table.plies_array(wrote.name, threads) == wrote.plies).all()
                expected = [int(p) if v else None for v, p in zip(values, wrote.plies, strict=True)]
                found = [table.plies(wrote.name, i) for i in range(values.size)]
                assert found == expected
                for value, longest in ((1, info.longest_win), (-1, info.longest_loss)):
                    of_value = wrote.plies[values == value]
                    assert longest == (int(of_value.max()) if of_value.size else None)


@given(
    values=values_lists.filter(bool),
    ends=st.tuples(st.integers(0, 75), st.integers(0, 75)),
    to_the_end=st.booleans(),
    used=st.booleans(),
)
def test_a_span_of_a_section(tmp_path_factory, values, ends, to_the_end, used) -> None:
    path = tmp_path_factory.mktemp("t") / "t"
    values = np.array(values, np.int8)
    write(path, random_section("other", 300), section("s", values))
    first, end = (min(8 * eighth, values.size // 8 * 8) for eighth in sorted(ends))
    end = values.size if to_the_end else end
    size = layout.bitmap_size(end - first)
    out = (np.full(size, 0x5A, np.uint8), np.full(size, 0xA5, np.uint8)) if used else None
    with TableFile(path) as table:
        win, loss = table.planes("s", out=out, span=(first, end))
    expected = bitmaps(values[first:end])
    assert (win == expected[0]).all() and (loss == expected[1]).all()


def test_a_span_reads_its_blocks_only(tmp_path) -> None:
    write(tmp_path / "t", random_section("s", 4 * SMALL_BLOCKS))
    data = bytearray((tmp_path / "t").read_bytes())
    data[layout.FRONT_SIZE] ^= 1
    (tmp_path / "t").write_bytes(data)
    with TableFile(tmp_path / "t") as table:
        table.planes("s", span=(SMALL_BLOCKS, 4 * SMALL_BLOCKS))
        with pytest.raises(CorruptTableError, match="block 0"):
            table.planes("s", span=(SMALL_BLOCKS - 8, 4 * SMALL_BLOCKS))


@pytest.mark.parametrize("span", [(-8, 8), (8, 0), (0, 1008), (4, 8), (0, 12)])
def test_an_impossible_span(tmp_path, span) -> None:
    write(tmp_path / "t", random_section("s", 1001))
    with TableFile(tmp_path / "t") as table, pytest.raises(ValueError, match="no span"):
        table.planes("s", span=span)


def test_bytes_do_not_depend_on_threads(tmp_path) -> None:
    sections = [random_section(f"s{n}", 40_000, n, np.uint16) for n in range(3)]
    hashes = {
        write(tmp_path / f"t{threads}", *sections, threads=threads).sha256
        for threads in (1, 2, 3, 8)
    }
    assert len(hashes) == 1
    assert len({(tmp_path / f"t{threads}").read_bytes() for threads in (1, 2, 3, 8)}) == 1


def test_bytes_do_not_depend_on_type_of_plies(tmp_path) -> None:
    narrow = random_section("s", 1000, 1, np.uint8)
    wide = Section("s", 1000, narrow.win, narrow.loss, narrow.plies.astype(np.uint16))
    assert write(tmp_path / "a", narrow).sha256 == write(tmp_path / "b", wide).sha256


def test_content_checksum_does_not_depend_on_level(tmp_path) -> None:
    one = random_section("s", 5000, 1, np.uint8)
    infos = [write(tmp_path / "a", one, level=level).header.sections[0] for level in (1, 19)]
    assert infos[0].content == infos[1].content
    other = write(tmp_path / "a", random_section("s", 5000, 2, np.uint8)).header.sections[0]
    assert other.content != infos[0].content


@pytest.mark.parametrize("value", [-1, 0, 1])
def test_blocks_of_one_value_take_no_bytes(tmp_path, value) -> None:
    entries = 1_000_003
    written = write(tmp_path / "t", section("s", np.full(entries, value)))
    blocks = layout.blocks_of(entries, SMALL_BLOCKS)
    assert written.size < 1000 + blocks * layout.INDEX_ENTRY_SIZE
    with TableFile(tmp_path / "t") as table:
        assert table.sections["s"].constant == value
        assert table.value("s", entries - 1) == value


def test_arrays_of_a_section_may_be_used_again(tmp_path) -> None:
    """A solver fills the same two bitmaps for one section after the other."""
    win, loss = np.zeros(5000, np.uint8), np.zeros(5000, np.uint8)

    def sections():
        for n in range(4):
            win[:] = 1 << n
            yield Section(f"s{n}", 40_000, win, loss)

    write_table(
        tmp_path / "t", game="g", rules={}, fingerprint="", name="n", sections=sections(), threads=2
    )
    with TableFile(tmp_path / "t") as table:
        for n in range(4):
            assert (table.planes(f"s{n}")[0] == 1 << n).all()


def distances(name: str, plies: np.ndarray) -> Section:
    return Section(name, plies.size, None, None, plies)


@given(
    contents=st.lists(
        st.tuples(
            st.integers(1, 600),
            st.sampled_from((0, 1, 3, 255, 256, 65535)),
            st.sampled_from((np.uint8, np.uint16)),
        ),
        min_size=1,
        max_size=4,
    ),
    block_entries=st.sampled_from((64, 128, 192)),
    threads=st.sampled_from((1, 2)),
    seed=st.integers(0, 99),
)
def test_distances_alone_are_read_back(
    tmp_path_factory, contents, block_entries, threads, seed
) -> None:
    path = tmp_path_factory.mktemp("t") / "table"
    rng = np.random.default_rng(seed)
    wrote = []
    for number, (entries, greatest, dtype) in enumerate(contents):
        plies = rng.integers(0, min(greatest, np.iinfo(dtype).max) + 1, entries).astype(dtype)
        plies[: seed * 4] = plies[0]  # blocks that are all alike
        wrote.append(distances(f"s{number}", plies))
    written = write(path, *wrote, block_entries=block_entries, threads=threads)
    with TableFile(path) as table:
        table.check(threads)
        assert table.header == written.header
        for each in wrote:
            info = table.sections[each.name]
            assert (info.win, info.draw, info.loss, info.constant) == (None,) * 4
            assert info.longest_win == (int(each.plies.max()) or None)
            assert info.longest_loss is None
            assert info.plies_bytes == (1 if each.plies.max() < 256 else 2)
            assert (table.plies_array(each.name, threads) == each.plies).all()
            found = [table.entry(each.name, index) for index in range(each.entries)]
            assert found == each.plies.tolist()


def test_bytes_of_distances_do_not_depend_on_dtype_or_threads(tmp_path) -> None:
    plies = np.random.default_rng(0).integers(0, 256, 50_000).astype(np.uint8)
    files = []
    for dtype in (np.uint8, np.uint16):
        for threads in (1, 2):
            write(tmp_path / "t", distances("s", plies.astype(dtype)), threads=threads)
            files.append((tmp_path / "t").read_bytes())
    assert len(set(files)) == 1


def test_values_and_distances_are_not_taken_for_each_other(tmp_path) -> None:
    write(tmp_path / "t", distances("d", np.ones(300, np.uint8)), random_section("v", 300))
    with TableFile(tmp_path / "t") as table:
        table.check()
        assert table.value("v", 7) in (-1, 0, 1)
        for read in (table.value, table.plies):
            with pytest.raises(CorruptTableError, match="section d holds no values"):
                read("d", 7)
        with pytest.raises(CorruptTableError, match="section d holds no values"):
            table.planes("d")
        with pytest.raises(CorruptTableError, match="section v holds no plies"):
            table.entry("v", 7)
        with pytest.raises(IndexError):
            table.entry("d", 300)


def scored(name: str, scores: np.ndarray) -> Section:
    return Section(name, scores.size, None, None, scores=scores)


@given(
    contents=st.lists(
        st.tuples(
            st.integers(0, 600),
            st.sampled_from((0, 1, 2, 254, 255, 600, 65534)),
            st.sampled_from((np.uint8, np.uint16)),
        ),
        min_size=1,
        max_size=4,
    ),
    block_entries=st.sampled_from((64, 128, 192)),
    threads=st.sampled_from((1, 2)),
    seed=st.integers(0, 99),
)
def test_scores_are_read_back_as_values_and_plies(
    tmp_path_factory, contents, block_entries, threads, seed
) -> None:
    path = tmp_path_factory.mktemp("t") / "table"
    rng = np.random.default_rng(seed)
    wrote = []
    for number, (entries, greatest, dtype) in enumerate(contents):
        draw = np.iinfo(dtype).max
        scores = rng.integers(0, min(greatest, draw - 1) + 1, entries).astype(dtype)
        scores[rng.random(entries) < 0.3] = draw
        scores[: seed * 4] = scores[:1]  # blocks that are all alike
        wrote.append(scored(f"s{number}", scores))
    written = write(path, *wrote, block_entries=block_entries, threads=threads)
    with TableFile(path) as table:
        table.check(threads)
        assert table.header == written.header
        for each in wrote:
            draws = each.scores == np.iinfo(each.scores.dtype).max
            values = np.where(draws, 0, np.where(each.scores % 2, 1, -1))
            info = table.sections[each.name]
            assert info.scores and info.kinds == ("scores",)
            assert (info.win, info.draw, info.loss) == tuple(
                int((values == value).sum()) for value in (1, 0, -1)
            )
            for value, longest in ((1, info.longest_win), (-1, info.longest_loss)):
                of_value = each.scores[values == value]
                assert longest == (int(of_value.max()) if of_value.size else None)
            for out in (None, tuple(np.full(b.size, 0x5A, np.uint8) for b in bitmaps(values))):
                planes = table.planes(each.name, threads, out=out)
                for plane, expected in zip(planes, bitmaps(values), strict=True):
                    assert (plane == expected).all()
            plies = np.where(draws, 0, each.scores)
            assert (table.plies_array(each.name, threads) == plies).all()
            scores = table.scores_array(each.name, threads)
            assert ((scores == np.iinfo(scores.dtype).max) == draws).all()
            assert (scores[~draws] == each.scores[~draws]).all()
            assert [table.value(each.name, i) for i in range(each.entries)] == values.tolist()
            expected = [int(p) if v else None for v, p in zip(values, plies, strict=True)]
            assert [table.plies(each.name, i) for i in range(each.entries)] == expected


def test_bytes_of_scores_do_not_depend_on_dtype_or_threads(tmp_path) -> None:
    narrow = np.random.default_rng(0).integers(0, 256, 50_000).astype(np.uint8)
    wide = narrow.astype(np.uint16)
    wide[narrow == 255] = 65535
    files = []
    for scores in (narrow, wide):
        for threads in (1, 2):
            write(tmp_path / "t", scored("s", scores), threads=threads)
            files.append((tmp_path / "t").read_bytes())
    assert len(set(files)) == 1
    with TableFile(tmp_path / "t") as table:
        assert table.sections["s"].plies_bytes == 1


def test_only_a_section_with_scores_has_scores(tmp_path) -> None:
    write(tmp_path / "t", random_section("v", 300, 0, np.uint8), scored("s", np.ones(9, np.uint8)))
    assert b'"scores":true' in (tmp_path / "t").read_bytes()
    assert b'"scores":false' not in (tmp_path / "t").read_bytes()
    with TableFile(tmp_path / "t") as table:
        with pytest.raises(CorruptTableError, match="section v holds no scores"):
            table.scores_array("v")
        with pytest.raises(CorruptTableError, match="section s holds no plies"):
            table.entry("s", 0)


def test_a_wrong_greatest_distance_is_found(tmp_path) -> None:
    path = tmp_path / "t"
    write(path, distances("s", np.arange(200, dtype=np.uint8)))
    whole = path.read_bytes()
    trailer = layout.decode_trailer(whole[-layout.TRAILER_SIZE :], len(whole), path)
    start = trailer.index_offset + trailer.index_size
    header = whole[start : start + trailer.header_size]
    path.write_bytes(forge(whole, header=header.replace(b'"longest_win":199', b'"longest_win":9')))
    with TableFile(path) as table, pytest.raises(CorruptTableError, match="greatest entry"):
        table.check()


def test_about_may_be_filled_while_sections_are_made(tmp_path) -> None:
    about: dict[str, int] = {}

    def sections():
        yield distances("s", np.ones(10, np.uint8))
        about["ones"] = 10

    options = dict(game="g", rules={}, fingerprint="", name="n", about=about)
    write_table(tmp_path / "t", sections=sections(), **options)
    with TableFile(tmp_path / "t") as table:
        assert table.header.about == {"ones": 10}


@pytest.mark.parametrize(
    "bad",
    [
        Section("s", 9, np.array([1, 2], np.uint8), np.zeros(2, np.uint8)),
        Section("s", 9, np.zeros(2, np.uint8), np.zeros(1, np.uint8)),
        Section("s", 9, np.zeros(2, np.int8), np.zeros(2, np.uint8)),
        Section("s", 16, np.full(2, 1, np.uint8), np.full(2, 3, np.uint8)),
        Section("s", 2, np.ones(1, np.uint8), np.zeros(1, np.uint8), np.ones(2, np.uint8)),
        Section("s", 2, np.ones(1, np.uint8), np.zeros(1, np.uint8), np.zeros(2, np.int64)),
        Section("s", 2, None, None),
        Section("s", 2, None, np.zeros(1, np.uint8), np.zeros(2, np.uint8)),
        Section("s", 2, None, None, np.zeros(3, np.uint8)),
        Section("s", 2, None, None, scores=np.zeros(3, np.uint8)),
        Section("s", 2, None, None, scores=np.zeros(2, np.int16)),
        Section("s", 2, None, None, np.zeros(2, np.uint8), scores=np.zeros(2, np.uint8)),
    ],
    ids=[
        "bit past end",
        "short",
        "dtype",
        "won and lost",
        "draw with plies",
        "plies dtype",
        "nothing",
        "no wins",
        "too many plies",
        "too many scores",
        "scores dtype",
        "scores and plies",
    ],
)
@pytest.mark.parametrize("threads", [1, 2])
def test_what_is_no_section_is_refused(tmp_path, bad, threads) -> None:
    with pytest.raises(ValueError, match="section s"):
        write(tmp_path / "t", bad, threads=threads)
    assert list(tmp_path.iterdir()) == []


def test_two_sections_of_one_name_are_refused(tmp_path) -> None:
    with pytest.raises(ValueError, match="two sections"):
        write(tmp_path / "t", random_section("s", 10), random_section("s", 10))
    assert list(tmp_path.iterdir()) == []


def test_index_outside_the_section(tmp_path) -> None:
    write(tmp_path / "t", random_section("s", 10))
    with TableFile(tmp_path / "t") as table:
        for index in (-1, 10):
            with pytest.raises(IndexError):
                table.value("s", index)
        with pytest.raises(CorruptTableError, match="no section other"):
            table.value("other", 0)
        with pytest.raises(ValueError, match="bitmaps of 2 bytes"):
            table.planes("s", out=(np.zeros(3, np.uint8), np.zeros(3, np.uint8)))


def keyed_section(name: str, keys: list[bytes], seed: int = 0) -> Section:
    rng = np.random.default_rng(seed)
    values = rng.integers(-1, 2, len(keys))
    plies = np.where(values, rng.integers(0, 300, len(keys)), 0).astype(np.uint16)
    rows = np.frombuffer(b"".join(keys), np.uint8).reshape(len(keys), -1)
    return Section(name, len(keys), *bitmaps(values), plies, rows)


@given(
    keys=st.integers(1, 9).flatmap(
        lambda size: st.sets(st.binary(min_size=size, max_size=size), min_size=1, max_size=300)
    ),
    others=st.lists(st.binary(min_size=1, max_size=9), max_size=20),
    threads=st.sampled_from((1, 2)),
)
def test_entries_are_found_by_key(tmp_path_factory, keys, others, threads) -> None:
    path = tmp_path_factory.mktemp("t") / "t"
    ordered = sorted(keys)
    write(path, keyed_section("s", ordered), random_section("t", 300), threads=threads)
    with TableFile(path) as table:
        table.check()
        for index, key in enumerate(ordered):
            assert table.find("s", key) == index
        size = len(ordered[0])
        for other in others:
            other = other.ljust(size, b"\0")[:size]
            expected = ordered.index(other) if other in keys else None
            assert table.find("s", other) == expected


def test_no_keys_and_keys_of_another_size(tmp_path) -> None:
    empty = Section("s", 0, *bitmaps(np.zeros(0)), keys=np.zeros((0, 4), np.uint8))
    write(tmp_path / "t", empty, random_section("t", 300))
    with TableFile(tmp_path / "t") as table:
        assert table.find("s", b"four") is None
        with pytest.raises(ValueError, match="have 4 bytes"):
            table.find("s", b"other")
        with pytest.raises(ValueError, match="have 0 bytes"):
            table.find("t", b"four")
        with pytest.raises(CorruptTableError, match="no section"):
            table.find("u", b"four")


@pytest.mark.parametrize(
    "keys", [[b"b", b"a"], [b"a", b"a"], [bytes([n]) for n in (*range(128), 128, 128)]]
)
def test_keys_that_do_not_ascend_are_refused(tmp_path, keys) -> None:
    with pytest.raises(ValueError, match="do not ascend"):
        write(tmp_path / "t", keyed_section("s", keys))


def test_plies_that_are_not_known(tmp_path) -> None:
    plies = np.array([layout.UNKNOWN_PLIES, 3, layout.UNKNOWN_PLIES, 0, 2], np.uint16)
    write(tmp_path / "t", section("s", np.array([1, 1, -1, 0, -1]), plies))
    with TableFile(tmp_path / "t") as table:
        assert [table.plies("s", i) for i in range(5)] == [None, 3, None, None, 2]
        assert (table.sections["s"].longest_win, table.sections["s"].longest_loss) == (3, 2)


# Damage


def found_at(table: TableFile, name: str, index: int) -> tuple[int | None, ...]:
    """All that a file says about one entry."""
    if table.sections[name].has_values:
        return table.value(name, index), table.plies(name, index)
    return (table.entry(name, index),)


def damaged_reads(path: Path) -> None:
    """Read everything there is in a file, in each of the ways there are."""
    with TableFile(path) as table:
        for name, info in table.sections.items():
            table.plies_array(name)
            if info.key_bytes:
                table.find(name, bytes(info.key_bytes - 1) + b"\x07")
            if info.has_values:
                table.planes(name)
            for index in range(info.entries):
                if info.has_values:
                    table.value(name, index)
                    table.plies(name, index)
                else:
                    table.entry(name, index)
        table.check()


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> bytes:
    """A file with several blocks, one of them without bytes, and two kinds of plies."""
    path = tmp_path_factory.mktemp("whole") / "t"
    rng = np.random.default_rng(5)
    values = rng.integers(-1, 2, 400)
    values[128:256] = 0
    plies = rng.integers(0, 300, 400).astype(np.uint16)
    plies[values == 0] = 0
    keys = [n.to_bytes(3, "big") for n in range(7, 7 * 151, 7)]
    write(
        path,
        section("R3", values),
        section("R2", values, plies),
        random_section("R1", 50),
        keyed_section("K", keys),
        distances("D1", rng.integers(0, 9, 300).astype(np.uint8)),
        distances("D2", rng.integers(0, 999, 300).astype(np.uint16)),
        scored("S1", rng.integers(0, 256, 300).astype(np.uint8)),
        scored("S2", rng.integers(0, 999, 300).astype(np.uint16)),
    )
    return path.read_bytes()


def test_file_cut_off_anywhere(tmp_path, whole) -> None:
    path = tmp_path / "t"
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        with pytest.raises(CorruptTableError, match=str(path)):
            TableFile(path).close()


def test_bytes_added(tmp_path, whole) -> None:
    path = tmp_path / "t"
    for extra in (b"\0", b"\0" * 4096, whole):
        path.write_bytes(whole + extra)
        with pytest.raises(CorruptTableError):
            damaged_reads(path)


def test_every_byte_is_covered(tmp_path, whole) -> None:
    """Each single byte changed is found by a check of the whole file."""
    path = tmp_path / "t"
    for at in range(len(whole)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x41]) + whole[at + 1 :])
        with pytest.raises(CorruptTableError), TableFile(path) as table:
            table.check()


@given(
    data=st.data(),
    flips=st.lists(st.tuples(st.floats(0, 1), st.integers(1, 255)), min_size=1, max_size=6),
)
def test_damaged_bytes_never_give_a_wrong_value(tmp_path_factory, whole, data, flips) -> None:
    path = tmp_path_factory.mktemp("t") / "t"
    path.write_bytes(whole)
    with TableFile(path) as table:
        right = {
            name: [found_at(table, name, i) for i in range(info.entries)]
            for name, info in table.sections.items()
        }
    damaged = bytearray(whole)
    for place, mask in flips:
        damaged[int(place * (len(whole) - 1))] ^= mask
    path.write_bytes(damaged)
    name = data.draw(st.sampled_from(sorted(right)))
    index = data.draw(st.integers(0, len(right[name]) - 1))
    try:
        with TableFile(path) as table:
            assert found_at(table, name, index) == right[name][index]
    except CorruptTableError as error:
        assert str(path) in str(error) and "\n" not in str(error)


def test_error_names_file_and_block(tmp_path, whole) -> None:
    path = tmp_path / "t"
    damaged = bytearray(whole)
    damaged[layout.FRONT_SIZE + 20] ^= 1
    path.write_bytes(damaged)
    with TableFile(path) as table:
        with pytest.raises(CorruptTableError) as caught:
            table.value("R3", 5)
        assert table.value("R3", 130) == 0  # another block
    assert caught.value.path == path
    assert caught.value.place == "block 0 of the values of section R3"
    assert str(path) in str(caught.value)


def test_file_that_shrinks_while_open(tmp_path, whole) -> None:
    path = tmp_path / "t"
    path.write_bytes(whole)
    with TableFile(path) as table:
        os.truncate(path, 20)
        with pytest.raises(CorruptTableError, match="block 0"):
            table.value("R3", 0)


def test_failing_disk(tmp_path, whole, monkeypatch) -> None:
    path = tmp_path / "t"
    path.write_bytes(whole)

    def failing(*_arguments):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with TableFile(path) as table:
        monkeypatch.setattr(os, "pread", failing)
        with pytest.raises(CorruptTableError, match="read error"):
            table.value("R3", 0)


def forge(whole: bytes, header: bytes | None = None, block: bytes | None = None) -> bytes:
    """A file with right checksums but another header, or another first block."""
    trailer = layout.decode_trailer(whole[-layout.TRAILER_SIZE :], len(whole), Path("t"))
    index_end = trailer.index_offset + trailer.index_size
    blocks = whole[layout.FRONT_SIZE : trailer.index_offset]
    index = bytearray(whole[trailer.index_offset : index_end])
    if header is None:
        header = whole[index_end : index_end + trailer.header_size]
    if block is not None:
        size, _ = struct.unpack_from("<II", index)
        blocks = block + blocks[size:]
        struct.pack_into("<II", index, 0, len(block), zlib.crc32(block))
    front = whole[: layout.FRONT_SIZE]
    size = len(front) + len(blocks) + len(index) + len(header) + layout.TRAILER_SIZE
    end = layout.Trailer(
        len(front) + len(blocks),
        len(index),
        len(header),
        size,
        zlib.crc32(index),
        zlib.crc32(header),
    )
    return front + blocks + bytes(index) + header + layout.encode_trailer(end)


@pytest.mark.parametrize(
    "block",
    [
        b"not a frame at all",
        zstandard.ZstdCompressor(write_checksum=True).compress(bytes(1 << 20)),
        zstandard.ZstdCompressor(write_checksum=True).compress(bytes(32)) + b"more",
        zstandard.ZstdCompressor(write_content_size=False).compress(bytes(32)),
        zstandard.ZstdCompressor(write_checksum=True).compress(bytes(32))[:-1] + b"\1",
    ],
    ids=["no frame", "too large", "extra bytes", "no size", "content checksum"],
)
def test_frames_that_are_not_what_they_should_be(tmp_path, whole, block) -> None:
    """Even where the CRC fits: made by a faulty writer, say."""
    path = tmp_path / "t"
    path.write_bytes(forge(whole, block=block))
    with TableFile(path) as table, pytest.raises(CorruptTableError, match="block 0"):
        table.value("R3", 0)


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"{}",
        b"[1]",
        b"\xff",
        b'{"sections":[]}',
        b'{"block_entries":100,"board":"","created_by":{},"game":"","name":"","rules":{},'
        b'"sections":[]}',
        b'{"block_entries":"64","board":"","created_by":{},"game":"","name":"","rules":{},'
        b'"sections":[{"name":1}]}',
    ],
)
def test_headers_that_are_none(tmp_path, whole, header) -> None:
    path = tmp_path / "t"
    path.write_bytes(forge(whole, header=header))
    with pytest.raises(CorruptTableError, match="header"):
        TableFile(path).close()


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)


@given(data=st.data())
def test_headers_with_any_field_changed(tmp_path_factory, whole, data) -> None:
    """Right checksums and wrong contents: an error, or the table as it reads; never a traceback."""
    path = tmp_path_factory.mktemp("t") / "t"
    trailer = layout.decode_trailer(whole[-layout.TRAILER_SIZE :], len(whole), path)
    start = trailer.index_offset + trailer.index_size
    header = json.loads(whole[start : start + trailer.header_size])
    target = data.draw(st.sampled_from([header, *header["sections"]]))
    field = data.draw(st.sampled_from(sorted(target)))
    if data.draw(st.booleans()):
        del target[field]
    else:
        target[field] = data.draw(json_values | st.integers(0, 1 << 40))
    path.write_bytes(forge(whole, header=json.dumps(header).encode()))
    try:
        damaged_reads(path)
    except CorruptTableError as error:
        assert str(path) in str(error)


@given(raw=st.binary(max_size=300), head=st.integers(0, 16), tail=st.integers(0, 48))
def test_any_bytes_as_a_file(tmp_path_factory, whole, raw, head, tail) -> None:
    path = tmp_path_factory.mktemp("t") / "t"
    path.write_bytes(whole[:head] + raw + whole[len(whole) - tail :])
    with pytest.raises(CorruptTableError):
        TableFile(path).close()


@given(frame=st.binary(min_size=1, max_size=60), prefix=st.integers(0, 12))
def test_any_bytes_as_a_frame(tmp_path_factory, whole, frame, prefix) -> None:
    path = tmp_path_factory.mktemp("t") / "t"
    path.write_bytes(forge(whole, block=whole[16 : 16 + prefix] + frame))
    with TableFile(path) as table, pytest.raises(CorruptTableError, match="block 0"):
        table.value("R3", 0)


def test_whole_file_with_wrong_counts(tmp_path, whole) -> None:
    path = tmp_path / "t"
    path.write_bytes(whole)
    with TableFile(path) as table:
        info = table.sections["R3"]
    wrong = f'"win":{info.win}'.encode()
    trailer = layout.decode_trailer(whole[-layout.TRAILER_SIZE :], len(whole), path)
    start = trailer.index_offset + trailer.index_size
    header = whole[start : start + trailer.header_size]
    header = header.replace(wrong, f'"win":{info.win - 1}'.encode(), 1)
    header = header.replace(f'"loss":{info.loss}'.encode(), f'"loss":{info.loss + 1}'.encode(), 1)
    path.write_bytes(forge(whole, header=header))
    with TableFile(path) as table, pytest.raises(CorruptTableError, match="counts"):
        table.check()


def test_other_version(tmp_path, whole) -> None:
    path = tmp_path / "t"
    start = struct.pack("<8sI", layout.MAGIC, layout.VERSION + 1)
    path.write_bytes(start + struct.pack("<I", zlib.crc32(start)) + whole[layout.FRONT_SIZE :])
    with pytest.raises(UnsupportedVersionError, match="format version 2, not 1"):
        TableFile(path).close()


def test_what_is_no_regular_file(tmp_path) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    for name in ("folder", "pipe"):
        with pytest.raises(CorruptTableError, match="no regular file"):
            TableFile(tmp_path / name).close()


def test_other_file(tmp_path) -> None:
    path = tmp_path / "t"
    path.write_bytes(b"#!/bin/sh\n" * 100)
    with pytest.raises(CorruptTableError, match="does not begin like a table file"):
        TableFile(path).close()


def test_table_of_something_else_is_refused(tmp_path, whole) -> None:
    path = tmp_path / "t"
    path.write_bytes(whole)
    right = dict(game="morris", rules=RULES, fingerprint="f" * 64, name="r03c03k03")
    with TableFile(path) as table:
        table.require(**right)
        for wrong, text in (
            (dict(game="lasca"), "game morris, not lasca"),
            (dict(rules={"men": 10, "flying": "off"}), "'flying': 'board'.*'flying': 'off'"),
            (dict(fingerprint="e" * 64), "board fingerprint"),
            (dict(name="r03c03k02"), "name r03c03k03, not r03c03k02"),
            (dict(contents="values"), "contents distances and values, not values"),
        ):
            with pytest.raises(WrongRulesError, match=text):
                table.require(**{**right, **wrong})


# Faults while writing


def test_full_disk_leaves_nothing_behind(tmp_path, monkeypatch) -> None:
    write(tmp_path / "t", random_section("s", 1000, 1))
    before = (tmp_path / "t").read_bytes()
    real_write, written = os.write, 0

    def full(descriptor, data):
        nonlocal written
        if written > 300:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        taken = real_write(descriptor, data[:100])
        written += taken
        return taken

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(NoSpaceError, match="no space left"):
        write(tmp_path / "t", random_section("s", 100_000, 2), threads=2)
    assert [file.name for file in tmp_path.iterdir()] == ["t"]
    assert (tmp_path / "t").read_bytes() == before


def test_short_writes_are_completed(tmp_path, monkeypatch) -> None:
    real_write = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: real_write(fd, data[:7]))
    write(tmp_path / "t", random_section("s", 1000))
    with TableFile(tmp_path / "t") as table:
        table.check()


def test_missing_or_closed_folder(tmp_path, monkeypatch) -> None:
    with pytest.raises(StoreAccessError, match="No such file"):
        write(tmp_path / "none" / "t", random_section("s", 10))

    def refused(*_arguments):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(os, "open", refused)
    with pytest.raises(StoreAccessError, match="Read-only file system"):
        write(tmp_path / "t", random_section("s", 10))


def test_errors_of_the_source_are_not_blamed_on_the_file(tmp_path) -> None:
    def sections():
        yield random_section("s", 1000)
        raise OSError(errno.EIO, "a source could not be read")

    with pytest.raises(OSError, match="a source"):
        write_table(
            tmp_path / "t", game="g", rules={}, fingerprint="", name="n", sections=sections()
        )
    assert list(tmp_path.iterdir()) == []


def test_interrupt_leaves_nothing_behind(tmp_path) -> None:
    def sections():
        yield random_section("s", 1000)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_table(
            tmp_path / "t", game="g", rules={}, fingerprint="", name="n", sections=sections()
        )
    assert list(tmp_path.iterdir()) == []
