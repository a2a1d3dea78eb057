"""The bytes of a table file: its fixed parts, its header and its block index, to and from Python.

FORMAT.md beside this module is the specification for everybody else; this is the only module that
knows the layout. A file is written front to back and never patched:

    front | blocks ... | block index | header (JSON) | trailer

Invariant: every byte of a file is covered by a check (CRC-32 of the front, of each block, of the
index, of the header and of the trailer), and the sizes in them add up to the size of the file; so
bytes that decode without an error are the bytes that were written.
"""

from __future__ import annotations

import hashlib
import json
import struct
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from databases.errors import CorruptTableError, UnsupportedVersionError

MAGIC = b"LASKTBL\x1a"
VERSION = 1
TRAILER_MAGIC = b"LEND"
BLOCK_ENTRIES = 1 << 17
"""Entries a block. Half as many cost 1.6 % more disk and some more time to write; twice as many
save 0.6 % of disk and double the time of a look-up (levels 5 and 6 of units (5, 6) and (6, 6))."""

_FRONT = struct.Struct("<8sII")  # magic, version, CRC-32 of both
_TRAILER = struct.Struct("<QQQQIII4s")
FRONT_SIZE = _FRONT.size
TRAILER_SIZE = _TRAILER.size
INDEX_ENTRY_SIZE = 8

# Values as they are written into the index for a block in which all are alike.
DRAW, LOSS, WIN = 0, 1, 2

# What a section may hold.
VALUES = "values"
DISTANCES = "distances"

UNKNOWN_PLIES = 65535
"""Stands for the plies of a win or loss of which only the value is known."""


