#!/usr/bin/env python3
"""Compares the files that two builds of gpufilter write for random chains of stages.

    scripts/compare-programs.py [--chains N] [--seed N] PROGRAM OTHER

PROGRAM and OTHER are commands, each one argument: "build/release/bin/gpufilter",
"qemu-aarch64 -cpu max build/arm64/bin/gpufilter". Each chain filters a random picture on the
processor; both programs must end alike and write the same bytes. Prints the command lines that
differ. Exit code: 0 if none do, 1 otherwise.
"""
import argparse
import os
import random
import shlex
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path


def command(text):
    """The words of a command; paths stay valid in other folders."""
    return [str(Path(word).resolve()) if "/" in word and Path(word).exists() else word
            for word in shlex.split(text)]


def number(low, high):
    return lambda draw: f"{draw.uniform(low, high):.4g}"


def whole(low, high):
    return lambda draw: str(draw.randint(low, high))


def word(*words):
    return lambda draw: draw.choice(words)


BORDER = ("--border", word("replicate", "mirror", "wrap", "constant"))
ALPHA = ("--alpha", word("weighted", "independent"))
WARP = [("--interpolation", word("nearest", "linear", "cubic")),
        ("--outside", word("color", "replicate", "mirror", "wrap")), ("--pad-color", word("navy", "transparent"))]

# Each stage: its option, its value or None, and parameters that it may take.
STAGES = [
    ("--blur", word("naive", "tiled", "auto"), [BORDER, ALPHA]),
    ("--gaussian", number(0.3, 12), [BORDER, ALPHA]),
    ("--sharpen", number(0.5, 3), [BORDER, ALPHA]),
    ("--median", whole(1, 6), [BORDER, ALPHA]),
    ("--dilate", whole(1, 9), [BORDER, ALPHA]),
    ("--erode", whole(1, 9), [BORDER, ALPHA]),
    ("--open", whole(1, 4), [BORDER, ALPHA]),
    ("--close", whole(1, 4), [BORDER, ALPHA]),
    ("--edges", word("sobel", "scharr", "laplacian"), [BORDER, ALPHA]),
    ("--denoise", number(3, 60), [BORDER, ALPHA]),
    ("--convolve", word("0,-1,0;-1,5,-1;0,-1,0", "1,2,1;2,4,2;1,2,1", "0.1,0.2,0.7"), [BORDER, ALPHA]),
    ("--color", word("sepia", "grayscale", "saturation=1.3", "hue=40", "protanopia", "swap-rb"), []),
    ("--levels", word("auto", "auto=2", "10%,85%"), []),
    ("--gray", None, []),
    ("--hue", number(-180, 180), []),
    ("--vibrance", number(-1, 1), []),
    ("--gamma", number(0.3, 3), []),
    ("--invert", None, []),
    ("--exposure", number(-2, 2), []),
    ("--white-balance", word("auto", "gray-world", "4000", "1.2,1,0.8"), []),
    ("--curve", word("0,0 0.25,0.15 0.75,0.85 1,1", "0.1,1 0.9,0", "0,0.1 1,1 r:0,0 0.4,0.6 1,1"), []),
    ("--brightness", number(0.5, 2), []),
    ("--contrast", number(0.5, 2), []),
    ("--tint", word("navy", "#704214"), []),
    ("--vignette", number(-1, 1), []),
    ("--clahe", word("2", "3.5,3"), []),
    ("--channel", word("r", "g", "b", "a", "luma"), []),
    ("--swap", word("bgr", "gbr"), []),
    ("--equalize", None, []),
    ("--binarize", word("otsu", "40%"), []),
    ("--posterize", whole(2, 256), []),
    ("--pixel", word("r = 1.1*r - 0.05*g; b = curve(b, 0 0.1 0.5 0.6 1 1)", "gray = table(min(gray, a), 0 0.2 0.7 1)",
                     "y = luma(r, g, b); rgb = fma(1.3, rgb - y, y); a = clamp(a, 0.2, 0.7)"), []),
    ("--flatten", word("white", "#3366cc"), []),
    ("--depth", word("8", "16"), []),
    ("--linear", None, []),
    ("--encoded", None, []),
    ("--pad", whole(1, 20), [BORDER]),
    ("--crop", word("3:2", "9:16", "70%"), []),
    ("--rotate", word("90", "180", "270", "3", "-45", "100.5"),
     [("--rotate-fit", word("grow", "keep", "crop")), *WARP]),
    ("--affine", word("0.9,0.3,2,-0.2,1.1,5", "0.3,0,0,0.1,0.2,3", "-1,0,40,0,-1,30"), WARP),
    ("--perspective", word("2,3 0,0 30,1 40,0 28,25 40,30 1,20 0,30"), WARP),
    ("--flip", None, []),
    ("--flop", None, []),
    ("--resize", lambda draw: f"{draw.randint(1, 160)}x{draw.randint(1, 120)}!",
     [("--kernel", word("nearest", "linear", "cubic", "lanczos", "area")), BORDER, ALPHA]),
]


