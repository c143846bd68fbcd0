"""What the tests of the Python module share. CTest sets PYTHONPATH and GPUFILTER_PROGRAM."""

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2]
SAMPLES = SOURCE / "samples"
PROGRAM = os.environ["GPUFILTER_PROGRAM"]


def random_bytes(count: int, seed: int) -> bytearray:
    return bytearray(random.Random(seed).randbytes(count))


def run_program(*words: object) -> None:
    """The command line, on the processor."""
    subprocess.run([PROGRAM, *map(str, words), "--device", "cpu", "-q"], check=True)


def run_python(code: str, *arguments: object, **options) -> subprocess.CompletedProcess:
    """Another Python, which has to succeed."""
    result = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        **options,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result


@pytest.fixture(scope="session")
def numpy():
    return pytest.importorskip("numpy", reason="python3-numpy is not installed")


@pytest.fixture(scope="session")
def cv2():
    return pytest.importorskip("cv2", reason="python3-opencv is not installed")


@pytest.fixture(scope="session")
def pillow():
    return pytest.importorskip("PIL.Image", reason="python3-pil is not installed")


@pytest.fixture
def pixels(numpy):
    """pixels(height, width, channels, depth, seed): random samples; no third dimension without channels."""

    def make(height: int, width: int, channels: int = 0, depth: int = 8, seed: int = 1):
        shape = (height, width, channels) if channels else (height, width)
        dtype = numpy.uint8 if depth == 8 else numpy.uint16
        generator = numpy.random.default_rng(seed)
        return generator.integers(0, 1 << depth, shape, dtype=dtype)

    return make
