"""The module's types and the samples, as mypy and pyright see them."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import SAMPLES

import gpufilter

PACKAGE = Path(gpufilter.__file__).parent

USE = """
import gpufilter
from gpufilter import Filter, Picture, blur, resize

picture: Picture = gpufilter.read("in.jpg", max_pixels=1000)
result: gpufilter.Result = Filter([blur(), resize((800, None))]).run("in.jpg", b"out.jpg", quality=90)
pixels: bytearray = Filter("--blur auto")(picture, out=bytearray(12))
picture.icc, picture.density = picture.icc, (300, 300)
stage: gpufilter.Stage = gpufilter.open(radius=2)
mean: float = gpufilter.stats(picture).channels[0].mean
"""

MISTAKES = """
import gpufilter
gpufilter.blur("tild")
gpufilter.gaussian("2", sigma=3)
gpufilter.Filter(5)
gpufilter.read(7)
gpufilter.Picture([]).width = 3
class Own(gpufilter.Picture): ...
"""


def run(name, *words):
    program = shutil.which(name)
    if program is None:
        pytest.skip(f"{name} is not installed")
    environment = {**os.environ, "MYPYPATH": str(PACKAGE.parent)}
    result = subprocess.run([program, *words], capture_output=True, text=True, env=environment)
    return [line for line in result.stdout.splitlines() if re.search(r":\d+(: | - )error", line)]


@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_types_are_right_and_mistakes_are_found(checker, tmp_path):
    mistakes = tmp_path / "mistakes.py"
    mistakes.write_text(MISTAKES)
    (tmp_path / "use.py").write_text(USE)
    files = [str(PACKAGE), str(mistakes), str(tmp_path / "use.py")]
    if checker == "mypy":  # pyright cannot leave out PyTorch
        samples = map(str, (SAMPLES / "python").glob("*.py"))
        words = [
            "--strict",
            "--ignore-missing-imports",
            "--allow-subclassing-any",
            "--cache-dir",
            os.devnull,
        ]
        errors = run("mypy", *words, *files, *samples)
    else:
        errors = run("pyright", "--pythonpath", sys.executable, *files)
    lines = {
        int(re.search(r"mistakes.py:(\d+)", error)[1]) for error in errors if "mistakes.py" in error
    }
    assert lines == set(range(3, 9)), errors
    assert not [error for error in errors if "mistakes.py" not in error]
