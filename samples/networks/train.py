#!/usr/bin/env python3
"""Trains the networks of this folder and writes them as ONNX.

    train.py denoise|deblock|upscale2x RESULT.onnx MINUTES PICTURE...

Needs PyTorch, Pillow and NumPy (Debian: python3-torch, python3-onnx, python3-pil, python3-numpy). The patches are
the same in every run; how many steps fit into MINUTES depends on the machine. README.md names the pictures.
"""
import io
import math
import random
import sys
import time

import numpy
import torch
from PIL import Image
from torch import nn

PATCH = 48
BATCH = 16
WIDTH = 16


class Restore(nn.Module):
    """Five 3x3 convolutions that compute what to add to the picture."""

    def __init__(self):
        super().__init__()
        layers = [nn.Conv2d(3, WIDTH, 3, padding=1), nn.PReLU(WIDTH)]
        for _ in range(3):
            layers += [nn.Conv2d(WIDTH, WIDTH, 3, padding=1), nn.PReLU(WIDTH)]
        layers.append(nn.Conv2d(WIDTH, 3, 3, padding=1))
        self.body = nn.Sequential(*layers)
        nn.init.zeros_(self.body[-1].weight)
        nn.init.zeros_(self.body[-1].bias)

    def forward(self, x):
        return x + self.body(x)


class Upscale(nn.Module):
    """Convolutions at the small size; their last channels become four pixels each."""

    def __init__(self):
        super().__init__()
        layers = [nn.Conv2d(3, WIDTH, 3, padding=1), nn.PReLU(WIDTH)]
        for _ in range(2):
            layers += [nn.Conv2d(WIDTH, WIDTH, 3, padding=1), nn.PReLU(WIDTH)]
        layers += [nn.Conv2d(WIDTH, 12, 3, padding=1), nn.PixelShuffle(2)]
        self.body = nn.Sequential(*layers)
        self.nearest = nn.Upsample(scale_factor=2, mode="nearest")

    def forward(self, x):
        return self.nearest(x) + self.body(x)


def random_patch(pictures, side, random_numbers):
    picture = random_numbers.choice(pictures)
    height, width, _ = picture.shape
    y = random_numbers.randrange(height - side + 1)
    x = random_numbers.randrange(width - side + 1)
    patch = picture[y:y + side, x:x + side]
    if random_numbers.random() < 0.5:
        patch = patch[:, ::-1]
    patch = numpy.rot90(patch, random_numbers.randrange(4))
    return numpy.ascontiguousarray(patch)


def damaged(task, patch, random_numbers, noise):
    """What the network gets for this patch, whose original it is to return."""
    if task == "denoise":
        sigma = random_numbers.uniform(5, 30)
        noisy = patch + noise.normal(0, sigma, patch.shape)
        return numpy.clip(numpy.rint(noisy), 0, 255).astype(numpy.uint8)
    if task == "deblock":
        file = io.BytesIO()
        Image.fromarray(patch).save(file, "JPEG", quality=random_numbers.randint(10, 60))
        return numpy.asarray(Image.open(file).convert("RGB"))
    small = Image.fromarray(patch).resize((patch.shape[1] // 2, patch.shape[0] // 2), Image.BICUBIC)
    return numpy.asarray(small)


def batch_of(task, pictures, random_numbers, noise):
    # JPEG's blocks begin at multiples of 8, so each patch is cut from a larger one after the damage.
    margin = 8 if task == "deblock" else 0
    side = PATCH * 2 if task == "upscale2x" else PATCH
    inputs, targets = [], []
    for _ in range(BATCH):
        patch = random_patch(pictures, side + margin, random_numbers)
        bad = damaged(task, patch, random_numbers, noise)
        if margin:
            x, y = random_numbers.randrange(margin + 1), random_numbers.randrange(margin + 1)
            patch, bad = patch[y:y + side, x:x + side], bad[y:y + side, x:x + side]
        inputs.append(bad)
        targets.append(patch)

    def tensor(arrays):
        return torch.from_numpy(numpy.stack(arrays).astype(numpy.float32) / 255).permute(0, 3, 1, 2)

    return tensor(inputs), tensor(targets)


def main():
    task, result, minutes = sys.argv[1], sys.argv[2], float(sys.argv[3])
    pictures = [numpy.asarray(Image.open(name).convert("RGB")) for name in sys.argv[4:]]
    torch.manual_seed(1)
    torch.set_num_threads(1)
    random_numbers = random.Random(2)
    noise = numpy.random.default_rng(3)
    network = Upscale() if task == "upscale2x" else Restore()
    optimizer = torch.optim.Adam(network.parameters(), lr=2e-3)
    begin = time.time()
    step = 0
    mean = 0.0
    while True:
        done = (time.time() - begin) / (60 * minutes)
        if done >= 1:
            break
        for group in optimizer.param_groups:
            group["lr"] = 2e-3 * (0.01 + 0.99 * (1 + math.cos(math.pi * done)) / 2)
        inputs, targets = batch_of(task, pictures, random_numbers, noise)
        loss = nn.functional.mse_loss(network(inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        mean = 0.99 * mean + 0.01 * loss.item() if step else loss.item()
        step += 1
        if step % 500 == 0:
            print(f"{task}: step {step}, PSNR {-10 * math.log10(mean):.2f} dB", flush=True)
    network.eval()
    torch.onnx.export(network, torch.zeros(1, 3, 32, 32), result, opset_version=13, input_names=["image"],
                      output_names=["result"],
                      dynamic_axes={"image": {2: "height", 3: "width"}, "result": {2: "h", 3: "w"}})


if __name__ == "__main__":
    main()
