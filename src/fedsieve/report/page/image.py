"""A matrix as a small PNG, one pixel for each number; dark is far and light is near.

The page uses it as a mask over one color, which is another one in the dark.
"""

import base64
import struct
import zlib
from collections.abc import Sequence

FAR, NEAR = 0x00, 0xFF


def picture(values: Sequence[Sequence[float]], most: float, near_is_high: bool) -> bytes:
    """The PNG of a square matrix with values from 0 to `most`."""
    n = len(values)
    rows = (b"\0" + bytes(_gray(value / (most or 1.0), near_is_high) for value in row) for row in values)
    header = struct.pack(">IIBBBBB", n, n, 8, 0, 0, 0, 0)  # 8 bits of gray
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(b"".join(rows), 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, content) for kind, content in chunks)


def as_data(image: bytes) -> str:
    """An address that holds the picture itself."""
    return f"data:image/png;base64,{base64.b64encode(image).decode()}"


def _gray(share: float, near_is_high: bool) -> int:
    near = min(max(share if near_is_high else 1 - share, 0.0), 1.0)
    return round(FAR + near * (NEAR - FAR))


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
