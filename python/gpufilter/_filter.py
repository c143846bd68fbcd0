"""Chains of stages."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from os import sched_getaffinity
from typing import Any, Literal, SupportsIndex, TypeVar, overload

from . import _native
from ._errors import UsageError
from ._native import Picture
from ._options import (
    Event,
    Option,
    Path,
    Readable,
    Whole,
    Writable,
    content_of,
    format_for,
    format_options,
    function,
    is_file,
    limits_of,
    path_bytes,
    put_into,
    watch_of,
    whole,
    word,
)
from ._results import FolderPicture, FolderResult, Result, Shape
from ._stage import Stage

Out = TypeVar("Out")

_unwatched = watch_of(None, None)


def _stages_of(given: str | Stage | Iterable[str | Stage]) -> list[Stage]:
    if isinstance(given, str):
        return [Stage(*stage) for stage in _native.parse_stages(given)]
    items: list[object] = list(given) if isinstance(given, Iterable) else [given]
    stages = [item for item in items if isinstance(item, Stage)]
    words = [item for item in items if isinstance(item, str)]
    if len(stages) == len(items):
        return stages
    if len(words) == len(items):
        return [Stage(*stage) for stage in _native.parse_stages(words)]
    raise TypeError(
        "stages are a string of command-line words, or Stage objects such as gpufilter.blur()"
    )


class Filter:
    """A chain of stages on a device, for arrays, files and folders.

    What can be prepared is prepared once, so keep a filter for many pictures. Threads may share it, and it works in
    processes of multiprocessing. While it works, other Python threads run, and Ctrl-C ends the call.
    """

    def __init__(
        self,
        stages: str | Stage | Iterable[str | Stage] = (),
        *,
        device: str | SupportsIndex = "auto",
        require_device: bool = False,
        max_pixels: Whole | None = None,
        max_memory: Whole | None = None,
        threads: Whole = 0,
        orientation: Literal["auto", "apply", "keep"] = "auto",
    ) -> None:
        """Checks the stages and starts to search for the device.

        stages: as on the command line, "--blur auto --color sepia"; or [gpufilter.blur(), gpufilter.color("sepia")].
            None: pixels are copied.
        device: "auto" (what finishes first), "cpu", "gpu", "opencl", "all", or a device's index or a part of its name.
        require_device: fail if the device does not work; otherwise the processor does the work.
        max_pixels: larger pictures are refused, results as well; 500 million by default.
        max_memory: bytes for the parts of a file that are in progress; 128 MiB by default.
        threads: of one call; 0: all cores.
        orientation: when the orientation in EXIF or XMP is applied. "auto": before the first stage that depends on it,
            such as resize or overlay; "apply": at the beginning; "keep": only by auto_orient.

        Raises UsageError for unknown or invalid stages, parameters and devices.
        """
        self._arguments: dict[str, Any] = {
            "device": device,
            "require_device": require_device,
            "max_pixels": max_pixels,
            "max_memory": max_memory,
            "threads": threads,
            "orientation": orientation,
        }
        self.stages: tuple[Stage, ...] = tuple(_stages_of(stages))
        self._native = _native.Filter(
            [(stage.name, stage.value, stage.parameters, stage.file) for stage in self.stages],
            device if isinstance(device, str) else str(whole("device", device)),
            bool(require_device),
            limits_of(max_pixels, max_memory, threads),
            word("orientation", orientation),
        )

    @overload
    def __call__(
        self,
        pixels: Any,
        *,
        progress: Callable[[float], object] | None = None,
        stop: Event | None = None,
    ) -> Picture:
        ...

    @overload
    def __call__(
        self,
        pixels: Any,
        *,
        out: Out,
        progress: Callable[[float], object] | None = None,
        stop: Event | None = None,
    ) -> Out:
        ...

    def __call__(
        self,
        pixels: Any,
        *,
        out: Any = None,
        progress: Callable[[float], object] | None = None,
        stop: Event | None = None,
    ) -> Any:
        """Filters pixels in memory.

        pixels: a Picture, or anything with the buffer protocol or __array_interface__ (an array of NumPy, an image of
            Pillow) of shape (height, width) or (height, width, 1 to 4 channels), uint8, uint16 or float32 (0 to 1).
            Grey, grey and alpha, RGB, RGBA. Nothing is copied if pixels are adjacent in their rows.
        out: where the result goes, with its shape and type; it may be `pixels`. Otherwise a new Picture is made. A
            Picture gets the metadata as well.
        progress: called with the fraction done, 0 to 1. What it raises ends the call.
        stop: the call raises Stopped soon after this event is set, such as a threading.Event.

        Returns the new Picture, with the metadata of a Picture, or `out`. Raises UsageError, TypeError for an object
        without memory, PictureError if a limit is exceeded, DeviceError.
        """
        watch = _unwatched if progress is None and stop is None else watch_of(progress, stop)
        if out is None:
            return self._native.call(pixels, watch)
        self._native.call_into(pixels, out, watch)
        return out

    def map(self, pictures: Iterable[Any], *, threads: Whole = 0) -> Iterator[Picture]:
        """Filters pictures in memory at the same time, as __call__() does, and yields the results in their order.

        pictures: taken one after the other, a few ahead of the results.
        threads: pictures in progress, each on one thread; 0: as many as cores that the process may use.
        """
        count = whole("threads", threads, 16) or len(sched_getaffinity(0))
        # With one thread for each picture, none waits for others.
        arguments: dict[str, Any] = {**self._arguments, "threads": 1}
        alone = Filter(self.stages, **arguments)
        with ThreadPoolExecutor(count) as pool:
            under_way: deque[Future[Picture]] = deque()
            try:
                for picture in pictures:
                    under_way.append(pool.submit(alone, picture))
                    if len(under_way) > 2 * count:
                        yield under_way.popleft().result()
                while under_way:
                    yield under_way.popleft().result()
            finally:
                for future in under_way:
                    future.cancel()

    def result_shape(self, shape: Shape | Picture, depth: Whole = 8) -> tuple[Shape, int]:
        """The shape and the depth of the result for pixels of this shape and depth, for `out`.

        shape: (height, width) or (height, width, channels), as of an array; or a Picture, whose orientation may matter.

        Raises UsageError if the stages cannot work on such pixels, or if the shape depends on their values.
        """
        if isinstance(shape, Picture):
            return self._native.result_shape_of(shape)
        sides = [whole("a side", side, 31) for side in shape]
        if len(sides) not in (2, 3):
            raise UsageError(
                f"the shape is {shape}; choose (height, width) or (height, width, channels)"
            )
        height, width, channels = sides if len(sides) == 3 else (*sides, 1)
        return self._native.result_shape(height, width, channels, whole("depth", depth, 31))

    def run(
        self,
        input: Path | Readable,
        output: Path | Writable,
        *,
        format: str | None = None,
        progress: Callable[[float], object] | None = None,
        stop: Event | None = None,
        **options: Option,
    ) -> Result:
        """Filters a file into a file, which appears complete or not at all. Both may be open files, such as BytesIO.

        output: the name decides the format.
        format: of an open file without a name, "png".
        progress, stop: as in __call__().
        options: of the output's format: quality=85, png_level=1, strip=True.

        Raises UsageError, PictureError, DeviceError.
        """
        if format is not None and not is_file(output):
            raise UsageError("format is for open files; the name of a path decides")
        result, content = self._native.run(
            content_of(input) if is_file(input) else path_bytes(input),
            not is_file(input),
            format_for(output, format).encode() if is_file(output) else path_bytes(output),
            is_file(output),
            format_options(options),
            watch_of(progress, stop),
        )
        if is_file(output):
            put_into(output, content)
        return Result(**result)

    def run_folder(
        self,
        input: Path,
        output: Path,
        *,
        recursive: bool = False,
        match: Iterable[str] = (),
        to: str = "",
        on_exists: Literal["fail", "skip", "overwrite"] = "fail",
        jobs: Whole = 0,
        resume: bool = False,
        stop_on_error: bool = False,
        finished: Callable[[FolderPicture], object] | None = None,
        progress: Callable[[float], object] | None = None,
        stop: Event | None = None,
        **options: Option,
    ) -> FolderResult:
        """Filters the pictures of a folder into a folder, which is created if it does not exist.

        recursive: subfolders as well.
        match: patterns of names, ["img*.png"]; none: all pictures.
        to: the format, "png"; empty: each picture keeps its own.
        on_exists: what to do with results that exist.
        jobs: pictures in progress; 0: as many as threads.
        resume: continue an earlier run.
        stop_on_error: start no more pictures after one that fails. A picture that fails raises nothing.
        finished: called for each picture. What it raises ends the call.
        progress, stop: as in __call__(); the pictures in progress are done first.
        options: of the outputs' formats, as in run().

        Raises UsageError before anything is written, PictureError if a folder cannot be read or written, DeviceError.
        """
        settings = {
            "recursive": bool(recursive),
            "match": [
                word("match", each) for each in ([match] if isinstance(match, str) else match)
            ],
            "to": word("to", to),
            "existing": word("on_exists", on_exists),
            "jobs": whole("jobs", jobs, 31),
            "resume": bool(resume),
            "stop_on_error": bool(stop_on_error),
            "options": format_options(options),
        }
        told = function("finished", finished)
        result = self._native.run_folder(
            path_bytes(input),
            path_bytes(output),
            settings,
            told and (lambda picture: told(FolderPicture(**picture))),
            watch_of(progress, stop),
        )
        failed = [FolderPicture(**picture) for picture in result.pop("failed")]
        return FolderResult(failed=failed, **result)

    def __repr__(self) -> str:
        return f"gpufilter.Filter({list(self.stages)}, device={self._arguments['device']!r})"

    def __reduce__(self) -> Any:
        return _restore, (self.stages, self._arguments)


def _restore(stages: tuple[Stage, ...], arguments: dict[str, Any]) -> Filter:
    return Filter(stages, **arguments)
