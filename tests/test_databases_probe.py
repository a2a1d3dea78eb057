"""Look-ups: the value stored is the value returned, or an error that says what is wrong.

The tables here are not solved. Their values are a fixed function of place, which is enough to see
that each look-up reads the place of its own position.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import textwrap
import threading
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import databases
from databases import (
    CorruptTableError,
    MissingTableError,
    Store,
    StoreAccessError,
    TableError,
    WrongRulesError,
    open_tables,
)
from databases.cache import BlockCache
from databases.catalog import (
    LASCA_SECTION,
    explored_family,
    lasca_family,
    lasca_place,
    morris_dtc_family,
    morris_family,
    morris_place,
)
from databases.explored import PositionSet, table_name, write_explored
from databases.format import UNKNOWN_PLIES
from databases.pack import Section
from databases.probe import Value
from engine.lasca import Position as LascaPosition
from engine.lasca.index import LascaClass, classes
from engine.lasca.packing import LOW_BITS, pack
from engine.morris import Position, Rules
from engine.morris.index import Subspace, position_at, subspaces_of_level

UNITS = ((3, 3), (3, 4))
LASCA_MEN = ((1, 1), (2, 1), (1, 2))


def invented(seed: str, entries: int) -> tuple[np.ndarray, np.ndarray]:
    """Values int8[entries] and plies uint16[entries] that depend on `seed` only."""
    rng = np.random.default_rng(zlib.crc32(seed.encode()))
    values = rng.integers(-1, 2, entries).astype(np.int8)
    plies = rng.integers(0, 500, entries).astype(np.uint16)
    plies[values == 0] = 0
    return values, plies


def section(name: str, values: np.ndarray, plies: np.ndarray | None = None) -> Section:
    win, loss = (np.packbits(values == value, bitorder="little") for value in (1, -1))
    return Section(name, values.size, win, loss, plies)


def write_morris(root: Path, flying: str = "board", units=UNITS) -> list[Subspace]:
    written = []
    store = Store(root, morris_family(flying))
    with store.lock():
        for r, c in units:
            for k in range(r + 1):
                subspaces = subspaces_of_level(r, c, k)
                sections = [
                    section(s.section, invented(f"{flying} {s}", s.size)[0]) for s in subspaces
                ]
                store.write(subspaces[0].stem, sections)
                written += subspaces
    return written


def write_lasca(root: Path) -> list[LascaClass]:
    written = [of for men in LASCA_MEN for of in classes(*men)]
    store = Store(root, lasca_family())
    with store.lock():
        for of in written:
            store.write(of.name, [section(LASCA_SECTION, *invented(of.name, of.size))])
    return written


@pytest.fixture(scope="module")
def root(tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("tables")
    write_morris(root)
    write_lasca(root)
    return root


@pytest.fixture(scope="module")
def tables(root):
    with open_tables(root) as tables:
        yield tables


SUBSPACES = [
    subspace for r, c in UNITS for k in range(r + 1) for subspace in subspaces_of_level(r, c, k)
]
CLASSES = [of for men in LASCA_MEN for of in classes(*men)]


@given(data=st.data(), subspace=st.sampled_from(SUBSPACES))
def test_morris_look_up_reads_the_place_of_the_position(tables, data, subspace) -> None:
    index = data.draw(st.integers(0, subspace.size - 1))
    position = position_at(subspace, index)
    place = morris_place(position)
    assert (place.table, place.section) == (subspace.stem, subspace.section)
    values, _ = invented(f"board {subspace}", subspace.size)
    value = tables.probe(position)
    assert (value.wdl, value.plies) == (values[place.index], None)
    assert tables.probe_wdl(position) == tables.get_wdl(position) == values[place.index]


@given(data=st.data(), of=st.sampled_from(CLASSES), swap=st.booleans())
def test_lasca_look_up_reads_the_place_of_the_position(tables, data, of, swap) -> None:
    index = data.draw(st.integers(0, of.size - 1))
    position = of.unrank(index)
    if swap:  # the same position with Black to move
        position = position.colours_swapped()
    assert lasca_place(position) == (of.name, LASCA_SECTION, index)
    values, plies = invented(of.name, of.size)
    value = tables.probe(position)
    assert value.wdl == values[index]
    assert value.plies == (plies[index] if values[index] else None)
    assert tables.probe_wdl(position) == values[index]


@pytest.mark.parametrize(
    ("text", "wdl"),
    [
        ("W:Wa1:Bb4,b2,c3", -1),
        ("W:Wa1,a4,b4:Bb2:H0,1", 1),
        ("B:Wa1,a4,b4:Bb2:H0,1", -1),
        # Nothing in hand and no move: lost, table or not.
        ("W:Wa7,d7,g7,g4:Ba4,d6,f4,g1", -1),
    ],
)
def test_morris_games_that_are_over_need_no_table(tmp_path, text, wdl) -> None:
    with open_tables(tmp_path) as tables:
        value = tables.probe(Position.parse(text))
    assert (value.wdl, value.plies) == (wdl, None)


def test_lasca_game_that_is_over_needs_no_table(tmp_path) -> None:
    with open_tables(tmp_path) as tables:
        value = tables.probe(LascaPosition.parse("W:d4bw"))
    assert (value.wdl, value.plies) == (-1, 0)


def explored_set(start: LascaPosition, plies: int) -> PositionSet:
    """A made-up set of a position and its successors: all won, in so many plies."""
    numbers = sorted({pack(position) for position in (start, *(p for _, p in start.successors()))})
    high, low = np.array([divmod(number, 1 << LOW_BITS) for number in numbers]).T
    count = len(numbers)
    all_plies = np.full(count, plies, np.uint16)
    return PositionSet(high, low, np.ones(count, np.int8), all_plies, count, False)


def test_explored_sets_answer_where_no_table_does(root, tmp_path) -> None:
    start = LascaPosition.parse("W:c1B b6WBbbbbBB d6wWwwWw c7Wwwwbbb")
    with open_tables(tmp_path) as tables:
        with pytest.raises(MissingTableError, match="--from"):
            tables.probe(start)
        write_explored(tmp_path, start, explored_set(start, UNKNOWN_PLIES))
        for position in (start, start.mirrored(), start.colours_swapped()):
            assert tables.probe(position) == Value(1, None)
    after = start.successors()[0][1]
    write_explored(tmp_path, after, explored_set(after, 6))
    with open_tables(tmp_path) as tables:
        assert tables.probe(start) == Value(1, None)
        # The set that knows the plies is preferred, whichever name comes first.
        assert tables.probe(after) == tables.probe(after.mirrored()) == Value(1, 6)
        assert tables.get_wdl(LascaPosition.START) is None
    Store(tmp_path, explored_family()).check(table_name(start.mirrored()))


def test_explored_set_does_not_stand_above_a_table(tmp_path) -> None:
    write_lasca(tmp_path)
    start = LascaPosition.parse("W:a1w c3b g7b")
    with open_tables(tmp_path) as tables:
        before = tables.probe(start)
        write_explored(tmp_path, start, explored_set(start, 499))
        assert tables.probe(start) == before


def test_distances_stand_beside_the_values(tmp_path) -> None:
    for flying in ("board", "off"):
        values, distances = morris_family(flying), morris_dtc_family(flying)
        assert (distances.rules, distances.board) == (values.rules, values.board)
        path = distances.path(tmp_path, "r03c05k02")
        assert path == tmp_path / f"morris/{flying}/dtc/r03c05k02.dtc"
        option = "" if flying == "board" else " --flying off"
        assert distances.command(tmp_path, "r03c05k02") == (
            f"lasker solve morris --men 5{option} --metric dtc --tables {tmp_path}"
        )


def test_missing_table_names_subspace_and_command(tmp_path) -> None:
    with open_tables(tmp_path) as tables:
        with pytest.raises(MissingTableError) as caught:
            tables.probe_wdl(Position.parse("W:Wa1,d7:Bb4:H8,9"))
        assert isinstance(caught.value, KeyError)
        assert caught.value.subspace == "r10c10k01 C2"
        assert caught.value.command == f"lasker solve morris --men 10 --tables {tmp_path}"
        assert caught.value.path == tmp_path / "morris/board/r10c10k01.wdl"
        assert caught.value.command in str(caught.value) and "\n" not in str(caught.value)
        with pytest.raises(MissingTableError) as caught:
            tables.probe(Position.parse("W:W:B:H3,5"), Rules(flying="off"))
        assert caught.value.command == (
            f"lasker solve morris --men 5 --flying off --tables {tmp_path}"
        )
        assert tables.get_wdl(Position.START) is None
        assert tables.get_wdl(Position.START, 7) == 7


OFFICERS = "W:d4WWWWWWWWWWWBB f4BBBBBBBB b2B"


@pytest.mark.parametrize(
    ("text", "scope"),
    [
        ("W:a1w b2w a7b", "--men 3"),
        ("B:a1wwww d4Bw a7b", "--from 'B:a1wwww d4Bw a7b'"),
        (OFFICERS, "--officers --columns 3"),
        (OFFICERS.replace("BB f4", " c5B e5B f4"), None),
        (OFFICERS.replace(" b2B", "b"), None),
        ("start", None),
    ],
)
def test_missing_lasca_table_names_the_command(tmp_path, text, scope) -> None:
    position = LascaPosition.parse(text)
    with open_tables(tmp_path) as tables, pytest.raises(MissingTableError) as caught:
        tables.probe(position)
    scope = scope or f"--from '{position}'"
    assert caught.value.command == f"lasker solve lasca {scope} --tables {tmp_path}"


def test_tables_of_each_flying_rule_are_kept_apart(tmp_path) -> None:
    subspace = Subspace(3, 3, 3, 3, "C")
    for flying in ("board", "total"):
        write_morris(tmp_path, flying, [(3, 3)])
    with open_tables(tmp_path) as tables:
        positions = [position_at(subspace, index) for index in range(0, subspace.size, 3001)]
        for flying in ("board", "total"):
            values, _ = invented(f"{flying} {subspace}", subspace.size)
            expected = [values[morris_place(position).index] for position in positions]
            found = [tables.probe_wdl(position, Rules(flying=flying)) for position in positions]
            assert found == expected
        with pytest.raises(MissingTableError):
            tables.probe_wdl(positions[0], Rules(flying="off"))


def test_table_under_the_folder_of_other_rules_is_refused(tmp_path) -> None:
    write_morris(tmp_path, "board", [(3, 3)])
    (tmp_path / "morris/board").rename(tmp_path / "morris/off")
    with open_tables(tmp_path) as tables, pytest.raises(WrongRulesError, match=r"board.*off"):
        tables.probe_wdl(Position.parse("W:W:B:H3,3"), Rules(flying="off"))


def test_table_of_the_other_game_is_refused(tmp_path) -> None:
    write_lasca(tmp_path)
    (tmp_path / "morris/board").mkdir(parents=True)
    next((tmp_path / "lasca/classes").glob("*.tbl")).rename(tmp_path / "morris/board/r03c03k00.wdl")
    with (
        open_tables(tmp_path) as tables,
        pytest.raises(WrongRulesError, match="game lasca, not morris"),
    ):
        tables.probe_wdl(Position.parse("W:W:B:H3,3"))


def test_table_without_the_section(tmp_path) -> None:
    store = Store(tmp_path, morris_family("board"))
    with store.lock():
        store.write("r03c03k00", [section("C1", np.zeros(24, np.int8))])
    with open_tables(tmp_path) as tables, pytest.raises(CorruptTableError, match="no section C0"):
        tables.probe_wdl(Position.parse("W:W:B:H3,3"))


def test_corrupt_block_is_named(tmp_path) -> None:
    write_morris(tmp_path, "board", [(3, 3)])
    path = tmp_path / "morris/board/r03c03k03.wdl"
    damaged = bytearray(path.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    path.write_bytes(damaged)
    subspaces = subspaces_of_level(3, 3, 3)
    faults = set()
    with open_tables(tmp_path) as tables:
        for subspace in subspaces:
            try:
                tables.probe_wdl(position_at(subspace, 0))
            except CorruptTableError as error:
                assert str(path) in str(error)
                faults.add(error.place)
                with pytest.raises(CorruptTableError):
                    tables.get_wdl(position_at(subspace, 0))
    assert len(faults) == 1


@pytest.mark.parametrize("limit", [1, 2, 64])
def test_open_files_are_bounded(root, limit) -> None:
    def open_files() -> int:
        return sum(
            os.readlink(f"/proc/self/fd/{fd}").startswith(str(root))
            for fd in os.listdir("/proc/self/fd")
            if os.path.islink(f"/proc/self/fd/{fd}")
        )

    before = open_files()
    with open_tables(root, max_open_files=limit) as tables:
        assert open_files() == before
        for subspace in SUBSPACES:
            tables.probe_wdl(position_at(subspace, 0))
            assert open_files() <= before + limit
    assert open_files() == before


LIMITED = """
    import sys
    sys.path.insert(0, {tests!r})
    from test_databases_probe import CLASSES, SUBSPACES, open_tables, position_at
    import resource
    with open_tables({root!r}, max_open_files={bound}) as tables:
        position_at(SUBSPACES[0], 0)
        resource.setrlimit(resource.RLIMIT_NOFILE, ({limit}, {limit}))
        for _ in range(2):
            for subspace in SUBSPACES:
                tables.probe_wdl(position_at(subspace, subspace.size - 1))
            for of in CLASSES:
                tables.probe_wdl(of.unrank(of.size - 1))
    print("done")
