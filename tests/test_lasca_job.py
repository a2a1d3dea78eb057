"""The batch jobs of Lasca: what they write, that they resume, and that threads change nothing."""

from __future__ import annotations

import random

import numpy as np
import pytest

from databases import Store, StoreBusyError, lasca_family, open_tables
from engine.lasca import Position
from engine.lasca.index import classes
from solver import lasca_job as job
from solver.errors import ResourceError
from solver.lasca_cost import busy_positions, estimate, held_memory, task_memory, too_large
from solver.lasca_game import Family, LascaGame, StoppedError
from solver.lasca_job import (
    families_by_men,
    officers_family,
    scores_of,
    section_of,
    solve_families,
    table_names,
)

THREE_MEN = families_by_men(3)


def bytes_of(store: Store) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in store.folder.glob("*.tbl")}


@pytest.fixture(scope="module")
def three_men(tmp_path_factory) -> Store:
    store = Store(tmp_path_factory.mktemp("tables"), lasca_family())
    solve_families(store, THREE_MEN)
    return store


def test_every_class_of_three_men_has_a_whole_table(three_men):
    report = three_men.report(table_names(THREE_MEN))
    assert sorted(report.whole) == sorted(
        c.name for men in ((1, 1), (2, 1), (1, 2)) for c in classes(*men)
    )
    assert not report.missing and not report.damaged
    assert report.entries == 2216 + 2 * 55492


def test_values_are_found_by_looking_up(three_men):
    with open_tables(three_men.root) as tables:
        assert tables.probe_wdl(Position.parse("W:b2Bw a3W")) == 1
        assert tables.probe(Position.parse("B:d4W a7B g7B")).plies == 9
        assert tables.probe(Position.parse("W:c1Bw f2b")).plies == 0


def test_perfect_play_ends_in_the_stated_number_of_plies(three_men):
    rng = random.Random(41)
    with open_tables(three_men.root) as tables:
        for of in classes(2, 1):
            position = of.unrank(rng.randrange(of.size))
            found = tables.probe(position)
            left = found.plies
            while left:
                after = [(tables.probe(q), q) for _, q in position.successors()]
                best = min if left % 2 else max
                value, position = best(
                    ((v, q) for v, q in after if v.wdl == (-1 if left % 2 else 1)),
                    key=lambda choice: choice[0].plies,
                )
                left -= 1
                assert value.plies == left
            assert found.wdl == 0 or position.is_lost()


def test_solving_again_does_nothing(three_men, monkeypatch):
    monkeypatch.setattr(job, "solve", lambda *_, **__: pytest.fail("solved again"))
    solve_families(three_men, THREE_MEN)


def test_a_lost_table_is_made_again_alike(three_men, tmp_path):
    store = Store(tmp_path, lasca_family())
    solve_families(store, THREE_MEN, threads=2)
    assert bytes_of(store) == bytes_of(three_men)
    middle = table_names(THREE_MEN)[20]
    store.path(middle).unlink()
    solve_families(store, THREE_MEN)
    assert bytes_of(store) == bytes_of(three_men)


def test_a_run_that_fails_halfway_keeps_what_it_finished(tmp_path, monkeypatch):
    store = Store(tmp_path, lasca_family())
    solve = job.solve
    done = 0

    def failing(game, **options):
        nonlocal done
        done += 1
        if done == 9:
            raise KeyboardInterrupt
        return solve(game, **options)

    monkeypatch.setattr(job, "solve", failing)
    with pytest.raises(KeyboardInterrupt):
        solve_families(store, THREE_MEN)
    assert len(store.report().whole) >= 8
    monkeypatch.undo()
    solve_families(store, THREE_MEN)
    assert not store.report(table_names(THREE_MEN)).missing


def test_little_memory_only_means_one_task_at_a_time(three_men, tmp_path):
    store = Store(tmp_path, lasca_family())
    solve_families(store, THREE_MEN, threads=2, memory=1)
    assert bytes_of(store) == bytes_of(three_men)


