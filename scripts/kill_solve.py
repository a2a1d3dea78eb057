"""Kills a solve with signal 9 at random moments, starts it again, and compares the files.

    .venv/bin/python scripts/kill_solve.py [--men 4] [--times 20] [--seed 1]

An undisturbed run makes the reference. Then, for each time, a run in an empty folder is killed
after a random part of the reference's time, again and again until one run ends by itself; then
every file must be what it is in the reference, byte for byte. Exit code 1 at the first that is not.
"""

from __future__ import annotations

import argparse
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def solve(folder: Path, men: int) -> subprocess.Popen[bytes]:
    command = ["solve", "morris", "--men", str(men), "--tables", str(folder), "--quiet"]
    return subprocess.Popen([sys.executable, "-m", "solver.cli", *command])


def files(folder: Path) -> dict[str, bytes]:
    """Every table and the manifest, by name."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "lock"
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--men", type=int, default=4)
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    choose = random.Random(arguments.seed)
    with tempfile.TemporaryDirectory(prefix="lasker-kill-") as temporary:
        root = Path(temporary)
        began = time.perf_counter()
        if solve(root / "reference", arguments.men).wait() != 0:
            return 1
        length = time.perf_counter() - began
        expected = files(root / "reference")
        print(f"reference: {len(expected)} files in {length:.1f} s", flush=True)
        for number in range(1, arguments.times + 1):
            folder = root / f"killed{number}"
            kills = 0
            while True:
                run = solve(folder, arguments.men)
                try:
                    code = run.wait(timeout=choose.uniform(0.2, 1.1) * length)
                except subprocess.TimeoutExpired:
                    run.send_signal(signal.SIGKILL)
                    run.wait()
                    kills += 1
                    continue
                if code != 0:
                    print(f"run {number} ended with exit code {code} after {kills} kills")
                    return 1
                break
            if files(folder) != expected:
                print(f"run {number}: the files differ after {kills} kills")
                return 1
            print(f"run {number}: {kills} kills, files the same", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
