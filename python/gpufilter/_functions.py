"""Functions on files and on pixels in memory."""

from typing import Any

from . import _data, _native
from ._data import Size
from ._errors import UsageError
from ._native import Picture
from ._options import (
    Option,
    Path,
    Readable,
    Whole,
    Writable,
    content_of,
    format_for,
    format_options,
    is_file,
    is_path,
    limits_of,
    path_bytes,
    put_into,
    text_of,
    whole,
    word,
)
from ._results import (
    ChannelDifferences,
    ChannelStats,
    Device,
    Differences,
    Format,
    Header,
    PixelDifference,
    Stats,
)


def read(
    source: Path | Readable,
    *,
    size: Size | None = None,
    region: Size | None = None,
    max_pixels: Whole | None = None,
    max_memory: Whole | None = None,
) -> Picture:
    """Reads a picture with its metadata, from a path or an open file; its content decides the format.

    size: of the result, as resize() takes it: (800, None), "50%". A JPEG may be decoded at a half, a quarter or an
        eighth first.
    region: (width, height, x, y) in the pixels as stored, cropped before they are resized. The rest is not kept in
        memory.

    Samples are as stored, except that palettes and grey of fewer than 8 bits become 8 bits, and CMYK becomes RGB. The
    EXIF orientation is not applied: Filter(gpufilter.auto_orient()) does that. Raises PictureError.
    """
    if is_file(source):
        return decode(
            content_of(source),
            size=size,
            region=region,
            max_pixels=max_pixels,
            max_memory=max_memory,
        )
    limits = limits_of(max_pixels, max_memory, 0)
    return _native.read(path_bytes(source), *_part(region, size), limits)


def _part(region: Size | None, size: Size | None) -> tuple[str, str]:
    def text(value: Any) -> str:
        return "" if value is None else text_of(value)

    return text(_data.area(region)), text(_data.size(size))


def decode(
    encoded: Any,
    *,
    size: Size | None = None,
    region: Size | None = None,
    max_pixels: Whole | None = None,
    max_memory: Whole | None = None,
) -> Picture:
    """Reads a picture from the bytes of its file, as read() does."""
    return _native.decode(encoded, *_part(region, size), limits_of(max_pixels, max_memory, 0))


def open_header(
    source: Path | Readable, *, max_pixels: Whole | None = None, max_memory: Whole | None = None
) -> Header:
    """What a file says about its picture, without decoding a pixel. Of an open file, the rest is read."""
    limits = limits_of(max_pixels, max_memory, 0)
    if is_file(source):
        return Header(**_native.open_encoded_header(content_of(source), limits))
    return Header(**_native.open_header(path_bytes(source), limits))


def write(
    target: Path | Writable, pixels: Any, *, format: str | None = None, **options: Option
) -> int:
    """Writes a Picture with its metadata, or an array, to a path or into an open file.

    format: of an open file, "png"; by default its name decides, as a path does.
    options: of the format: quality=85, png_level=1, strip=True.

    At a path, the file appears complete or not at all. Returns the bytes written. Raises UsageError, PictureError.
    """
    if is_file(target):
        content = _native.encode(format_for(target, format), pixels, format_options(options))
        put_into(target, content)
        return len(content)
    if format is not None:
        raise UsageError("format is for open files; the name of a path decides")
    return _native.write(path_bytes(target), pixels, format_options(options))


def encode(format: str, pixels: Any, **options: Option) -> bytes:
    """The bytes of the file that write() would write. The format is the extension of a name: "png", "jpg"."""
    return _native.encode(word("format", format), pixels, format_options(options))


def restored_picture(*state: Any) -> Picture:
    """What pickle calls."""
    return _native.restored_picture(*state)


def devices() -> list[Device]:
    """The OpenCL devices of this machine, searched for anew by each call."""
    return [Device(**device) for device in _native.devices()]


def formats() -> list[Format]:
    """The formats that this build reads and writes."""
    return [
        Format(
            format["name"],
            format["extensions"],
            [option.replace("-", "_") for option in format["options"]],
        )
        for format in _native.formats()
    ]


def stats(
    source: Any,
    *,
    max_pixels: Whole | None = None,
    max_memory: Whole | None = None,
    threads: Whole = 0,
) -> Stats:
    """Statistics of a file, of a Picture or of an array: exact integers. Raises UsageError, PictureError."""
    limits = limits_of(max_pixels, max_memory, threads)
    if is_path(source):
        result = _native.stats_of_file(path_bytes(source), limits)
    else:
        result = _native.stats_of_pixels(source, limits)
    channels = [ChannelStats(**channel) for channel in result.pop("channels")]
    return Stats(channels=channels, **result)


def compare(
    a: Any,
    b: Any,
    *,
    tolerance: Whole = 0,
    fail_percent: float = 0,
    similarity: bool = True,
    max_pixels: Whole | None = None,
    max_memory: Whole | None = None,
    threads: Whole = 0,
) -> Differences:
    """Compares two files, Pictures or arrays sample by sample; metadata does not count.

    tolerance: samples may differ by this many steps of their depth.
    fail_percent: this percentage of the pixels may differ by more.
    similarity: compute the SSIM, which takes longer than everything else.

    Raises UsageError, PictureError.
    """
    limits = limits_of(max_pixels, max_memory, threads)
    settings = (whole("tolerance", tolerance, 32), float(fail_percent), bool(similarity), limits)
    if is_path(a) and is_path(b):
        result = _native.compare_files(path_bytes(a), path_bytes(b), *settings)
    else:
        first, second = (
            _native.read(path_bytes(one), "", "", limits) if is_path(one) else one for one in (a, b)
        )
        result = _native.compare_pixels(first, second, *settings)
    channels = [ChannelDifferences(**channel) for channel in result.pop("channels")]
    for name in ("first", "worst"):
        if result[name] is not None:
            result[name] = PixelDifference(**result[name])
    return Differences(channels=channels, **result)