def test_two_runs_in_one_folder(three_men):
    with three_men.lock(), pytest.raises(StoreBusyError):
        solve_families(Store(three_men.root, lasca_family()), THREE_MEN)


@pytest.mark.parametrize("longest", [301, 200])
def test_scores_are_read_back(tmp_path, longest):
    of = classes(1, 1)[0]
    scores = np.full(of.size, 65535, np.uint16)
    scores[:8] = 0, 65535, 1, 24, 65535, 2, longest, 254
    store = Store(tmp_path, lasca_family())
    with store.lock():
        store.write(of.name, [section_of(scores)])
    found = scores_of(store, of)
    assert found.dtype == np.uint16
    assert np.array_equal(found, scores)


def test_a_stopped_task_is_given_up():
    family = Family(1, 1)
    run = job._FamilyRun(None, family, list(family.tasks), 1, None, None)
    run._stop.set()
    game = LascaGame(family, family.tasks[0], np.zeros(family.size, np.uint16), stop=run._stop)
    with pytest.raises(StoppedError):
        game.expand(0, 1)


@pytest.fixture(scope="module")
def officers(tmp_path_factory) -> Store:
    store = Store(tmp_path_factory.mktemp("officers"), lasca_family())
    solve_families(store, [officers_family(2)])
    return store


def test_real_endings_of_two_columns_are_consistent(officers):
    of = officers_family(2).tasks[-1].classes[0]
    assert of.size == 144_600
    rng = random.Random(43)
    with open_tables(officers.root) as tables:
        for _ in range(300):
            position = of.unrank(rng.randrange(of.size))
            found = tables.probe(position)
            after = [tables.probe(q) for _, q in position.successors()]
            lost = [v.plies for v in after if v.wdl == -1]
            if lost:
                assert (found.wdl, found.plies) == (1, 1 + min(lost))
            elif any(v.wdl == 0 for v in after):
                assert found.wdl == 0
            else:
                plies = max((v.plies for v in after), default=-1)
                assert (found.wdl, found.plies) == (-1, 1 + plies)


def test_selections_out_of_reach_are_refused():
    for men in (1, 7):
        with pytest.raises(ValueError, match="men"):
            families_by_men(men)
    for columns in (0, 5):
        with pytest.raises(ValueError, match="columns"):
            officers_family(columns)


def test_a_task_too_large_for_the_engine(tmp_path):
    family = officers_family(4)
    assert "9,554,292,000 positions" in too_large([family])
    assert too_large(families_by_men(6)) is None
    assert estimate([family]).positions == 50 + 144_600 + 66_240_000 + 9_554_292_000
    with pytest.raises(ResourceError, match="9,554,292,000"):
        solve_families(Store(tmp_path, lasca_family()), [family])


def test_estimate_of_six_men():
    found = estimate(families_by_men(6), threads=2)
    assert found.positions == 1_565_700_004
    assert found.tables == 784
    assert 1 < found.memory / 2**30 < 16
    assert found.seconds > 10


def test_estimated_memory_is_that_of_the_tasks_solved_at_once():
    family = families_by_men(5)[-1]
    tasks = sorted(map(task_memory, family.tasks))
    one, two = (estimate([family], threads).memory for threads in (1, 2))
    assert one == held_memory(family) + tasks[-1]
    assert two == held_memory(family) + tasks[-1] + tasks[-2]
    assert estimate([family], 2, memory=two + 1).memory == two
    assert estimate([family], 2, memory=two - 1).memory == two - 1
    assert estimate([family], 2, memory=1).memory == one


def test_threads_do_not_help_where_tasks_wait_for_each_other():
    officers = officers_family(3)
    assert busy_positions(officers, 2) == busy_positions(officers, 1) == officers.size
    family = families_by_men(4)[-2]
    assert family.size / 2 <= busy_positions(family, 2) < family.size
