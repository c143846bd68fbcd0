#!/usr/bin/env python3
"""Puts load on the program and the library, and prints what it took: load.py PROGRAM [OPTION...].

PYTHONPATH has the folder of the Python module for the loop through the library. Pictures and
results lie in a temporary folder (TMPDIR). Returns 1 if a result is wrong, or if memory,
descriptors, threads or temporary files grow.
"""

import argparse
import os
import pathlib
import random
import shutil
import subprocess
import tempfile
import time

STAGES = ["--blur", "auto", "--device", "cpu", "-q"]


def run(*words):
    """Seconds, peak memory in MB and exit code."""
    begin = time.monotonic()
    child = subprocess.Popen([str(word) for word in words])
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return time.monotonic() - begin, usage.ru_maxrss / 1024, child.returncode


def left_over(folder):
    return [path for path in folder.rglob(".*.gpufilter-*") if path.is_file()]


def small_picture(path, chance):
    path.write_bytes(b"P6 64 48 255\n" + chance.randbytes(64 * 48 * 3))


def same_files(folder, expected):
    names = [path.name for path in expected.glob("*.png")]
    return all((folder / name).read_bytes() == (expected / name).read_bytes() for name in names)


def many(place, arguments, chance):
    """Small pictures, a hundred contents, one folder."""
    seeds = place / "seeds"
    pictures = place / "many"
    for folder in (seeds, pictures):
        folder.mkdir()
    for i in range(100):
        small_picture(seeds / f"{i}.ppm", chance)
    run(arguments.program, seeds, f"{place}/seeds.png/", "--to", "png", *STAGES)
    for i in range(arguments.pictures):
        os.link(seeds / f"{i % 100}.ppm", pictures / f"{i}.ppm")
    words = [arguments.program, pictures, f"{place}/out/", "--to", "png", *STAGES]
    seconds, memory, code = run(*words)
    expected = [(place / "seeds.png" / f"{i}.png").read_bytes() for i in range(100)]
    right = code == 0 and all(
        (place / "out" / f"{i}.png").read_bytes() == expected[i % 100]
        for i in range(arguments.pictures)
    )
    again, memory_again, code = run(*words, "--resume")
    right = right and code == 0 and not left_over(place)
    for folder in (pictures, place / "out"):
        shutil.rmtree(folder)
    yield f"{arguments.pictures} pictures of 64x48", f"{seconds:.0f} s, {memory:.0f} MB", right
    yield "all of them found done by --resume", f"{again:.0f} s, {memory_again:.0f} MB", right


def large(place, arguments, _):
    """One tall picture, of which the file has no blocks."""
    peaks = []
    for gigapixels in (arguments.gigapixels / 10, arguments.gigapixels):
        height = int(gigapixels * 1e9) // 32768
        header = b"P5 32768 %d 255\n" % height
        path = place / "large.pgm"
        path.write_bytes(header)
        os.truncate(path, len(header) + 32768 * height)
        seconds, memory, code = run(
            arguments.program, path, place / "large.png", "--max-pixels", "4000000000", *STAGES
        )
        peaks.append(memory)
        right = code == 0 and max(peaks) < 1.1 * min(peaks) + 8
        took = f"{seconds:.0f} s, {memory:.0f} MB"
        yield f"one picture of {gigapixels:g} gigapixels", took, right
        for file in place.glob("large.*"):
            file.unlink()


