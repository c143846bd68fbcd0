"""python3 -m gpufilter: the command line."""

import os
import sys

from ._program import program


def main() -> None:
    path = program()
    if path is None:
        sys.exit("gpufilter: the program is not installed with this module; add its folder to PATH")
    sys.stdout.flush()
    os.execv(path, ["gpufilter", *sys.argv[1:]])


main()
