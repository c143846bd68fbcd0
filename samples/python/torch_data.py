#!/usr/bin/env python3
"""A data set for PyTorch whose pictures gpufilter reads and prepares: torch_data.py FOLDER.

Each worker of the DataLoader is a process; all use the filters that the data set was made with.
"""

import random
import sys
from pathlib import Path
from typing import Any

import gpufilter

try:
    import numpy
    import torch
    from torch.utils.data import DataLoader, Dataset
except ModuleNotFoundError as error:
    sys.exit(f"This sample needs {error.name}; on Debian: apt install python3-torch python3-numpy")


class NoisyPictures(Dataset):
    """Pairs (noisy, clean) of squares, floating-point numbers from 0 to 1, channels first."""

    def __init__(self, folder: str, side: int = 64, noise: float = 20.0) -> None:
        self.paths = sorted(
            path for path in Path(folder).iterdir() if path.suffix in (".png", ".jpg")
        )
        self.noise = noise
        # Whatever the file holds, the result is RGB with 8 bits. One thread for each worker.
        self.prepare = gpufilter.Filter(
            [
                gpufilter.auto_orient(),
                gpufilter.flatten("white"),
                gpufilter.depth(8),
                gpufilter.resize(f"{side}x{side}", fit="cover"),
                gpufilter.color(numpy.eye(3)),  # grey becomes RGB
            ],
            device="cpu",
            threads=1,
        )
        self.augment = [
            gpufilter.Filter(chain, device="cpu", threads=1)
            for chain in ("", "--flop", "--rotate 90", "--gamma 1.2", "--vibrance 0.4")
        ]

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        picture = self.prepare(gpufilter.read(self.paths[index]))
        picture = random.choice(self.augment)(picture)
        clean = torch.from_numpy(numpy.asarray(picture))  # no copy
        clean = clean.permute(2, 0, 1).float() / 255
        return clean + torch.randn_like(clean) * (self.noise / 255), clean


def main() -> None:
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        sys.exit(__doc__)
    pictures = NoisyPictures(sys.argv[1])
    if len(pictures) == 0:
        sys.exit(f"{sys.argv[1]}: no PNG or JPEG files")
    for noisy, clean in DataLoader(pictures, batch_size=4, shuffle=True, num_workers=2):
        print(
            "batch", tuple(noisy.shape), f"mean squared error {(noisy - clean).square().mean():.5f}"
        )


if __name__ == "__main__":
    main()
