#!/usr/bin/env python3
# %% [markdown]
# A walk through gpufilter in Python. Editors that know cells ("# %%") run it step by step and show
# the pictures; as a script, `python3 walk.py FOLDER`, it writes them into a folder.

# %%
import sys
from pathlib import Path
from typing import Any

import gpufilter

try:
    import numpy
except ModuleNotFoundError:
    sys.exit("This walk needs NumPy; on Debian: apt install python3-numpy")

samples = Path(__file__).resolve().parents[1]
results = Path(sys.argv[1] if len(sys.argv) > 1 else "walk")
results.mkdir(exist_ok=True)


def show(name: str, picture: Any) -> Any:
    """In a cell, the value of the last line is shown; a script keeps it in a file."""
    gpufilter.write(results / f"{name}.png", picture)
    return picture


# %% [markdown]
# A picture from a file, with its metadata. NumPy sees its pixels without a copy.

# %%
landscape = gpufilter.Filter("--resize 480x")(gpufilter.read(samples / "landscape.jpg"))
pixels = numpy.asarray(landscape)
print(landscape, pixels.shape, pixels.dtype)
show("1-landscape", landscape)

# %% [markdown]
# Stages as words, and as functions with types and help.

# %%
soft = gpufilter.Filter("--gaussian 3 --color sepia")
show("2-soft", soft(landscape))

# %%
vivid = gpufilter.Filter([gpufilter.levels(), gpufilter.vibrance(0.6), gpufilter.sharpen(0.8)])
show("3-vivid", vivid(landscape))

# %% [markdown]
# Arithmetic of NumPy between two filters: only the bright parts glow.

# %%
blur = gpufilter.Filter(gpufilter.gaussian(12))
glow = numpy.asarray(blur(numpy.where(pixels > 170, pixels, 0).astype(numpy.uint8)))
show("4-glow", numpy.clip(pixels.astype(int) + glow, 0, 255).astype(numpy.uint8))

# %% [markdown]
# One picture of several, each filtered into its place in the same memory.

# %%
height, width = pixels.shape[:2]
sheet = numpy.empty((2 * height, 2 * width, 3), numpy.uint8)
chains = ["--color hue=90", "--edges sobel", "--median 6", "--invert"]
for i, chain in enumerate(chains):
    y, x = divmod(i, 2)
    place = sheet[y * height : (y + 1) * height, x * width : (x + 1) * width]
    gpufilter.Filter(chain)(pixels, out=place)
show("5-sheet", sheet)

# %% [markdown]
# What changed, and the picture in numbers.

# %%
difference = gpufilter.compare(landscape, soft(landscape))
print(f"PSNR {difference.psnr:.2f} dB, SSIM {difference.ssim:.4f}")
for channel in gpufilter.stats(landscape).channels:
    print(f"{channel.name:6} mean {channel.mean:.2f}, median {channel.percentile(50)}")
