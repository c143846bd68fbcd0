#!/usr/bin/env bash
# Shows that rows of tests/faults/faults.txt fail if the handling of their fault is removed: mutate.sh [--together]
# [NUMBER...]. Each
# mutation replaces a piece of one source, builds the program in build/release and expects its row to fail; the source is
# restored afterwards. Without numbers, all mutations are made, one after the other or, with --together, in one build.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

python3 - "$@" <<'PYTHON'
import os
import pathlib
import subprocess
import sys

# The source, a piece of it, what replaces it, and the row that has to fail.
MUTATIONS = [
    ("src/base/atomic_file.cpp", "if (error == ENOENT && is_open_file(", "if (false && is_open_file(",
     "renaming done, the server's answer lost"),
    ("src/base/atomic_file.cpp", "  sync(file_.get());\n", "", "disk fails when synced"),
    ("src/base/atomic_file.cpp", "  file_.close();\n", "  file_.reset();\n", "server reports a failure on closing"),
    ("src/base/atomic_file.cpp", "return errno != EWOULDBLOCK;", "return false;", "file system without locks"),
    ("src/base/files.cpp", "} else if (errno != EINTR) {", "} else {", "input with interrupted reads"),
    ("src/pipeline/run/picture_input.cpp", "if (is_newer || ", "if ((is_newer && false) || ", "input replaced between two walks"),
    ("src/pipeline/run/chain_part.cpp", "if (!continue_on_processor(error)) throw;", "throw;",
     "device lost while a pipe is filtered"),
    ("src/pipeline/run/chain_part.cpp", "if (again && &executor == current_ && !continue_on_processor(error)) throw;",
     "throw;", "device out of memory for one transfer"),
    ("src/pipeline/run/run.cpp", "if (!failed || !assignment_.engine->leave(*failed, error.what())) throw;", "throw;",
     "device lost while it counts in a pipe"),
    ("src/pipeline/choose/engine.cpp", "if (!retry(&Engine::lower_bands, error)) throw;",
     "if (!retry(&Engine::leave_current, error)) throw;", "device with memory for lower bands only"),
    ("src/pipeline/choose/engine.cpp", "if (!options_.processor_helps) return false;", "",
     "device lost while it works, device required"),
    ("src/pipeline/execute/device_executor.cpp", "      if (idle_.empty()) throw;\n      return last();", "      throw;",
     "device with memory for one band"),
    ("src/pipeline/execute/device_executor.cpp", "return allocate_image_memory(bytes);", "throw;",
     "device without pinned memory"),
    ("src/device/session.cpp", "if (limit == no_timeout) return clFinish(queue);", "return clFinish(queue);",
     "kernel that hangs"),
    ("src/device/vendor_probes.cpp", "if (const auto limit = device_timeout()) return *limit;", "",
     "vendor that never answers"),
    ("src/codec/heif/reader.cpp", "if (needs_isolation(known_to_crash))", "if (needs_isolation(known_to_crash) && name_.empty())", "decoder that crashes"),
    ("src/codec/isolated_decoding.cpp", 'if (WTERMSIG(status) == SIGXCPU) return "its decoder took too long";', "",
     "decoder that takes too long"),
    ("src/codec/isolated_decoding.cpp", "parse_whole(argv[10], limits.max_pixels)", "(limits.max_pixels = UINT64_MAX) > 0",
     "decoder that is not isolated"),
    ("src/batch/journal.cpp", "if (!unsealed(line)) ++found.damaged;", "", "journal damaged"),
    ("src/pipeline/execute/host_check.cpp", "      if (a == b) continue;", "      continue;", "wrong result"),
]

together = "--together" in sys.argv
wanted = [int(word) for word in sys.argv[1:] if word != "--together"] or list(range(1, len(MUTATIONS) + 1))


def fails(row):
    test = subprocess.run(["build/release/tests/test_faults"], env={**os.environ, "GPUFILTER_FAULT": row},
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return test.returncode != 0


missed = 0
for group in [wanted] if together else [[number] for number in wanted]:
    before = {}
    try:
        for number in group:
            source, piece, replacement, _ = MUTATIONS[number - 1]
            path = pathlib.Path(source)
            text = path.read_text()
            if text.count(piece) == 0:
                sys.exit(f"{number}: {source} has no '{piece}'")
            before.setdefault(path, text)
            path.write_text(text.replace(piece, replacement, 1))
        subprocess.run(["ninja", "-C", "build/release", "gpufilter"], check=True, stdout=sys.stderr)
    finally:
        for path, text in before.items():
            path.write_text(text)
    for number in group:
        row = MUTATIONS[number - 1][3]
        found = fails(row)
        missed += not found
        print(f"{number}: [{row}] {'fails, as it should' if found else 'DOES NOT FAIL'}", flush=True)
sys.exit(1 if missed else 0)
PYTHON
