#!/usr/bin/env python3
"""Compares the networks of this folder with other filters on pictures that no network was trained with.

    evaluate.py PICTURE...

Prints a table: PSNR in decibels and SSIM, as `gpufilter compare` measures them, the mean over all pictures. Needs
gpufilter on the PATH, Pillow and NumPy.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy
from PIL import Image

NETWORKS = pathlib.Path(__file__).parent


def run(source, result, *stages):
    subprocess.run(["gpufilter", source, result, *stages, "--device", "cpu", "-q", "--on-exists", "overwrite"],
                   check=True)


def measure(picture, original):
    answer = subprocess.run(["gpufilter", "compare", picture, original, "--json"], stdout=subprocess.PIPE)
    numbers = json.loads(answer.stdout)
    return numpy.array([numbers["psnr_db"], numbers["ssim"]])


def noisy(sigma):
    def damage(original, file):
        noise = numpy.random.default_rng(7).normal(0, sigma, original.shape)
        Image.fromarray(numpy.clip(numpy.rint(original + noise), 0, 255).astype(numpy.uint8)).save(file)
    return damage


def jpeg(quality):
    def damage(original, file):
        Image.fromarray(original).save(file.with_suffix(".jpg"), quality=quality)
        Image.open(file.with_suffix(".jpg")).save(file)
    return damage


def half(original, file):
    size = (original.shape[1] // 2, original.shape[0] // 2)
    Image.fromarray(original).resize(size, Image.BICUBIC).save(file)


def cases():
    def network(name):
        return ["--net", str(NETWORKS / f"{name}.onnx")]
    for sigma in (10, 20, 30):
        yield f"noise {sigma}", noisy(sigma), [
            ("nothing", []), ("--gaussian 0.8", ["--gaussian", "0.8"]), ("--denoise", ["--denoise", str(sigma)]),
            ("denoise.onnx", network("denoise"))]
    for quality in (10, 30, 50):
        yield f"JPEG {quality}", jpeg(quality), [
            ("nothing", []), ("--gaussian 0.6", ["--gaussian", "0.6"]), ("deblock.onnx", network("deblock"))]
    yield "half size", half, [
        ("--resize cubic", ["--resize", "200%", "--kernel", "cubic"]),
        ("--resize lanczos", ["--resize", "200%"]), ("upscale2x.onnx", network("upscale2x"))]


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for name, damage, filters in cases():
            sums = {label: numpy.zeros(2) for label, _ in filters}
            for path in sys.argv[1:]:
                original = numpy.asarray(Image.open(path).convert("RGB"))
                original = original[:original.shape[0] // 2 * 2, :original.shape[1] // 2 * 2]
                Image.fromarray(original).save(folder / "original.png")
                damage(original, folder / "damaged.png")
                for label, stages in filters:
                    run(folder / "damaged.png", folder / "result.png", *stages)
                    sums[label] += measure(folder / "result.png", folder / "original.png")
            for label, sum_of_both in sums.items():
                psnr, ssim = sum_of_both / len(sys.argv[1:])
                print(f"| {name} | {label} | {psnr:.2f} | {ssim:.4f} |", flush=True)


if __name__ == "__main__":
    main()
