"""The program gpufilter that belongs to this module."""

import shutil
from os import fsencode
from pathlib import Path

from ._native import set_probe_program


def program() -> str | None:
    """The program in the nearest folder bin above the module (of a virtual environment, of ~/.local, of /usr), or in PATH."""
    for folder in Path(__file__).resolve().parents:
        candidate = folder / "bin" / "gpufilter"
        if candidate.is_file():
            return str(candidate)
    return shutil.which("gpufilter")


def let_it_probe() -> None:
    """OpenCL drivers are tried in a process of the program, where they may crash."""
    path = program()
    if path is not None:
        set_probe_program(fsencode(path))
