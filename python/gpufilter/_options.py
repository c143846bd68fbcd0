"""Arguments that several functions take."""

from os import PathLike, fsencode

from ._native import Limits

Path = str | bytes | PathLike[str] | PathLike[bytes]
Option = str | int


def is_path(source: object) -> bool:
    return isinstance(source, (str, PathLike))


def path_bytes(path: Path) -> bytes:
    """Any file name, as the library takes it."""
    return fsencode(path)


def format_options(options: dict[str, Option]) -> dict[str, str]:
    """png_level=1 as the library takes it."""

    def text_of(value: Option) -> str:
        if isinstance(value, bool):
            return "on" if value else "off"
        return str(value)

    return {name.replace("_", "-"): text_of(value) for name, value in options.items()}


def limits_of(max_pixels: int | None, max_memory: int | None, threads: int) -> Limits:
    given = {"max_pixels": max_pixels, "max_memory": max_memory, "threads": threads}
    return Limits(**{name: value for name, value in given.items() if value is not None})
