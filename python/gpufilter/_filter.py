"""Chains of stages."""

from collections.abc import Callable, Iterable
from os import PathLike
from typing import Any, Literal, TypeVar, overload

from . import _native
from ._native import Picture
from ._options import Option, Path, format_options, limits_of, path_bytes
from ._results import FolderPicture, FolderResult, Result, Shape
from ._stage import Stage

Out = TypeVar("Out")


def _stages_of(given: str | Stage | Iterable[str | Stage]) -> list[Stage]:
    if isinstance(given, Stage):
        return [given]
    items = [given] if isinstance(given, str) else list(given)
    if all(isinstance(item, Stage) for item in items):
        return items
    if all(isinstance(item, str) for item in items):
        words = given if isinstance(given, str) else items
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
        device: str | int = "auto",
        require_device: bool = False,
        max_pixels: int | None = None,
        max_memory: int | None = None,
        threads: int = 0,
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
            [(stage.name, stage.value, stage.parameters) for stage in self.stages],
            str(device),
            require_device,
            limits_of(max_pixels, max_memory, threads),
            orientation,
        )

    @overload
    def __call__(self, pixels: Any) -> Picture:
        ...

    @overload
    def __call__(self, pixels: Any, *, out: Out) -> Out:
        ...

    def __call__(self, pixels: Any, *, out: Any = None) -> Any:
        """Filters pixels in memory.

        pixels: a Picture, or anything with the buffer protocol or __array_interface__ (an array of NumPy, an image of
            Pillow) of shape (height, width) or (height, width, 1 to 4 channels), uint8 or uint16. Grey, grey and alpha,
            RGB, RGBA. Nothing is copied if pixels lie side by side in their rows.
        out: where the result goes, with its shape and type; it may be `pixels`. Otherwise a new Picture is made.

        Returns the new Picture, with the metadata of a Picture, or `out`. Raises UsageError, TypeError for an object
        without memory, DeviceError.
        """
        if out is None:
            return self._native.call(pixels)
        self._native.call_into(pixels, out)
        return out

    def result_shape(self, shape: Shape, depth: int = 8) -> tuple[Shape, int]:
        """The shape and the depth of the result for pixels of this shape and depth, for `out`.

        shape: (height, width) or (height, width, channels), as of an array.

        Raises UsageError if the stages cannot work on such pixels, or if the shape depends on their values.
        """
        height, width, channels = shape if len(shape) == 3 else (*shape, 1)
        return self._native.result_shape(height, width, channels, depth)

    def run(
        self,
        input: Path,
        output: Path,
        *,
        progress: Callable[[float], object] | None = None,
        **options: Option,
    ) -> Result:
        """Filters a file into a file, which appears complete or not at all.

        output: the name decides the format.
        progress: called with the fraction done, 0 to 1. What it raises ends the call.
        options: of the output's format: quality=85, png_level=1, strip=True.

        Raises UsageError, PictureError, DeviceError.
        """
        return Result(
            **self._native.run(
                path_bytes(input), path_bytes(output), format_options(options), progress
            )
        )

    def run_folder(
        self,
        input: Path,
        output: Path,
        *,
        recursive: bool = False,
        match: Iterable[str] = (),
        to: str = "",
        on_exists: Literal["fail", "skip", "overwrite"] = "fail",
        jobs: int = 0,
        resume: bool = False,
        stop_on_error: bool = False,
        finished: Callable[[FolderPicture], object] | None = None,
        progress: Callable[[float], object] | None = None,
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
        finished, progress: called for each picture, and with the fraction done. What they raise ends the call.
        options: of the outputs' formats, as in run().

        Raises UsageError before anything is written, PictureError if a folder cannot be read or written, DeviceError.
        """
        settings = {
            "recursive": recursive,
            "match": [match] if isinstance(match, str) else list(match),
            "to": to,
            "existing": on_exists,
            "jobs": jobs,
            "resume": resume,
            "stop_on_error": stop_on_error,
            "options": format_options(options),
        }
        tell = finished and (lambda picture: finished(FolderPicture(**picture)))
        result = self._native.run_folder(
            path_bytes(input), path_bytes(output), settings, tell, progress
        )
        failed = [FolderPicture(**picture) for picture in result.pop("failed")]
        return FolderResult(failed=failed, **result)

    def __repr__(self) -> str:
        return f"gpufilter.Filter({list(self.stages)}, device={self._arguments['device']!r})"

    def __reduce__(self) -> Any:
        return _restore, (self.stages, self._arguments)


def _restore(stages: tuple[Stage, ...], arguments: dict[str, Any]) -> Filter:
    return Filter(stages, **arguments)