"""


@pytest.mark.parametrize(("limit", "bound"), [(64, 64), (10, 64), (64, 10_000)])
def test_the_systems_limit_on_open_files_is_kept_to(root, limit, bound) -> None:
    """More tables than the process may open, and a bound of our own that is no help."""
    assert len({s.stem for s in SUBSPACES}) + len(CLASSES) > 30
    code = textwrap.dedent(LIMITED).format(
        tests=str(Path(__file__).parent), root=str(root), limit=limit, bound=bound
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "done\n", done.stderr
    assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] > limit


@pytest.mark.parametrize(("max_open_files", "cache_bytes"), [(1, 0), (2, 100_000), (64, 64 << 20)])
def test_many_threads(root, max_open_files, cache_bytes) -> None:
    """Threads that evict each other's files and blocks all the time read right values."""
    questions = []
    for subspace in SUBSPACES:
        values, _ = invented(f"board {subspace}", subspace.size)
        for index in range(0, subspace.size, subspace.size // 3 + 1):
            position = position_at(subspace, index)
            questions.append((position, values[morris_place(position).index]))
    wrong, stop = [], threading.Event()

    def ask(seed: int) -> None:
        rng = np.random.default_rng(seed)
        for number in rng.integers(0, len(questions), 300):
            position, value = questions[number]
            try:
                if tables.probe_wdl(position) != value:
                    wrong.append(position)
            except TableError as error:
                wrong.append(error)

    def disturb() -> None:
        while not stop.wait(0.002):
            tables.close()

    with open_tables(root, max_open_files=max_open_files, cache_bytes=cache_bytes) as tables:
        threads = [threading.Thread(target=ask, args=(seed,)) for seed in range(8)]
        disturber = threading.Thread(target=disturb)
        for thread in (*threads, disturber):
            thread.start()
        for thread in threads:
            thread.join()
        stop.set()
        disturber.join()
    assert not wrong


def test_block_cache_stays_within_its_bound() -> None:
    cache = BlockCache(10_000)
    reads = []

    def get(key: int, size: int) -> bytes | int:
        return cache.get(key, lambda: reads.append(key) or bytes(size))

    for key in range(100):
        get(key, 1000)
        assert cache.size <= 10_000
    assert get(99, 1000) == bytes(1000)
    assert reads == list(range(100))
    get(0, 1000)
    assert reads[-1] == 0
    get("large", 20_000)
    assert cache.size <= 10_000
    assert cache.get("number", lambda: 2) == 2


def test_least_recently_used_block_goes_first() -> None:
    cache = BlockCache(3 * 1600)
    for key in (1, 2, 3, 1, 4):
        cache.get(key, lambda: bytes(1000))
    read = []
    for key in (1, 3, 4, 2):
        cache.get(key, lambda key=key: read.append(key) or bytes(1000))
    assert read == [2]


def test_table_written_later_is_found(tmp_path) -> None:
    position = Position.parse("W:W:B:H3,3")
    with open_tables(tmp_path) as tables:
        assert tables.get_wdl(position) is None
        write_morris(tmp_path, "board", [(3, 3)])
        assert tables.get_wdl(position) is not None


def test_table_replaced_or_removed_between_look_ups(tmp_path) -> None:
    """With one open file each look-up finds its file suspended, and must see that it changed."""
    write_morris(tmp_path, "board", [(3, 3)])
    subspaces = subspaces_of_level(3, 3, 2)
    positions = [position_at(subspace, 0) for subspace in subspaces]
    other = Position.parse("W:W:B:H3,3")
    store = Store(tmp_path, morris_family("board"))
    with open_tables(tmp_path, max_open_files=1) as tables:
        for value in (1, -1, 0):
            with store.lock():
                sections = [section(s.section, np.full(s.size, value)) for s in subspaces]
                store.write(subspaces[0].stem, sections)
            tables.probe_wdl(other)
            assert {tables.probe_wdl(position) for position in positions} == {value}
        store.path(subspaces[0].stem).unlink()
        assert tables.probe_wdl(positions[0]) == 0  # still open
        tables.probe_wdl(other)
        with pytest.raises(MissingTableError):
            tables.probe_wdl(positions[0])


def test_path_that_is_no_folder(tmp_path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StoreAccessError, match="not a folder"):
        open_tables(tmp_path / "file")


def test_a_look_up_does_not_import_numba(root) -> None:
    code = (
        "import sys; from databases import open_tables; from engine.morris import Position\n"
        f"open_tables({str(root)!r}).probe_wdl(Position.parse('W:W:B:H3,3'))\n"
        "assert 'numba' not in sys.modules and 'engine.lasca' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_errors_alone_do_not_import_numpy() -> None:
    code = "import sys; from databases import TableError; assert 'numpy' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_names_of_the_package() -> None:
    for name in databases.__all__:
        assert getattr(databases, name).__name__ == name
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        getattr(databases, "nothing")  # noqa: B009