def crowd(place, arguments, chance):
    """Three shards and eight processes of one picture at a time, all into one folder."""
    folder = place / "crowd"
    folder.mkdir()
    for i in range(arguments.crowd):
        small_picture(folder / f"{i}.ppm", chance)
    single = place / "single"
    single.mkdir()
    for i in range(arguments.crowd // 8 * 8):
        small_picture(single / f"s{i}.ppm", chance)
    expected = place / "expected"
    for source in (folder, single):
        run(arguments.program, source, f"{expected}/", "--to", "png", *STAGES)
        (expected / ".gpufilter-journal").unlink()
    out = place / "together"
    program = arguments.program
    begin = time.monotonic()
    running = [
        subprocess.Popen([program, folder, f"{out}/", "--to", "png", "--shard", f"{i}/3", *STAGES])
        for i in range(3)
    ]
    out.mkdir(exist_ok=True)
    one_by_one = (
        'n=$0; while [ -e "$2/s$n.ppm" ]; do '
        f'"$1" "$2/s$n.ppm" "$3/s$n.png" {" ".join(STAGES)} || exit 1; n=$((n + 8)); done'
    )
    running += [
        subprocess.Popen(["sh", "-c", one_by_one, str(i), program, single, out]) for i in range(8)
    ]
    right = all(process.wait() == 0 for process in running)
    seconds = time.monotonic() - begin
    gathered = subprocess.run([program, "gather", out], capture_output=True, check=False)
    right = right and gathered.returncode == 0 and same_files(out, expected)
    right = right and not left_over(out) and not (out / ".gpufilter-shards").exists()
    count = sum(1 for _ in out.glob("*.png"))
    yield f"3 shards and 8 processes, {count} pictures", f"{seconds:.0f} s", right


def state():
    """Memory in MB, descriptors, threads and temporary files of this process."""
    status = pathlib.Path("/proc/self/status").read_text()
    memory = int(status.split("VmRSS:")[1].split()[0]) / 1024
    folders = ("/proc/self/fd", "/proc/self/task", tempfile.gettempdir())
    return (memory, *(len(os.listdir(folder)) for folder in folders))


def loop(place, arguments, chance):
    """Ordinary use through the library: files, pixels in memory, folders, damaged files."""
    os.environ["TMPDIR"] = tempfile.tempdir = f"{place}/temporary"
    folder = place / "loop"
    for made in (folder, place / "temporary"):
        made.mkdir()
    import gpufilter

    for i in range(8):
        small_picture(folder / f"{i}.ppm", chance)
    (folder / "damaged.png").write_bytes(b"\x89PNG\r\n\x1a\n" + chance.randbytes(500))
    chains = [
        "--blur auto",
        "--gaussian 2 --levels auto",
        "--resize 50% --sharpen 1",
        "--median 1 --gray",
        "--rotate 90",
    ]
    filters = [gpufilter.Filter(chain, device="cpu") for chain in chains]
    states = []
    rounds = 0
    end = time.monotonic() + arguments.loop
    while time.monotonic() < end:
        for one in filters:
            one(gpufilter.read(folder / f"{rounds % 8}.ppm"))
            one.run(folder / f"{rounds % 8}.ppm", place / "loop.png")
            try:
                one.run(folder / "damaged.png", place / "loop.png")
            except gpufilter.Error:
                pass
        if rounds % 50 == 0:
            filters[0].run_folder(folder, place / "loop.out", on_exists="overwrite")
            filters[rounds // 50 % 5] = gpufilter.Filter(chains[rounds // 50 % 5], device="cpu")
        rounds += 1
        if time.monotonic() > end - arguments.loop * (1 - len(states) / 20) + arguments.loop / 20:
            states.append(state())
    early, late = states[len(states) // 4], states[-1]
    right = late[0] < 1.05 * early[0] + 2 and late[1:] == early[1:]
    text = "; later ".join(
        f"{s[0]:.1f} MB, {s[1]} descriptors, {s[2]} threads, {s[3]} temporary files"
        for s in (early, late)
    )
    yield f"{15 * rounds} calls of the library in {arguments.loop:.0f} s", text, right


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--pictures", type=int, default=100_000)
    parser.add_argument("--gigapixels", type=float, default=2)
    parser.add_argument("--crowd", type=int, default=2000, help="pictures of the shards")
    parser.add_argument("--loop", type=float, default=3600, help="seconds of the loop")
    parser.add_argument("--only", nargs="+", choices=["many", "large", "crowd", "loop"])
    arguments = parser.parse_args()
    arguments.program = arguments.program.resolve()
    failed = False
    print("| load | took | |\n|---|---|---|")
    for part in (many, large, crowd, loop):
        if arguments.only and part.__name__ not in arguments.only:
            continue
        with tempfile.TemporaryDirectory(prefix="load-") as place:
            for what, took, right in part(pathlib.Path(place), arguments, random.Random(1)):
                print(f"| {what} | {took} | {'right' if right else 'WRONG'} |", flush=True)
                failed = failed or not right
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
