"""Table files on disk: writing, reading, keeping and probing them.

    from databases import open_tables
    with open_tables(path) as tables:
        tables.probe_wdl(position)

Names are imported when they are asked for, so that a command which needs none of them, or only the
errors, does not wait for numpy and zstandard.
"""

from importlib import import_module
from typing import Any

_HOMES = {
    "CorruptTableError": "errors",
    "IllegalPositionError": "errors",
    "MissingTableError": "errors",
    "NoSpaceError": "errors",
    "StoreAccessError": "errors",
    "StoreBusyError": "errors",
    "TableError": "errors",
    "UnsupportedVersionError": "errors",
    "WrongRulesError": "errors",
    "SectionInfo": "format",
    "TableFile": "reader",
    "Section": "pack",
    "write_table": "writer",
    "Store": "store",
    "lasca_family": "catalog",
    "morris_dtc_family": "catalog",
    "morris_family": "catalog",
    "Tables": "probe",
    "open_tables": "probe",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
