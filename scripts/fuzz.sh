#!/usr/bin/env bash
# Runs every target of the fuzzers, as many at a time as there are processors, and prints a table: fuzz.sh [SECONDS [SEED
# [TARGET...]]]. SECONDS of processor time for each target, 10 unless given; a new SEED makes other files. The fuzzers are
# those of the preset "fuzz", or of the build folder BUILD (then without building). Findings and reports of the sanitizers
# are kept in BUILD/findings/TARGET.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
programs=(fuzz_png fuzz_jpeg fuzz_formats fuzz_onnx fuzz_parsers)

if [[ -z "${BUILD:-}" ]]; then
  BUILD=build/fuzz
  cmake --preset fuzz >/dev/null
  cmake --build --preset fuzz --target "${programs[@]}"
fi

exec python3 - "${BUILD}" "${1:-10}" "${2:-$(date +%j)}" "${programs[*]}" "${@:3}" <<'PYTHON'
import concurrent.futures
import os
import pathlib
import re
import resource
import subprocess
import sys
import threading
import time

build, seconds, first_seed, programs, *wanted = sys.argv[1:]
seconds = float(seconds)
first_seed = int(first_seed)
findings = pathlib.Path(build, "findings")
LIBRARIES = re.compile(r"#0 .*(lib(?:heif|de265|dav1d|aom|jxl|webp|tiff|jpeg|png|lcms2))")


class Result:
    def __init__(self):
        self.rounds = self.findings = self.library_crashes = self.blocks = 0
        self.seconds = self.memory = self.slowest = 0.0
        self.messages = []


def environment_for(reports):
    """What libraries never free is no finding, nor is memory that is refused."""
    options = f"log_path={reports}:use_sigaltstack=0:detect_leaks=0:allocator_may_return_null=1"
    return {**os.environ, "ASAN_OPTIONS": options, "UBSAN_OPTIONS": f"log_path={reports}:print_stacktrace=1"}


def run(program, words, limit, reports):
    """Returns what it prints, its processor seconds and its peak memory in MB."""
    child = subprocess.Popen(
        [f"{build}/tests/{program}", *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment_for(reports),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (int(limit) + 60, int(limit) + 70)))
    stuck = threading.Timer(4 * limit + 300, child.kill)
    stuck.start()
    text = child.stdout.read().decode(errors="replace")
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = status
    stuck.cancel()
    return text, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def note_crash(result, folder, seed):
    """What was checked when the program ended; its reports say where it crashed."""
    for file in folder.glob("*.running"):
        file = file.rename(file.with_suffix(".crash"))
        result.rounds += int(file.stem.split("-")[1])
        reports = [report.read_text(errors="replace") for report in folder.glob("report.*")]
        library = LIBRARIES.search("".join(reports))
        for number, report in enumerate(folder.glob("report.*")):
            report.rename(folder / f"{file.stem}.{number}.txt")
        if library:
            result.library_crashes += 1
        else:
            result.findings += 1
        result.messages.append(f"{file}: crashes{' in ' + library[1] if library else ''}")


def fuzz(program, target):
    result = Result()
    folder = findings / target
    folder.mkdir(parents=True, exist_ok=True)
    text, _, _ = run(program, ["--target", target, "--replay", "tests/fuzz/corpus"], 60, folder / "report")
    if ", 0 findings" not in text:
        result.findings += 1
        result.messages.append(f"the corpus of {target} fails: {text}")
    # A crash ends the program; the search goes on with another seed.
    seed = first_seed
    while result.seconds < seconds and seed < first_seed + 40:
        left = seconds - result.seconds
        words = ["--target", target, "--seed", str(seed), "--cpu-seconds", str(left), "--keep", str(findings)]
        text, spent, memory = run(program, words, left, folder / "report")
        result.seconds += spent
        result.memory = max(result.memory, memory)
        end = re.search(r": (\d+) rounds, (\d+) findings, (\d+) blocks, slowest ([-+.e\d]+) s of (\d+) bytes", text)
        result.messages += [line for line in text.splitlines() if ", seed " in line]
        if end:
            result.rounds += int(end[1])
            result.findings += int(end[2])
            result.blocks = max(result.blocks, int(end[3]))
            result.slowest = max(result.slowest, float(end[4]))
        note_crash(result, folder, seed)
        seed += 1000 if end else 1
    return result


def targets_of(program):
    listed = subprocess.run([f"{build}/tests/{program}", "--list"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                            text=True, check=True, env=environment_for(findings / "report"))
    return [target for target in listed.stdout.splitlines() if not wanted or target in wanted]


begin = time.time()
findings.mkdir(exist_ok=True)
programs_of = {target: program for program in programs.split() for target in targets_of(program)}
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    jobs = {target: pool.submit(fuzz, program, target) for target, program in programs_of.items()}
    results = {target: job.result() for target, job in jobs.items()}

print("| target | executions | blocks reached | findings | crashes in libraries | seconds | peak MB | slowest, ms |")
print("|---|---|---|---|---|---|---|---|")
for target, result in results.items():
    print(f"| {target} | {result.rounds} | {result.blocks} | {result.findings} | {result.library_crashes} "
          f"| {result.seconds:.0f} | {result.memory:.0f} | {1000 * result.slowest:.1f} |")
for result in results.values():
    for message in result.messages:
        print(message)
print(f"{time.time() - begin:.0f} s")
sys.exit(1 if any(result.findings for result in results.values()) else 0)
PYTHON
