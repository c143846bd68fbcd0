#!/usr/bin/env python3
"""Kills folder runs at random moments and resumes them: try-kills.py PROGRAM [ROUNDS [SEED]].

Each round is one of four kinds (copying, in place, several outputs, two shards). After the kills,
--resume has to complete the run, and 'gather' that of the shards: every result is right, none is
filtered twice, and nothing is left but the journal.
"""

import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

PICTURES = 24
STAGES = ["--blur", "auto", "--device", "cpu", "-q"]
KINDS = {
    "copying": lambda f: [[f"{f}/in", f"{f}/out/", *STAGES]],
    "in place": lambda f: [[f"{f}/in", "--in-place", *STAGES]],
    "several outputs": lambda f: [[f"{f}/in", f"{f}/out/", "--output", f"{f}/first/", *STAGES]],
    "shards": lambda f: [[f"{f}/in", f"{f}/out/", *STAGES, "--shard", f"{i}/2"] for i in range(2)],
}


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix == ".png"}


def kill_and_resume(program, folder, kind, chance):
    """Returns what is wrong afterwards; an empty text if nothing is."""
    commands = KINDS[kind](folder)
    for _ in range(chance.randint(1, 3)):
        running = [
            subprocess.Popen([program, *words, "--resume"], stderr=subprocess.DEVNULL)
            for words in commands
        ]
        time.sleep(chance.uniform(0.005, 0.12))
        for process in running:
            process.send_signal(signal.SIGKILL)
            process.wait()
    for words in commands:
        done = subprocess.run([program, *words, "--resume"], capture_output=True, check=False)
        if done.returncode != 0:
            return done.stderr.decode()
    if kind == "shards":
        gathered = subprocess.run(
            [program, "gather", f"{folder}/out"], capture_output=True, check=False
        )
        if gathered.returncode != 0:
            return gathered.stderr.decode()
    left = [path for path in folder.rglob(".*gpufilter-*") if path.name != ".gpufilter-journal"]
    return f"left over: {left}" if left else ""


def main():
    program = sys.argv[1]
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    chance = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    failures = 0
    with tempfile.TemporaryDirectory() as place:
        seeds = pathlib.Path(place, "seeds")
        seeds.mkdir()
        for i in range(PICTURES):
            width = chance.randint(100, 400)
            pixels = chance.randbytes(width * 300 * 3)
            (seeds / f"{i}.ppm").write_bytes(b"P6 %d 300 255\n" % width + pixels)
        originals = pathlib.Path(place, "originals")
        expected = pathlib.Path(place, "expected")
        subprocess.run([program, seeds, f"{originals}/", "--to", "png", "-q"], check=True)
        subprocess.run([program, originals, f"{expected}/", *STAGES], check=True)
        for i in range(rounds):
            kind = list(KINDS)[i % len(KINDS)]
            folder = pathlib.Path(place, "round")
            shutil.copytree(originals, folder / "in", ignore=shutil.ignore_patterns(".gpufilter-*"))
            trouble = kill_and_resume(program, folder, kind, chance)
            results = folder / ("in" if kind == "in place" else "out")
            if not trouble and contents(results) != contents(expected):
                trouble = "wrong results"
            inputs = contents(folder / "in")
            if not trouble and kind != "in place" and inputs != contents(originals):
                trouble = "changed inputs"
            if trouble:
                failures += 1
                print(f"round {i}, {kind}: {trouble}", flush=True)
            shutil.rmtree(folder)
    print(f"{rounds} rounds, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
