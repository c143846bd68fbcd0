"""Arguments that several functions take, in the types of the extension."""

from collections.abc import Callable, Iterable
from operator import index
from os import PathLike, fsdecode, fsencode
from os.path import splitext
from typing import Any, Protocol, SupportsFloat, SupportsIndex

from ._errors import UsageError
from ._native import Limits, Watch

Path = str | bytes | PathLike[str] | PathLike[bytes]


class Readable(Protocol):
    """A file that is open for reading bytes."""

    def read(self) -> Any:
        ...


class Writable(Protocol):
    """A file that is open for writing bytes."""

    def write(self, content: Any, /) -> Any:
        ...


class Event(Protocol):
    """threading.Event, asyncio.Event, multiprocessing.Event."""

    def is_set(self) -> bool:
        ...


Whole = SupportsIndex | float  # 90, 90.0, and the numbers of NumPy
Number = SupportsFloat | SupportsIndex
Value = str | bytes | PathLike[str] | PathLike[bytes] | SupportsIndex | SupportsFloat
Option = Value | Iterable[Value] | None  # of formats

_longest_path = 4096


def is_path(source: object) -> bool:
    return isinstance(source, (str, bytes, PathLike))


def path_bytes(path: Any) -> bytes:
    """Any file name, as the library takes it."""
    try:
        name = fsencode(path)
    except TypeError:
        raise TypeError(
            f"a path is a str, bytes or PathLike, not {type(path).__name__}; decode() takes the bytes of a file"
        ) from None
    if b"\0" in name or len(name) > _longest_path:
        hint = "; decode() takes the bytes of a file" if isinstance(path, bytes) else ""
        raise UsageError(f"{len(name)} bytes with NUL or too long are no path{hint}")
    return name


def is_file(source: object) -> bool:
    """Whether it is an open file, or like one: BytesIO, a socket's file, a member of an archive."""
    return hasattr(source, "read") or hasattr(source, "write")


def content_of(file: Any) -> Any:
    """What an open file still holds."""
    content = file.read()
    if isinstance(content, str):
        raise TypeError("the file is open as text; open it in mode 'rb'")
    return content


def put_into(file: Any, content: bytes) -> None:
    """Writes all of it into an open file, which may take it in parts."""
    rest = memoryview(content)
    while rest:
        taken = file.write(rest)
        rest = rest[len(rest) if taken is None else taken :]


def format_for(target: Any, format: str | None) -> str:
    """The format that is given for an open file, or that its name has."""
    if format is not None:
        return word("format", format).removeprefix(".")
    name = getattr(target, "name", "")
    extension = splitext(fsdecode(name))[1] if isinstance(name, (str, bytes)) else ""
    if not extension:
        raise UsageError("the file has no name; give its format, such as format='png'")
    return extension[1:]


def is_boolean(value: object) -> bool:
    """Whether it is one of Python or of NumPy."""
    return isinstance(value, bool) or getattr(value, "dtype", None) == bool


def text_of(value: Value) -> str:
    """The value as the command line takes it: words, paths, and numbers of any type."""
    if isinstance(value, str):
        return str.__str__(value)  # of an enumerator, its value
    if isinstance(value, (bytes, PathLike)):
        return fsdecode(value)
    if is_boolean(value):
        return "yes" if value else "no"
    try:
        return str(index(value))  # type: ignore[arg-type]
    except TypeError:
        pass
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"a {type(value).__name__} is neither a word nor a number") from None
    return str(int(number)) if number.is_integer() else repr(number)


def items(value: Any) -> list[Any] | None:
    """Those of a tuple, a list or an array; None for anything else."""
    is_sequence = isinstance(value, (tuple, list)) or getattr(value, "ndim", 0) > 0
    return list(value) if is_sequence else None


def format_options(options: dict[str, Option]) -> dict[str, str]:
    """png_level=1 as the library takes it; None: not given."""

    def option_text(value: Any) -> str:
        if is_boolean(value):
            return "on" if value else "off"
        if isinstance(value, (list, tuple, set, frozenset)):
            return ",".join(text_of(part) for part in value)
        return text_of(value)

    return {
        name.replace("_", "-"): option_text(color(value) if name == "background" else value)
        for name, value in options.items()
        if value is not None
    }


def whole(name: str, value: Whole, bits: int = 63) -> int:
    """A number from 0 on, of so many bits."""
    try:
        number = int(value) if isinstance(value, float) and value.is_integer() else index(value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"{name} is a whole number, not {value!r}") from None
    if not 0 <= number < 1 << bits:
        raise UsageError(f"{name}={number}: choose a number from 0 to {(1 << bits) - 1}")
    return number


def color(value: Any) -> Any:
    """(R, G, B) is #rrggbb."""
    parts = items(value)
    if parts is None:
        return value
    if len(parts) != 3:
        raise TypeError(f"a colour is (red, green, blue), not {len(parts)} numbers")
    return "#" + "".join(f"{whole('a part of a colour', part, 8):02x}" for part in parts)


def word(name: str, value: str) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{name} is a str, not {type(value).__name__}")
    return str.__str__(value)


def function(name: str, value: Callable[..., object] | None) -> Any:
    if value is not None and not callable(value):
        raise TypeError(f"{name} is a function, not {type(value).__name__}")
    return value


def watch_of(progress: Callable[[float], object] | None, stop: Event | None) -> Watch:
    if stop is not None and not callable(getattr(stop, "is_set", None)):
        raise TypeError(f"stop is an event, such as threading.Event(), not {type(stop).__name__}")
    return Watch(function("progress", progress), stop)


def limits_of(max_pixels: Whole | None, max_memory: Whole | None, threads: Whole) -> Limits:
    given = {"threads": whole("threads", threads, 31)}
    for name, value in (("max_pixels", max_pixels), ("max_memory", max_memory)):
        if value is not None:
            given[name] = whole(name, value)
    return Limits(**given)
