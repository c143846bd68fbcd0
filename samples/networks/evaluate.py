#!/usr/bin/env python3
"""Compares the networks of this folder with other filters on pictures that no network was trained with.

    evaluate.py PICTURE...

Prints a table: PSNR in decibels and SSIM, as `gpufilter compare` measures them, the mean over all pictures. Needs
gpufilter on the PATH, OpenCV for Python, Pillow and NumPy (Debian: python3-opencv, python3-pil, python3-numpy).
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import cv2
import numpy
from PIL import Image

NETWORKS = pathlib.Path(__file__).parent


def stages(*words):
    """A filter: gpufilter with these stages."""
    def run(source, result):
        subprocess.run(["gpufilter", source, result, *words, "--device", "cpu", "-q", "--on-exists", "overwrite"],
                       check=True)
    return run


def network(name):
    return f"**{name}**", stages("--net", str(NETWORKS / f"{name}.onnx"))


def non_local_means(strength):
    def run(source, result):
        cv2.imwrite(str(result), cv2.fastNlMeansDenoisingColored(cv2.imread(str(source)), None, strength, strength))
    return f"OpenCV fastNlMeansDenoisingColored, h {strength}", run


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
    for sigma in (10, 20, 30):
        yield f"noise {sigma}", noisy(sigma), [
            ("nothing", stages()), ("--gaussian 0.8", stages("--gaussian", "0.8")),
            (f"--denoise {sigma}", stages("--denoise", str(sigma))), non_local_means(round(0.6 * sigma)),
            network("denoise"), network("denoise-int8")]
    for quality in (10, 30, 50):
        yield f"JPEG {quality}", jpeg(quality), [
            ("nothing", stages()), ("--gaussian 0.6", stages("--gaussian", "0.6")),
            ("--denoise 5", stages("--denoise", "5")), non_local_means(3),
            network("deblock"), network("deblock-int8")]
    yield "half size", half, [
        ("--resize cubic", stages("--resize", "200%", "--kernel", "cubic")),
        ("--resize lanczos", stages("--resize", "200%")), network("upscale2x"), network("upscale2x-int8")]


def main():
    print("| | | PSNR | SSIM |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for name, damage, filters in cases():
            sums = {label: numpy.zeros(2) for label, _ in filters}
            for path in sys.argv[1:]:
                original = numpy.asarray(Image.open(path).convert("RGB"))
                original = original[:original.shape[0] // 2 * 2, :original.shape[1] // 2 * 2]
                Image.fromarray(original).save(folder / "original.png")
                damage(original, folder / "damaged.png")
                for label, apply in filters:
                    apply(folder / "damaged.png", folder / "result.png")
                    sums[label] += measure(folder / "result.png", folder / "original.png")
            for label, sum_of_both in sums.items():
                psnr, ssim = sum_of_both / len(sys.argv[1:])
                print(f"| {name} | {label} | {psnr:.2f} | {ssim:.4f} |", flush=True)


if __name__ == "__main__":
    main()
