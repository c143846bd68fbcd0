"""Arguments of stages that are data: sizes, colours, places and matrices, as the command line writes them."""

from collections.abc import Iterable, Sequence
from typing import Any

from ._options import Number, Value, Whole, color as color, items, text_of, whole

Size = Value | Sequence[Whole | None]  # "800x600", (800, 600), (800, None)
Color = str | Sequence[Whole]  # "white", "#ffffff", (255, 255, 255)
Place = str | Sequence[int]  # "southeast+20+20", (20, 20) from the top left
Matrix = Value | Iterable[Number | Iterable[Number]]  # "1 2 1; 2 4 2; 1 2 1", an array


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
