#!/usr/bin/env python3
"""Estimates the cycles that each stage takes for a pixel on processors that are not at hand.

    scripts/estimate-cycles.py [--llvm VERSION] [--case TEXT] PROGRAM OTHER

PROGRAM and OTHER are commands of QEMU, each one argument: "qemu-x86_64 -cpu max
build/release/bin/gpufilter" and "qemu-aarch64 -L ROOT -cpu max ROOT/build/bin/gpufilter". QEMU logs
every block of instructions that the program itself (not a library) executes, for two pictures
that differ in height: the difference is what the added rows take. llvm-mca says how many cycles a
block takes with its data in the first-level cache: one that jumps to itself as a loop, others by
what limits their throughput. No name of a loop is needed. Prints a table in Markdown: instructions
and cycles a pixel of the input, and, for each of OTHER's processors, its cycles times the
width of its vectors, relative to AVX2 on Zen 3.
"""
import argparse
import json
import os
import random
import re
import shlex
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from pathlib import Path

WIDTH, HEIGHTS = 512, (128, 160)
SOURCE = Path(__file__).resolve().parent.parent
# The options that a case adds to "INPUT OUTPUT", and the formats of both.
CASES = {
    "gaussian 1": "--gaussian 1",
    "gaussian 5": "--gaussian 5",
    "gaussian 20": "--gaussian 20",
    "sharpen 0.8": "--sharpen 0.8",
    "blur": "--blur auto",
    "median 1": "--median 1",
    "median 2": "--median 2",
    "median 7": "--median 7",
    "dilate 3": "--dilate 3",
    "edges": "--edges sobel",
    "denoise 10": "--denoise 10",
    "resize to a quarter, Lanczos": "--resize 25% --kernel lanczos",
    "resize to a quarter, cubic": "--resize 25% --kernel cubic",
    "resize to a quarter, linear": "--resize 25% --kernel linear",
    "look-up": "--levels 16,235",
    "cube": f"--lut {SOURCE}/samples/luts/film.cube",
    "colour": "--color sepia",
    "hue": "--hue 40",
    "pixel network": f"--mlp {SOURCE}/samples/networks/golden-hour.json",
    "network, float": f"--net {SOURCE}/samples/networks/denoise.onnx",
    "network, int8": f"--net {SOURCE}/samples/networks/denoise-int8.onnx",
    "rotate": "--rotate 90",
    "PNG, written": "ppm png",
    "PNG, read": "png ppm",
}
# By the number of the machine in an ELF file: LLVM's triple, bytes of a vector, its processors.
MACHINES = {
    62: ("x86_64", 32, ["haswell", "znver3", "znver4"]),
    183: ("aarch64", 16, ["neoverse-n1", "neoverse-v2", "apple-m1"]),
}
REFERENCE = "znver3"
AIM = 1.3
JUMP = re.compile(r"(j\w+|call\w*|ret\w*|syscall|b|b\.\w+|bl|blr|br|cbn?z|tbn?z|svc)$")
ALWAYS = re.compile(r"(jmp\w*|ret\w*|b|br)$")


