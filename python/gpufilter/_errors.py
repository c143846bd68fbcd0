"""What fails."""

import os
from typing import Any


class Error(Exception):
    """Any failure of gpufilter."""


class UsageError(Error, ValueError):
    """The request makes no sense; no picture was touched."""


class PictureError(Error, OSError):
    """A picture cannot be read, filtered or written.

    Where the operating system is the reason, errno and filename say so, and the error is a FileNotFoundError, a
    PermissionError and so on as well.
    """

    def __str__(self) -> str:
        return (
            f"{os.fsdecode(self.filename)}: {self.strerror}" if self.filename else str(self.args[0])
        )

    def __reduce__(self) -> Any:
        return picture_error, (self.errno, self.strerror, self.filename, self.args[0])


class DeviceError(Error, RuntimeError):
    """The requested device does not exist or does not work."""


class Stopped(Error):
    """A call ended because the event given as `stop` was set."""


def picture_error(
    code: int | None, reason: str | None, path: str | None, text: str
) -> PictureError:
    """The error of this errno, which is None if the picture itself is the reason."""
    if code is None:
        return PictureError(text)
    kind = type(OSError(code, ""))
    if kind is OSError:
        return PictureError(code, reason, path)
    bases = (PictureError, kind)
    own = type(
        "PictureError",
        bases,
        {"__module__": PictureError.__module__, "__doc__": PictureError.__doc__},
    )
    error: PictureError = own(code, reason, path)
    return error
