"""The main job in small: both games solved up to a few men, verified, and looked up.

Most of the time goes into compiling the kernels of either game, which one process does on one
core; so the games are at it side by side, each step as the process that a user could have started.
Invariant: a stage begins only when all commands of the one before have succeeded.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Sequence

Command = tuple[str, ...]

STAGES: tuple[tuple[Command, ...], ...] = (
    (("solve", "morris", "--men", "4"), ("solve", "lasca", "--men", "3")),
    (("verify", "morris", "--men", "4"), ("verify", "lasca", "--men", "3")),
    (("probe", "morris", "W:Wa1,b4,b6,c4:Bb2,f2:H0,1"),),
    (("probe", "lasca", "W:c1w b2w a7b"),),
)
"""Commands, stage by stage; those of one stage run at the same time."""


def quickstart(
    options: Sequence[str], *, quiet: bool, stages: Sequence[Sequence[Command]] = STAGES
) -> int:
    """Runs the commands with these common options; the exit code of the first that fails, or 0.

    The commands are announced on stderr unless `quiet`; of the commands of a stage only the first
    shows its progress. Results are printed in the order of the commands.
    """
    for stage in stages:
        running = []
        for number, command in enumerate(stage):
            if not quiet:
                print(f"lasker {shlex.join(command)}", file=sys.stderr, flush=True)
            silence = ["--quiet"] if quiet or number else []
            words = [sys.executable, "-P", "-m", "solver.cli", *command, *options, *silence]
            running.append(subprocess.Popen(words, stdout=subprocess.PIPE, text=True))
        codes = []
        try:
            for process in running:
                print(process.communicate()[0], end="", flush=True)
                codes.append(process.returncode)
        except KeyboardInterrupt:
            # The commands got it too; their tables are whole when they have ended.
            for process in running:
                process.wait()
            raise
        if any(codes):
            return next(code for code in codes if code)
    return 0
