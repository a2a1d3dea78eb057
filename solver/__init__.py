"""Solvers: the plain retrograde engine for any indexed game, and the fast one for Lasker Morris.

Invariant: nothing outside this package imports numba, so that a look-up starts fast.
"""
