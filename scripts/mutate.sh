#!/usr/bin/env bash
# Shows that rows of tests/faults/faults.txt fail if the handling of their fault is removed. Each mutation is a condition
# in a source, '@' below, that is true if GPUFILTER_MUTATION has its number. All are built into build/release at once; the
# sources are restored afterwards, and the next build makes the program as it was. Without the variable every row has to
# pass, with it the mutation's own has to fail.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

python3 - <<'PYTHON'
import os
import pathlib
import signal
import subprocess
import sys
import threading

# The source, a piece of it, what replaces it, and the row that has to fail.
MUTATIONS = [
    ("base/atomic_file.cpp", "if (error == ENOENT && ", "if (!@ && error == ENOENT && ",
     "renaming done, the server's answer lost"),
    ("base/atomic_file.cpp", "  sync(file_.get());\n", "  if (!@) sync(file_.get());\n", "disk fails when synced"),
    ("base/atomic_file.cpp", "  file_.close();\n", "  if (@) {\n    file_.reset();\n  } else {\n    file_.close();\n  }\n",
     "server reports a failure on closing"),
    ("base/atomic_file.cpp", "return errno != EWOULDBLOCK;", "return !@ && errno != EWOULDBLOCK;",
     "file system without locks"),
    ("base/atomic_file.cpp", "return is_free && ", "return !@ && is_free && ", "temporary file of a killed run"),
    ("base/files.cpp", "} else if (errno != EINTR) {", "} else if (@ || errno != EINTR) {",
     "input with interrupted reads"),
    ("pipeline/run/picture_input.cpp", "if (is_newer || ", "if ((!@ && is_newer) || ",
     "input replaced between two walks"),
    ("pipeline/run/chain_part.cpp", "if (!continue_on_processor(error)) throw;",
     "if (@ || !continue_on_processor(error)) throw;", "device lost while a pipe is filtered"),
    ("pipeline/run/chain_part.cpp", "if (again && &executor == current_ && !continue_on_processor(error)) throw;",
     "if (@ || (again && &executor == current_ && !continue_on_processor(error))) throw;",
     "device out of memory for one transfer"),
    ("pipeline/run/run.cpp", "if (!failed || ", "if (@ || !failed || ", "device lost while it counts in a pipe"),
    ("pipeline/choose/engine.cpp", "if (!retry(&Engine::lower_bands, error)) throw;",
     "if (!retry(@ ? &Engine::leave_current : &Engine::lower_bands, error)) throw;",
     "device with memory for lower bands only"),
    ("pipeline/execute/device_executor.cpp", "return allocate_image_memory(bytes);",
     "if (@) throw;\n        return allocate_image_memory(bytes);", "device without pinned memory"),
    ("device/session.cpp", "if (limit == no_timeout) return", "if (@ || limit == no_timeout) return",
     "kernel that hangs"),
    ("device/vendor_probes.cpp", "if (const auto limit = device_timeout()) return",
     "if (const auto limit = device_timeout(); limit && !@) return", "vendor that never answers"),
    ("codec/heif/reader.cpp", "if (needs_isolation(", "if (!@ && needs_isolation(", "decoder that crashes"),
    ("codec/isolated_decoding.cpp", "if (WTERMSIG(status) == SIGXCPU)", "if (!@ && WTERMSIG(status) == SIGXCPU)",
     "decoder that takes too long"),
    ("batch/journal.cpp", "if (!unsealed(line))", "if (!@ && !unsealed(line))", "journal damaged"),
    ("batch/batch_run.cpp", "if (found == names_.end() ||", "if (@ || found == names_.end() ||",
     "names that differ in their normalisation, where that makes no difference"),
    ("batch/batch_run.cpp", "if (record.work != result.work || ", "if (@ || record.work != result.work || ",
     "killed in place after renaming, then resumed"),
    ("pipeline/execute/host_check.cpp", "if (a == b) continue;", "if (@ || a == b) continue;", "wrong result"),
]
SWITCH = '(::getenv("GPUFILTER_MUTATION") != nullptr && ::atoi(::getenv("GPUFILTER_MUTATION")) == {})'


def mutate(text, source, number):
    _, piece, replacement, _ = MUTATIONS[number]
    if piece not in text:
        sys.exit(f"{number + 1}: {source} has no '{piece}'")
    return text.replace(piece, replacement.replace("@", SWITCH.format(number + 1)), 1)


def build():
    before = {}
    try:
        for number, (source, *_) in enumerate(MUTATIONS):
            path = pathlib.Path("src", source)
            before.setdefault(path, path.read_text())
            path.write_text(mutate(path.read_text(), source, number))
        for path in before:
            path.write_text("#include <stdlib.h>\n" + path.read_text())
        subprocess.run(["cmake", "--build", "build/release", "--target", "gpufilter"], check=True, stdout=sys.stderr)
    finally:
        for path, text in before.items():
            path.write_text(text)


def end_programs(number):
    """Ends programs that wait for what a mutation has removed."""
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if b"GPUFILTER_MUTATION=%d\0" % number in (process / "environ").read_bytes():
                if (process / "comm").read_text() == "gpufilter\n":
                    os.kill(int(process.name), signal.SIGKILL)
        except OSError:
            pass


def passes(row, number):
    limit = threading.Timer(60, end_programs, [number])
    limit.start()
    test = subprocess.run(
        ["build/release/tests/test_faults"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False,
        env={**os.environ, "GPUFILTER_FAULT": row, "GPUFILTER_MUTATION": str(number)})
    limit.cancel()
    return test.returncode == 0


build()
missed = 0
for number, (source, _, _, row) in enumerate(MUTATIONS, 1):
    as_it_should = passes(row, 0) and not passes(row, number)
    missed += not as_it_should
    print(f"{number}. {source} [{row}] {'fails' if as_it_should else 'DOES NOT FAIL'}", flush=True)
sys.exit(1 if missed else 0)
PYTHON
