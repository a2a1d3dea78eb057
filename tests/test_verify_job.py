"""Which checks a verification makes."""

from __future__ import annotations

from pathlib import Path

import pytest

from databases import Store, lasca_family, morris_family
from engine.morris import Rules
from engine.morris.index import Subspace
from solver import verify_job
from solver.lasca_job import families_by_men, officers_family, solve_families
from solver.morris_job import solve_morris
from solver.progress import Progress
from solver.verification import Check, Report

QUIET = Progress(quiet=True)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Morris up to three men a side; Lasca up to two men, and endings of two officers' columns."""
    root = tmp_path_factory.mktemp("tables")
    solve_morris(Store(root, morris_family("board")), 3, Rules())
    families = (*families_by_men(2), officers_family(1))
    solve_families(Store(root, lasca_family()), families)
    return root


def morris(
    root: Path, men: int | None = None, sample: int | None = None, known: bool = False
) -> Report:
    return verify_job.verify_morris(
        root, "board", men, sample=sample, known=known, threads=1, progress=QUIET
    )


def checked(report: Report) -> dict[str, tuple[str, int]]:
    assert report.is_clean
    return {check.what: (check.how, check.positions) for check in report.checks}


def test_small_units_are_checked_position_by_position(root: Path) -> None:
    found = checked(morris(root))
    assert set(found.values()) == {
        ("all positions", 311_133),
        ("solved again by the plain engine", 311_133),
        ("SHA-256 of every byte", 311_133),
    }
    assert checked(morris(root, 3)) == found


def test_what_the_plain_engine_leaves_is_proved(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = Subspace(3, 3, 3, 3, "C")
    monkeypatch.setattr(verify_job, "check_fixpoint", lambda *_, **__: ([Check("", "")], [left]))
    (proofs,) = [check for check in morris(root).checks if "forward search" in check.how]
    assert proofs.positions > 0
    assert not proofs.faults


def test_large_units_are_sampled(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verify_job, "WHOLE_CHECK", 1000)
    monkeypatch.setattr(verify_job, "SAMPLE", 2000)
    found = checked(morris(root))
    assert found["every value is the best that its moves give"][0] == (
        "samples of 2,000 of each subspace"
    )
    assert found["every value is the best that its moves give"][1] < 311_133
    assert found["the files are those of the manifest"][1] == 311_133


def test_samples_bound_all_that_is_done(root: Path) -> None:
    what = "every value is the best that its moves give"
    few, more = checked(morris(root, sample=3)), checked(morris(root, sample=30_000))
    assert few[what] == ("samples of 3 of each subspace", 3 * 15 + 1)
    assert few.keys() - more.keys() == {"wins can be forced and losses can't be escaped"}
    assert more.keys() - few.keys() == {"the values are the least fixpoint"}
    assert "the files are the published ones" in checked(morris(root, sample=3, known=True))


def test_published_files_are_compared_up_to_so_many_men(root: Path) -> None:
    found = checked(morris(root, 3, known=True))
    assert found["the files are the published ones"][1] in (0, 311_133)  # by release of zstd
    assert found["every value is the best that its moves give"][1] == 311_133


def test_all_that_is_solved_of_lasca(root: Path) -> None:
    report = verify_job.verify_lasca(root, None, known=False, threads=1, progress=QUIET)
    assert {positions for _, positions in checked(report).values()} == {2216 + 50}
    report = verify_job.verify_lasca(root, 2, known=False, threads=1, progress=QUIET)
    assert {positions for _, positions in checked(report).values()} == {2216}