def picture(height):
    """Slopes with noise, as PPM."""
    draw = random.Random(height)
    samples = bytes(min(255, (x * (c + 1) // 3 + y) % 200 + draw.randrange(24))
                    for y in range(height) for x in range(WIDTH) for c in range(3))
    return f"P6\n{WIDTH} {height}\n255\n".encode() + samples


class Block:
    """Instructions that are executed one after the other."""

    def __init__(self, instructions, end=None):
        self.instructions = instructions  # pairs of address and text
        self.end = end  # the address after the last

    def last(self):
        return self.instructions[-1][1]

    def is_loop(self):
        target = re.search(r"0x([0-9a-f]+) <", self.last())
        return (JUMP.match(self.last().split()[0]) and target
                and int(target[1], 16) == self.instructions[0][0])

    def leads_to(self, other):
        return (self.end == other.instructions[0][0] and not self.is_loop()
                and not ALWAYS.match(self.last().split()[0]))

    def assembly(self):
        """What llvm-mca reads: jumps lead to some label."""
        return "".join(re.sub(r"#?-?\b(0x)?[0-9a-f]+ <.*", ".Lplace", text) + "\n"
                       for _, text in self.instructions)


class Program:
    """A command of QEMU, and the blocks of the program's instructions that it executes."""

    def __init__(self, text):
        self.words = shlex.split(text)
        self.file = self.words[-1]
        machine = int.from_bytes(Path(self.file).read_bytes()[18:20], "little")
        self.triple, self.vector, self.models = MACHINES[machine]
        # The first pages that are mapped are the program's.
        pages = self.run(["--version"], ["-d", "page", "-D", "/dev/stderr"]).stderr
        begin, end = re.search(r"^([0-9a-f]{16})-([0-9a-f]{16}) ", pages, re.M).groups()
        self.base, self.range = int(begin, 16), f"0x{begin}..0x{end}"

    def run(self, arguments, options=(), **others):
        done = subprocess.run(self.words[:1] + list(options) + self.words[1:] + arguments,
                              capture_output=True, text=True, check=False, **others)
        if done.returncode:
            sys.exit(f"{shlex.join(done.args)}: {done.stderr[-2000:]}")
        return done

    def count(self, arguments):
        """How often each block begins: by address in the file."""
        blocks = Counter()
        reading, writing = os.pipe()

        def read():
            rest = b""
            while chunk := os.read(reading, 1 << 20):
                chunk = rest + chunk
                cut = chunk.rfind(b"\n") + 1
                blocks.update(re.findall(rb"^Trace [^/\n]*/([0-9a-f]{16})/", chunk[:cut], re.M))
                rest = chunk[cut:]

        reader = threading.Thread(target=read)
        reader.start()
        self.run(arguments, ["-d", "exec,nochain", "-dfilter", self.range, "-D", f"/dev/fd/{writing}"],
                 pass_fds=[writing])
        os.close(writing)
        reader.join()
        os.close(reading)
        return Counter({int(pc, 16) - self.base: n for pc, n in blocks.items()})

    def disassembled(self, llvm, starts):
        """The blocks that start at these addresses, by address."""
        blocks, open_blocks = {}, []
        with subprocess.Popen([f"llvm-objdump{llvm}", "-d", "--no-show-raw-insn", self.file],
                              stdout=subprocess.PIPE, text=True) as dump:
            for line in dump.stdout:
                match = re.match(r" *([0-9a-f]+):\s+(\S.*)", line)
                if not match:
                    continue
                place, text = int(match[1], 16), match[2]
                still_open = []
                for block in open_blocks:
                    # QEMU ends a block at a jump, at a page's end and after 512 instructions.
                    if (JUMP.match(block.last().split()[0]) or len(block.instructions) == 512
                            or place >> 12 != block.instructions[0][0] >> 12):
                        block.end = place
                    else:
                        still_open.append(block)
                open_blocks = still_open
                if place in starts:
                    blocks[place] = Block([])
                    open_blocks.append(blocks[place])
                for block in open_blocks:
                    block.instructions.append((place, text))
        return blocks

    def cases(self, llvm, names, pictures):
        """For each case, pairs of a block and how often it is executed for the added rows."""
        counts = {}
        for name in names:
            less, more = [self.count(self.arguments(name, picture)) for picture in pictures]
            counts[name] = {pc: n - less[pc] for pc, n in more.items() if n > less[pc]}
            print(f"{self.triple}: {name}", file=sys.stderr)
        blocks = self.disassembled(llvm, set().union(*counts.values()))
        return {name: joined([(blocks[pc], n) for pc, n in sorted(case.items()) if pc in blocks])
                for name, case in counts.items()}

    @staticmethod
    def arguments(name, picture):
        """`picture` is a path without the format."""
        words = shlex.split(CASES[name])
        formats = words if not words[0].startswith("-") else ["ppm", "ppm"]
        return [f"{picture}.{formats[0]}", f"{picture}-result.{formats[1]}", "--device", "cpu",
                "--threads", "1", "-q", "--on-exists", "overwrite",
                *(words if words is not formats else [])]


def joined(counted):
    """Blocks that always follow another become part of it."""
    result = []
    for block, count in counted:
        if result and result[-1][1] == count and result[-1][0].leads_to(block):
            before = result[-1][0]
            result[-1] = Block(before.instructions + block.instructions, block.end), count
        else:
            result.append((block, count))
    return result


def cycles_of_blocks(blocks, program, model, llvm):
    """The cycles of each block, executed again and again, on a processor."""
    regions = "".join(f"# LLVM-MCA-BEGIN {i}\n{block.assembly()}# LLVM-MCA-END {i}\n"
                      for i, block in enumerate(blocks))
    done = subprocess.run(
        [f"llvm-mca{llvm}", f"-mtriple={program.triple}", f"-mcpu={model}", "-iterations=100",
         "-skip-unsupported-instructions=any", "-json"],
        input=regions, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"llvm-mca, {model}: {done.stderr[-2000:]}")
    cycles = [0.0] * len(blocks)
    for region in json.loads(done.stdout)["CodeRegions"]:
        i, summary = int(region["Name"]), region["SummaryView"]
        cycles[i] = (summary["TotalCycles"] / summary["Iterations"] if blocks[i].is_loop()
                     else summary["BlockRThroughput"])
    return cycles


def estimates(program, llvm, names, pictures):
    """For each case the instructions a pixel, and the cycles a pixel on each processor."""
    cases = program.cases(llvm, names, pictures)
    pixels = WIDTH * (HEIGHTS[1] - HEIGHTS[0])
    result = {name: [sum(n * len(block.instructions) for block, n in case) / pixels]
              for name, case in cases.items()}
    for model in program.models:
        for name, case in cases.items():
            cycles = cycles_of_blocks([block for block, _ in case], program, model, llvm)
            result[name].append(sum(n * c for (_, n), c in zip(case, cycles)) / pixels)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--llvm", default="", metavar="VERSION",
                        help="of llvm-mca and llvm-objdump, if it is part of their names: 19")
    parser.add_argument("--case", default="", metavar="TEXT", help="only cases with it in the name")
    parser.add_argument("program", type=Program)
    parser.add_argument("other", type=Program)
    options = parser.parse_args()
    llvm = options.llvm and "-" + options.llvm
    programs = options.program, options.other
    names = [name for name in CASES if options.case in name]
    with tempfile.TemporaryDirectory() as folder:
        pictures = [f"{folder}/{height}" for height in HEIGHTS]
        for path, height in zip(pictures, HEIGHTS):
            Path(f"{path}.ppm").write_bytes(picture(height))
            options.program.run([f"{path}.ppm", f"{path}.png", "-q"])
        first, other = [estimates(program, llvm, names, pictures) for program in programs]
    reference = 1 + options.program.models.index(REFERENCE)
    titles = [title for program in programs for title in ["instructions", *program.models]]
    print("| stage | " + " | ".join(titles + [f"{m}, relative" for m in options.other.models]) + " |")
    print("|---" * (1 + len(titles) + len(options.other.models)) + "|")
    for name in names:
        ratios = [cycles * options.other.vector / (first[name][reference] * options.program.vector)
                  for cycles in other[name][1:]]
        print(f"| {name} | " + " | ".join(
            [f"{number:.3g}" for number in first[name] + other[name]]
            + [f"{r:.2f}" if r <= AIM else f"**{r:.2f}**" for r in ratios]) + " |")


if __name__ == "__main__":
    main()