@dataclass(frozen=True, slots=True)
class SectionInfo:
    """What the header says about one section.

    `entries` positions, of which `win`, `draw`, `loss` for the mover; all three are None in a
    section of distances alone, whose values another table holds. `plies_bytes` is 0 where no
    distances are stored, else the bytes of one of them. `longest_win` and `longest_loss` are the
    greatest distances in plies, None where there are none; of distances alone `longest_win` is the
    greatest entry, None where all are 0. `key_bytes` is 0 where a position is
    found by its index; else each has a key of so many bytes, and `first_keys` holds the first key
    (hex) of each block. `content` is a checksum (hex) of all values, plies and keys that does not
    depend on how they were compressed, see `content_checksum`. `scores` says that value and plies
    of a position are stored as one number of `plies_bytes` bytes, see `draw_score`.
    """

    name: str
    entries: int
    win: int | None
    draw: int | None
    loss: int | None
    plies_bytes: int
    longest_win: int | None
    longest_loss: int | None
    key_bytes: int
    first_keys: tuple[str, ...]
    content: str
    scores: bool = False

    @property
    def has_values(self) -> bool:
        """Whether the section holds values, not distances alone."""
        return self.win is not None

    @property
    def contents(self) -> str:
        """VALUES, with or without distances, or DISTANCES alone."""
        return VALUES if self.has_values else DISTANCES

    @property
    def constant(self) -> int | None:
        """The value -1, 0 or 1 that all entries have, or None where they differ."""
        for count, value in ((self.draw, 0), (self.win, 1), (self.loss, -1)):
            if count == self.entries:
                return value
        return None

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of blocks of the section, in their order in the file."""
        kinds = (
            ("scores", self.scores),
            ("values", self.has_values and not self.scores),
            ("plies", self.plies_bytes and not self.scores),
            ("keys", self.key_bytes),
        )
        return tuple(kind for kind, stored in kinds if stored)

    def raw_size(self, kind: str, entries: int) -> int:
        """The bytes of a block of `entries` positions, uncompressed."""
        if kind == "values":
            return 2 * bitmap_size(entries)
        return entries * (self.key_bytes if kind == "keys" else self.plies_bytes)


@dataclass(frozen=True, slots=True)
class Header:
    """What a table file says about itself.

    `rules` holds every rule option of the game, `about` what else the writer has to say.
    """

    game: str
    rules: Mapping[str, object]
    board: str
    name: str
    about: Mapping[str, object]
    created_by: Mapping[str, str]
    block_entries: int
    sections: tuple[SectionInfo, ...]


@dataclass(frozen=True, slots=True)
class Trailer:
    """Where the index and the header of a file are, and what their bytes must sum to."""

    index_offset: int
    index_size: int
    header_size: int
    file_size: int
    index_crc: int
    header_crc: int


def draw_score(width: int) -> int:
    """The score of a draw in a section with scores of so many bytes, the greatest number.

    Every other score is the plies to the end of the game: odd for a win, since the winner makes the
    last move, and even for a loss.
    """
    return 256**width - 1


def blocks_of(entries: int, block_entries: int) -> int:
    """The number of blocks that hold `entries` positions."""
    return -(-entries // block_entries)


def bitmap_size(entries: int) -> int:
    """The bytes of one bitmap over `entries` positions."""
    return -(-entries // 8)


def encode_front() -> bytes:
    """The first FRONT_SIZE bytes of a file."""
    start = struct.pack("<8sI", MAGIC, VERSION)
    return start + struct.pack("<I", zlib.crc32(start))


def check_front(raw: bytes, path: Path) -> None:
    """Raise CorruptTableError or UnsupportedVersionError unless `raw` opens a readable file."""
    if len(raw) < FRONT_SIZE:
        raise CorruptTableError(path, "front", f"the file has only {len(raw)} bytes")
    magic, version, crc = _FRONT.unpack(raw)
    if magic != MAGIC:
        raise CorruptTableError(path, "front", "it does not begin like a table file")
    if crc != zlib.crc32(raw[:-4]):
        raise CorruptTableError(path, "front", "checksum mismatch")
    if version != VERSION:
        raise UnsupportedVersionError(path, version, VERSION)


def encode_index(blocks: Iterable[tuple[int, int]]) -> bytes:
    """The block index: for each block the bytes it takes and their CRC-32.

    A block whose entries are all alike takes no bytes, and holds their value instead of a CRC.
    """
    return b"".join(struct.pack("<II", size, check) for size, check in blocks)


def decode_index(raw: bytes) -> tuple[np.ndarray, np.ndarray]:
    """Sizes (int64[blocks]) and checks (uint32[blocks]) of the blocks in a block index."""
    pairs = np.frombuffer(raw, "<u4").reshape(-1, 2)
    return pairs[:, 0].astype(np.int64), pairs[:, 1].astype(np.uint32)


def content_checksum(blocks: Iterable[tuple[bool, int]]) -> str:
    """SHA-256 (hex) over the blocks of a section, from their contents alone.

    Each block gives (True, value) when its entries are all alike, else (False, checksum) with the
    low half of the XXH64 of its uncompressed bytes, which zstd computes for its frames anyway. So
    the sum costs nothing and is the same with every level and release of zstd.
    """
    digest = hashlib.sha256()
    for alike, number in blocks:
        digest.update(struct.pack("<II", not alike, number))
    return digest.hexdigest()


def frame_content_checksum(frame: bytes) -> int:
    """The checksum of the uncompressed bytes that ends a zstd frame."""
    return int.from_bytes(frame[-4:], "little")


def encode_header(header: Header) -> bytes:
    """The header as JSON, one way only: keys sorted, no spaces, UTF-8."""
    fields = asdict(header)
    for section in fields["sections"]:
        if not section["scores"]:
            del section["scores"]  # so tables without are what they were before there were scores
    return json.dumps(fields, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def decode_header(raw: bytes, path: Path) -> Header:
    """The inverse of `encode_header`; CorruptTableError where a field is missing or absurd."""
    try:
        fields = json.loads(raw)
        sections = tuple(
            SectionInfo(**{**section, "first_keys": tuple(section["first_keys"])})
            for section in fields.pop("sections")
        )
        header = Header(sections=sections, **fields)
        check_header(header)
    # Whatever shape the JSON has, it is not the shape of a header.
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise CorruptTableError(path, "header", f"not a header: {error}") from error
    return header


def check_header(header: Header) -> None:
    """Raise ValueError unless each field of a header is of its kind and they fit each other."""
    texts = (header.game, header.board, header.name, *(s.name for s in header.sections))
    if not all(isinstance(text, str) for text in texts):
        raise ValueError("a name that is no text")
    objects = (header.rules, header.about, header.created_by)
    if not all(isinstance(fields, Mapping) for fields in objects):
        raise ValueError("rules, about or created_by that is no object")
    if not _is_count(header.block_entries) or not header.block_entries:
        raise ValueError(f"blocks of {header.block_entries!r} entries")
    if header.block_entries % 64:
        raise ValueError(f"blocks of {header.block_entries} entries, not a multiple of 64")
    if len({section.name for section in header.sections}) != len(header.sections):
        raise ValueError("two sections of one name")
    for section in header.sections:
        counts = (section.win, section.draw, section.loss)
        if counts == (None, None, None):
            if not section.plies_bytes or not _is_count(section.entries):
                raise ValueError(f"section {section.name} has neither values nor distances")
        elif not all(map(_is_count, counts)) or sum(counts) != section.entries:
            raise ValueError(f"counts of section {section.name} do not add up")
        if not _is_count(section.plies_bytes) or section.plies_bytes > 2:
            raise ValueError(f"section {section.name} has plies of {section.plies_bytes!r} bytes")
        if type(section.scores) is not bool:
            raise ValueError(f"section {section.name} has scores {section.scores!r}")
        if section.scores and (section.win is None or not section.plies_bytes or section.key_bytes):
            raise ValueError(f"section {section.name} has scores without counts or width, or keys")
        longest = (section.longest_win, section.longest_loss)
        if not all(plies is None or _is_count(plies) for plies in longest):
            raise ValueError(f"section {section.name} has no number as longest distance")
        if not _is_count(section.key_bytes):
            raise ValueError(f"section {section.name} has keys of {section.key_bytes!r} bytes")
        keys = blocks_of(section.entries, header.block_entries) if section.key_bytes else 0
        if [len(bytes.fromhex(key)) for key in section.first_keys] != [section.key_bytes] * keys:
            raise ValueError(f"section {section.name} has not a first key for each block")


def _is_count(number: object) -> bool:
    return type(number) is int and number >= 0


def encode_trailer(trailer: Trailer) -> bytes:
    """The last TRAILER_SIZE bytes of a file."""
    start = struct.pack(
        "<QQQQII",
        trailer.index_offset,
        trailer.index_size,
        trailer.header_size,
        trailer.file_size,
        trailer.index_crc,
        trailer.header_crc,
    )
    return start + struct.pack("<I", zlib.crc32(start)) + TRAILER_MAGIC


def decode_trailer(raw: bytes, file_size: int, path: Path) -> Trailer:
    """The inverse of `encode_trailer`; CorruptTableError unless its sizes fit `file_size`."""
    if len(raw) != TRAILER_SIZE or raw[-4:] != TRAILER_MAGIC:
        raise CorruptTableError(path, "trailer", "the file is cut off or its end overwritten")
    *fields, crc, _magic = _TRAILER.unpack(raw)
    if crc != zlib.crc32(raw[:-8]):
        raise CorruptTableError(path, "trailer", "checksum mismatch")
    trailer = Trailer(*fields)
    if trailer.file_size != file_size:
        raise CorruptTableError(
            path, "trailer", f"the file has {file_size} bytes and should have {trailer.file_size}"
        )
    parts = trailer.index_offset + trailer.index_size + trailer.header_size + TRAILER_SIZE
    if parts != file_size or trailer.index_offset < FRONT_SIZE:
        raise CorruptTableError(path, "trailer", "its sizes do not add up")
    return trailer
