"""Small grey pictures as PNG, to be put into a page as they are."""

from __future__ import annotations

import base64
import struct
import zlib

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["data_uri", "png"]


def png(ink: ArrayLike) -> bytes:
    r"""An 8-bit grey PNG.

    Args:
        ink: ``(height, width)`` from 0 (white) to 1 (black).

    >>> png([[0.0, 1.0]])[:4]
    b'\x89PNG'
    """
    shades = (255 * (1 - np.clip(np.asarray(ink, np.float64), 0, 1))).round().astype(np.uint8)
    height, width = shades.shape
    rows = b"".join(b"\0" + row.tobytes() for row in shades)  # each row begins with its filter: none
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in chunks)


def data_uri(ink: ArrayLike) -> str:
    """The picture as the source of an ``img``."""
    return "data:image/png;base64," + base64.b64encode(png(ink)).decode("ascii")


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
