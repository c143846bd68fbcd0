"""What functions return."""

from bisect import bisect_left
from dataclasses import dataclass
from itertools import accumulate
from math import ceil
from typing import Literal

from ._errors import UsageError

Shape = tuple[int, ...]  # (height, width, channels), or (height, width) if grey


@dataclass(frozen=True)
class Header:
    """What a file says about its picture."""

    shape: Shape  # of the array that read() returns
    depth: int  # bits per sample
    file_format: str  # "PNG"
    orientation: int  # in EXIF or XMP, 1 (upright) to 8

    @property
    def width(self) -> int:
        """Pixels in a row."""
        return self.shape[1]

    @property
    def height(self) -> int:
        """Rows."""
        return self.shape[0]


@dataclass(frozen=True)
class Result:
    """What became of one picture."""

    width: int  # of the result, pixels
    height: int  # of the result, pixels
    channels: int  # of the result, 1 to 4
    depth: int  # of the result, bits per sample
    output_bytes: int  # of the file
    device: str  # the device that did the work
    reason: str  # why this device
    seconds: float  # from the call until the output was in place


@dataclass(frozen=True)
class FolderPicture:
    """What became of one picture of a folder."""

    input: str  # path
    output: str  # path
    status: Literal["done", "skipped", "failed"]
    reason: str  # why it failed


@dataclass(frozen=True)
class FolderResult:
    """What became of the pictures of a folder."""

    done: int  # pictures
    skipped: int  # pictures whose results exist
    failed: list[FolderPicture]
    seconds: float


@dataclass(frozen=True)
class Device:
    """An OpenCL device. The processor needs no OpenCL and is not one of them."""

    index: int  # what Filter takes as its device
    name: str  # "NVIDIA H200"; Filter takes a part of it
    kind: str  # "gpu", "cpu" or "other"
    vendor: str
    platform: str
    platform_version: str
    driver_version: str
    compute_units: int
    memory: int  # bytes
    max_allocation: int  # bytes of one buffer
    unified_memory: bool  # shared with the processor
    unusable: str  # why it is not used; empty if it can be


@dataclass(frozen=True)
class Format:
    """A format of files."""

    name: str  # "JPEG"
    extensions: list[str]  # with the dot; the first is usual
    options: list[str]  # that write(), encode() and Filter.run() take: "quality"


@dataclass(frozen=True)
class ChannelStats:
    """The samples of one channel, as stored."""

    name: str  # "grey", "red", "green", "blue" or "alpha"
    minimum: int
    maximum: int
    sum: int
    sum_of_squares: int
    mean: float
    deviation: float  # standard deviation of all samples, divided by their number
    bit_and: int  # of all samples
    bit_or: int  # of all samples
    bit_xor: int  # of all samples
    histogram: list[int]  # the number of samples with each value

    def percentile(self, percent: float) -> int:
        """The smallest value that at least `percent` (0 to 100) of the samples do not exceed."""
        if not 0 <= percent <= 100:
            raise UsageError(f"{percent}: not from 0 to 100")
        sums = list(accumulate(self.histogram))
        return bisect_left(sums, max(1, ceil(percent * sums[-1] / 100)))


@dataclass(frozen=True)
class Stats:
    """The samples of a picture, channel by channel."""

    shape: Shape
    depth: int  # bits per sample
    channels: list[ChannelStats]


@dataclass(frozen=True)
class ChannelDifferences:
    """The differences of one channel, in steps of a sample."""

    name: str  # as in ChannelStats
    differing: int  # samples that differ at all
    beyond_tolerance: int
    maximum: int  # the largest difference
    mean: float  # of all samples, equal ones included


@dataclass(frozen=True)
class PixelDifference:
    """A pixel in which two pictures differ."""

    x: int  # column, from 0
    y: int  # row, from 0
    a: tuple[int, ...]  # its samples in one picture
    b: tuple[int, ...]  # and in the other


@dataclass(frozen=True)
class Differences:
    """How two pictures differ."""

    verdict: Literal["equal", "within tolerance", "different", "other shape"]
    a_shape: Shape
    b_shape: Shape
    differing_pixels: int  # with any sample that differs
    pixels_beyond_tolerance: int  # with any sample that differs by more
    maximum: int  # the largest difference of samples
    mean: float  # difference of all samples, equal ones included
    channels: list[ChannelDifferences]
    first: PixelDifference | None  # from the top left, row by row
    worst: PixelDifference | None  # the first with the largest difference
    psnr: float | None  # decibels; None if no sample differs: it is infinite
    ssim: float | None  # None if not computed, or for less than 11x11 pixels

    @property
    def equal(self) -> bool:
        """Whether all samples are equal."""
        return self.verdict == "equal"
