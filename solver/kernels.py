"""Where compiled kernels are kept: a folder for each state of the sources they come from.

numba keeps a compiled function as long as the function's own file is unchanged. But the functions
it calls and the tables it reads are compiled into it, and a kept kernel with an old part of another
file in it gives wrong values or crashes. So the folder's name is a digest of all of these files.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path

_PACKAGES = (Path(__file__).parent, Path(__file__).parents[1] / "engine")


def sources_digest() -> str:
    """A digest (hex) of the engine and of every file of the solver that has to do with numba."""
    digest = hashlib.sha256()
    for package in _PACKAGES:
        for path in sorted(package.rglob("*.py")):
            source = path.read_bytes()
            if package.name == "engine" or b"numba" in source:
                digest.update(str(path.relative_to(package)).encode() + b"\0" + source)
    return digest.hexdigest()[:16]


def kernels_folder() -> Path:
    """The folder for the present sources: in the user's cache, or, if that can't be, temporary."""
    home = os.environ.get("XDG_CACHE_HOME", "")
    cache = Path(home) if os.path.isabs(home) else Path.home() / ".cache"
    name = Path("lasker") / "kernels" / sources_digest()
    folder = cache / name
    try:
        folder.mkdir(parents=True, exist_ok=True)
        writable = os.access(folder, os.W_OK)
    except OSError:
        writable = False
    if not writable:
        folder = Path(tempfile.gettempdir()) / f"lasker-{os.getuid()}" / name
        folder.mkdir(parents=True, exist_ok=True)
    return folder
