"""Estimates as text, and jobs refused for want of room."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from solver.errors import ResourceError
from solver.room import (
    Estimate,
    describe,
    duration,
    free_disk,
    free_memory,
    gigabytes,
    require,
)

ESTIMATE = Estimate(tables=3, positions=1_234_567, disk=5 << 20, memory=1 << 20, seconds=75.0)


def test_text(tmp_path: Path) -> None:
    lines = describe(ESTIMATE, tmp_path, 2).splitlines()
    assert lines[0] == "positions: 1,234,567"
    assert lines[1] == "files:     3"
    assert lines[2].startswith("disk:      5.0 MiB (")
    assert lines[4] == "time:      75 s with 2 threads"


def test_enough_room(tmp_path: Path) -> None:
    require(ESTIMATE, tmp_path / "not" / "there" / "yet", None)
    require(ESTIMATE, tmp_path, 1 << 20)


def test_too_little_memory_is_named(tmp_path: Path) -> None:
    with pytest.raises(ResourceError, match=r"not enough memory \(needs 1\.0 MiB, has 0\.5 MiB\)"):
        require(ESTIMATE, tmp_path, 1 << 19)
    with pytest.raises(ResourceError, match="memory"):
        require(replace(ESTIMATE, memory=free_memory() * 2), tmp_path, None)


def test_too_little_disk_is_named(tmp_path: Path) -> None:
    with pytest.raises(ResourceError, match=r"not enough disk in .* --force"):
        require(replace(ESTIMATE, disk=free_disk(tmp_path) * 2), tmp_path, None)


def test_numbers_for_people() -> None:
    assert [gigabytes(size) for size in (1 << 19, 1 << 30, 3 << 29)] == [
        "0.5 MiB",
        "1.0 GiB",
        "1.5 GiB",
    ]
    assert [duration(s) for s in (5.4, 600, 7200)] == ["5 s", "10 min", "2.0 h"]
