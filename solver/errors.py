"""What stops a job other than its tables: a request that makes no sense, or too little room.

Invariant: the text of an error is one line that says what is wrong, where, and what to do.
"""

from __future__ import annotations


class UsageError(ValueError):
    """The request itself can't be met: options that don't go together, a place that is none."""


class ResourceError(Exception):
    """Not enough disk or memory for a job, or a bound set for it is reached."""
