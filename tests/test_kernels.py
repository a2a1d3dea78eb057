"""The folder of compiled kernels: another one whenever a source of theirs changes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from solver import kernels


def test_a_changed_source_has_another_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    solver, engine = tmp_path / "solver", tmp_path / "engine"
    for package in (solver, engine):
        package.mkdir()
    monkeypatch.setattr(kernels, "_PACKAGES", (solver, engine))
    (solver / "fast.py").write_text("from numba import njit\n")
    (solver / "cli.py").write_text("import argparse\n")
    (engine / "board.py").write_text("POINTS = 24\n")
    before = kernels.sources_digest()
    (solver / "cli.py").write_text("import argparse  # changed\n")
    assert kernels.sources_digest() == before
    (engine / "board.py").write_text("POINTS = 25\n")
    other_board = kernels.sources_digest()
    (solver / "fast.py").write_text("from numba import njit  # changed\n")
    assert len({before, other_board, kernels.sources_digest()}) == 3


def test_folder_is_in_the_cache_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = kernels.kernels_folder()
    assert folder.is_dir() and folder.parent == tmp_path / "lasker" / "kernels"


def test_without_a_cache_the_folder_is_temporary(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocked = tmp_path / "a file"
    blocked.write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    monkeypatch.setattr(kernels.tempfile, "gettempdir", lambda: str(tmp_path / "temporary"))
    folder = kernels.kernels_folder()
    assert folder.is_dir() and tmp_path / "temporary" in folder.parents


def test_numba_is_told(tmp_path: Path) -> None:
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    environment.pop("NUMBA_CACHE_DIR", None)
    program = "import solver, numba; print(numba.config.CACHE_DIR)"
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    assert Path(done.stdout.strip()).parent == tmp_path / "lasker" / "kernels"