def picture(draw):
    """A random picture as PAM: 1 to 4 channels of 8 or 16 bits, odd sizes, flat and noisy parts."""
    width, height = draw.randint(1, 150), draw.randint(1, 110)
    channels, size = draw.randint(1, 4), draw.choice([1, 2])
    kind = ["GRAYSCALE", "GRAYSCALE_ALPHA", "RGB", "RGB_ALPHA"][channels - 1]
    header = (f"P7\nWIDTH {width}\nHEIGHT {height}\nDEPTH {channels}\nMAXVAL {256 ** size - 1}\n"
              f"TUPLTYPE {kind}\nENDHDR\n")
    samples = bytearray(draw.randbytes(width * height * channels * size))
    for _ in range(draw.randint(0, 4)):  # runs of one value, which are opaque, clear or flat
        begin = draw.randrange(len(samples))
        end = draw.randint(begin, len(samples))
        samples[begin:end] = bytes([draw.choice([0, 255, draw.randrange(256)])]) * (end - begin)
    return header.encode() + bytes(samples)


def chain(draw):
    words = []
    for _ in range(draw.randint(1, 4)):
        option, value, parameters = draw.choice(STAGES)
        words += [option] + ([value(draw)] if value else [])
        for name, choice in parameters:
            if draw.random() < 0.4:
                words += [name, choice(draw)]
    return words


def run(program, folder, words, output):
    """The exit code, the messages and the bytes of the file that was written, if any."""
    target = folder / output
    done = subprocess.run(program + words[:1] + [target.name] + words[1:] + ["--device", "cpu", "-q"],
                          cwd=folder, capture_output=True, text=True, check=False)
    content = target.read_bytes() if target.exists() else None
    target.unlink(missing_ok=True)
    return done.returncode, done.stderr.replace(target.name, "OUTPUT"), content


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chains", type=int, default=1000, metavar="N", help="default: 1000")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="default: 1")
    parser.add_argument("program", type=command)
    parser.add_argument("other", type=command)
    options = parser.parse_args()

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)

        def compare(index):
            draw = random.Random(f"{options.seed} {index}")
            source = f"{index}.pam"
            (folder / source).write_bytes(picture(draw))
            suffix = draw.choice([".png", ".png", ".pam", ".jpg"])
            words = [source] + chain(draw)
            first = run(options.program, folder, words, f"{index}-a{suffix}")
            second = run(options.other, folder, words, f"{index}-b{suffix}")
            (folder / source).unlink()
            wrote = first[2] is not None
            return (None if first == second else
                    f"{shlex.join(words)} -> {suffix}: exit {first[0]} and {second[0]}; "
                    f"{first[1].strip()} {second[1].strip()}"), wrote

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            results = list(pool.map(compare, range(options.chains)))
    differing = [text for text, _ in results if text]
    written = sum(wrote for _, wrote in results)
    for text in differing:
        print(text)
    print(f"{len(results)} chains, {written} files written, {len(differing)} differ")
    # A chain that both refuse shows nothing.
    if written < len(results) // 2:
        sys.exit("fewer than half of the chains wrote a file")
    sys.exit(1 if differing else 0)


if __name__ == "__main__":
    main()
