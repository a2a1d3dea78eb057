"""Solvers: the plain retrograde engine for any indexed game, and the fast one for Lasker Morris.

Importing it says where compiled kernels are kept between runs. Invariants: nothing outside this
package imports numba, so that a look-up starts fast; and a kernel that is kept was compiled from
the sources as they are now.
"""

import os

from solver.kernels import kernels_folder

os.environ.setdefault("NUMBA_CACHE_DIR", str(kernels_folder()))
