from collections.abc import Callable, Mapping, Sequence
from typing import Any, final, overload

__version__: str

@final
class Picture:
    """A picture in memory, which NumPy, Pillow and others use without a copy.

    numpy.asarray(picture), PIL.Image.fromarray(picture). A picture read from a file carries its metadata.
    """

    def __init__(
        self,
        pixels: Any,
        *,
        exif: bytes | bytearray | memoryview | None = None,
        icc: bytes | bytearray | memoryview | None = None,
        xmp: bytes | bytearray | memoryview | None = None,
        density: tuple[float, float] | float | None = None,
        orientation: int | None = None,
    ) -> None:
        """A copy of an array of shape (height, width) or (height, width, channels), uint8, uint16 or float32, or of
        another Picture, and metadata for it."""
    @property
    def __array_interface__(self) -> dict[str, Any]: ...
    @property
    def width(self) -> int:
        """Pixels in a row."""
    @property
    def height(self) -> int:
        """Rows."""
    @property
    def channels(self) -> int:
        """Samples of a pixel: 1 (grey), 2 (grey, alpha), 3 (RGB) or 4 (RGBA)."""
    @property
    def depth(self) -> int:
        """Bits of a sample: 8, 16, or 32 for floats."""
    @property
    def shape(self) -> tuple[int, ...]:
        """As an array: (height, width, channels), or (height, width) if it is grey."""
    @property
    def file_format(self) -> str:
        """The format of the file that it comes from, "PNG"; empty if there is none."""
    @property
    def orientation(self) -> int:
        """Its EXIF orientation, 1 (upright) to 8."""
    @orientation.setter
    def orientation(self, value: int) -> None: ...
    @property
    def exif(self) -> bytes:
        """Its EXIF, a TIFF structure; empty if there is none."""
    @exif.setter
    def exif(self, value: bytes | bytearray | memoryview | None) -> None: ...
    @property
    def icc(self) -> bytes:
        """Its colour profile; empty if there is none."""
    @icc.setter
    def icc(self, value: bytes | bytearray | memoryview | None) -> None: ...
    @property
    def xmp(self) -> bytes:
        """Its XMP packet; empty if there is none."""
    @xmp.setter
    def xmp(self, value: bytes | bytearray | memoryview | None) -> None: ...
    @property
    def density(self) -> tuple[float, float] | None:
        """Pixels per inch, across and down; None if it is not known."""
    @density.setter
    def density(self, value: tuple[float, float] | float | None) -> None: ...
    def copy(self) -> Picture:
        """A copy of the pixels and metadata."""
    def tobytes(self) -> bytes:
        """The samples, row by row."""
    def __buffer__(self, flags: int, /) -> memoryview: ...
    def __copy__(self) -> Picture: ...
    def __deepcopy__(self, memo: dict[int, Any], /) -> Picture: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    def _repr_png_(self) -> bytes: ...

class Limits:
    def __init__(
        self, *, max_pixels: int = ..., max_memory: int = ..., threads: int = ...
    ) -> None: ...

class Watch:
    def __init__(self, progress: Callable[[float], object] | None, stop: Any) -> None: ...

_Stage = tuple[str, str, Mapping[str, str], bytes | None]

class Filter:
    def __init__(
        self,
        stages: Sequence[_Stage],
        device: str,
        require_device: bool,
        limits: Limits,
        orientation: str,
    ) -> None: ...
    def call(self, pixels: Any, watch: Watch) -> Picture: ...
    def call_into(self, pixels: Any, out: Any, watch: Watch) -> None: ...
    def result_shape(
        self, height: int, width: int, channels: int, depth: int
    ) -> tuple[tuple[int, ...], int]: ...
    def result_shape_of(self, picture: Picture) -> tuple[tuple[int, ...], int]: ...
    def run(
        self,
        input: Any,
        is_path: bool,
        output: bytes,
        is_format: bool,
        options: Mapping[str, str],
        watch: Watch,
    ) -> tuple[dict[str, Any], bytes]: ...
    def run_folder(
        self,
        input: bytes,
        output: bytes,
        settings: Mapping[str, Any],
        finished: Callable[[dict[str, Any]], object] | None,
        watch: Watch,
    ) -> dict[str, Any]: ...

@overload
def parse_stages(words: str) -> list[tuple[str, str, dict[str, str]]]: ...
@overload
def parse_stages(words: Sequence[str]) -> list[tuple[str, str, dict[str, str]]]: ...
def restored_picture(
    width: int, height: int, channels: int, depth: int, pixels: bytes, metadata: bytes
) -> Picture: ...
def read(path: bytes, region: str, size: str, limits: Limits) -> Picture: ...
def decode(encoded: Any, region: str, size: str, limits: Limits) -> Picture: ...
def color_table(colors: Any, size: int) -> bytes: ...
def open_header(path: bytes, limits: Limits) -> dict[str, Any]: ...
def open_encoded_header(encoded: Any, limits: Limits) -> dict[str, Any]: ...
def write(path: bytes, pixels: Any, options: Mapping[str, str]) -> int: ...
def encode(format: str, pixels: Any, options: Mapping[str, str]) -> bytes: ...
def devices() -> list[dict[str, Any]]: ...
def formats() -> list[dict[str, Any]]: ...
def set_probe_program(path: bytes) -> None: ...
def stats_of_file(path: bytes, limits: Limits) -> dict[str, Any]: ...
def stats_of_pixels(pixels: Any, limits: Limits) -> dict[str, Any]: ...
def compare_files(
    a: bytes, b: bytes, tolerance: int, fail_percent: float, similarity: bool, limits: Limits
) -> dict[str, Any]: ...
def compare_pixels(
    a: Any, b: Any, tolerance: int, fail_percent: float, similarity: bool, limits: Limits
) -> dict[str, Any]: ...
