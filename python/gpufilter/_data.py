"""Arguments of stages that are data: sizes, colours, places and matrices, as the command line writes them.

What the command line reads from a file may be in memory: it becomes the bytes of such a file.
"""

from array import array
from collections.abc import Iterable, Sequence
from json import dumps
from os import PathLike
from typing import Any

from . import _native
from ._errors import UsageError
from ._options import (
    Number,
    Readable,
    Value,
    Whole,
    color as color,
    content_of,
    is_file,
    items,
    text_of,
    whole,
)

Size = Value | Sequence[Whole | None]  # "800x600", (800, 600), (800, None)
Color = str | Sequence[Whole]  # "white", "#ffffff", (255, 255, 255)
Place = str | Sequence[int]  # "southeast+20+20", (20, 20) from the top left
Matrix = Value | Iterable[Number | Iterable[Number]]  # "1 2 1; 2 4 2; 1 2 1", an array
File = str | PathLike[str] | bytes | bytearray | memoryview | Readable  # a path, or the contents
Upper = Any  # a File; a Picture, or an array of one
Table = Any  # a File; a Picture of a HaldCLUT; colours: table[red][green][blue], or curve[sample]
Layers = File | Iterable[Iterable[Any]]  # a File; [(weights, bias, "relu"), (weights, bias)]


def file(value: Any) -> Any:
    """The contents of what is no path."""
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    return bytes(content_of(value)) if is_file(value) else value


def _is_file(value: Any) -> bool:
    """Whether it is a path, an open file or bytes, and not pixels or numbers."""
    if isinstance(value, memoryview):
        return value.ndim == 1 and value.itemsize == 1
    known = (str, PathLike, bytes, bytearray)
    return isinstance(value, known) or (is_file(value) and not hasattr(value, "shape"))


def picture(value: Any) -> Any:
    """A picture in memory is the bytes of a PNG."""
    if _is_file(value):
        return file(value)
    return _native.encode("png", value, {"png-level": "1"})


def _lists(value: Any) -> Any:
    """Nested lists of numbers, from an array of any library."""
    return value.tolist() if hasattr(value, "tolist") else value


def _sides(value: Any) -> list[int]:
    sides = []
    while isinstance(value, (list, tuple)):
        sides.append(len(value))
        value = value[0] if value else None
    return sides


def table(value: Any) -> Any:
    """table[red][green][blue] and curve[sample] are colours from 0 to 1, or whole samples of uint8 or uint16."""
    if _is_file(value):
        return file(value)
    if isinstance(value, _native.Picture):
        return picture(value)
    largest = {"uint8": 255, "uint16": 65535}.get(str(getattr(value, "dtype", "")), 1)
    colors = _lists(value)
    sides = _sides(colors)
    if len(sides) == 1:
        colors, sides = [[each] * 3 for each in colors], [*sides, 3]
    is_curve = len(sides) == 2
    if sides[-1:] != [3] or not (is_curve or (len(sides) == 4 and len({*sides[:3]}) == 1)):
        raise UsageError(
            f"a table of shape {tuple(sides)}; choose (N, N, N, 3), or (N,) or (N, 3) for curves"
        )
    try:
        if not is_curve:  # red changes fastest
            size = range(sides[0])
            colors = [colors[r][g][b] for b in size for g in size for r in size]
        packed = array("f", (float(part) / largest for color in colors for part in color))
    except (IndexError, TypeError):
        raise UsageError("a table whose rows have different lengths, or hold no numbers") from None
    return _native.color_table(packed, 0 if is_curve else sides[0])


def network(value: Any) -> Any:
    """[(weights, bias, activation)]: a row of weights for each number of the bias."""
    if _is_file(value):
        return file(value)
    layers = []
    for layer in value:
        weights, bias, *rest = layer
        if len(rest) > 1:
            raise TypeError("a layer is (weights, bias) or (weights, bias, activation)")
        layers.append(
            {
                "weights": [list(map(float, _lists(row))) for row in _lists(weights)],
                "bias": list(map(float, _lists(bias))),
                "activation": text_of(rest[0]) if rest else "none",
            }
        )
    try:
        text = dumps({"format": "gpufilter-network-1", "layers": layers}, allow_nan=False)
    except ValueError:
        raise UsageError("a weight or bias is not finite") from None
    return text.encode()


def size(value: Any) -> Any:
    """(W, H) is WxH, (W, H, X, Y) a place in the picture, four sides of a margin are T,R,B,L."""
    sides = items(value)
    if sides is None:
        return value
    texts = ["" if side is None else str(whole("a side", side)) for side in sides]
    if len(texts) == 2:
        return "x".join(texts)
    raise TypeError(f"a size is (width, height), not {len(texts)} numbers")


def area(value: Any) -> Any:
    """(W, H), or (W, H, X, Y) with the column and the row of its top left pixel."""
    sides = items(value)
    if sides is None or len(sides) != 4:
        return size(value)
    width, height, x, y = (whole("a side", side) for side in sides)
    return f"{width}x{height}+{x}+{y}"


def margin(value: Any) -> Any:
    """(W, H) of the result, or pixels at the top, right, bottom and left."""
    sides = items(value)
    if sides is None or len(sides) != 4:
        return size(value)
    return ",".join(str(whole("a side", side)) for side in sides)


def place(value: Any) -> Any:
    """(X, Y): pixels to the right and down."""
    parts = items(value)
    if parts is None:
        return value
    x, y = (int(part) for part in parts)
    return f"{x:+}{y:+}"


def matrix(value: Any) -> Any:
    rows = items(value)
    if rows is None:
        return value
    lists = [items(row) for row in rows]
    if all(row is None for row in lists):  # one row
        lists = [rows]
    return "; ".join(" ".join(text_of(number) for number in row or []) for row in lists)
