"""Filters pictures in memory, in files and in folders; the same bits on every device.

    import gpufilter
    soften = gpufilter.Filter("--blur auto --color sepia")
    picture = soften(array)              # an array of NumPy, an image of Pillow, a Picture
    soften.run("in.jpg", "out.jpg", quality=85)

Stages are words of the command line, or the functions of gpufilter.stages: gpufilter.blur(border="mirror"). Warnings of
the library go to the logger "gpufilter".
"""

from ._errors import DeviceError, Error, PictureError, Stopped, UsageError
from ._filter import Filter
from ._functions import (
    compare,
    decode,
    devices,
    encode,
    formats,
    open_header,
    read,
    stats,
    write,
)
from ._native import Picture, __version__
from ._program import let_it_probe as _let_it_probe
from ._results import (
    ChannelDifferences,
    ChannelStats,
    Device,
    Differences,
    FolderPicture,
    FolderResult,
    Format,
    Header,
    PixelDifference,
    Result,
    Stats,
)
from ._stage import Stage
from . import stages
from .stages import *
from .stages import open as open

# "import *" must not replace Python's open().
__all__ = [
    "ChannelDifferences",
    "ChannelStats",
    "Device",
    "DeviceError",
    "Differences",
    "Error",
    "Filter",
    "FolderPicture",
    "FolderResult",
    "Format",
    "Header",
    "Picture",
    "PictureError",
    "PixelDifference",
    "Result",
    "Stage",
    "Stats",
    "Stopped",
    "UsageError",
    "__version__",
    "compare",
    "decode",
    "devices",
    "encode",
    "formats",
    "open_header",
    "read",
    "stages",
    "stats",
    "write",
]
__all__ += stages.__all__

# People and pickle know the types by these names.
for _name in __all__:
    if isinstance(globals()[_name], type):
        globals()[_name].__module__ = __name__

_let_it_probe()
