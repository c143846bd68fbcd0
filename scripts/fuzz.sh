#!/usr/bin/env bash
# Runs every fuzzer under AddressSanitizer and UndefinedBehaviorSanitizer: fuzz.sh [SECONDS] [SEED]. SECONDS of processor
# time for each target, 10 unless given; a new SEED makes other files. Findings are kept in build/asan-ubsan/findings.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
seconds="${1:-10}"
seed="${2:-$(date +%j)}"
build=build/asan-ubsan
programs=(fuzz_png fuzz_jpeg fuzz_formats fuzz_onnx fuzz_parsers)

cmake --preset asan-ubsan
cmake --build --preset asan-ubsan --target "${programs[@]}"
mkdir -p "${build}/findings"
export ASAN_OPTIONS=use_sigaltstack=0:detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
failed=0
for program in "${programs[@]}"; do
  "${build}/tests/${program}" --replay tests/fuzz/corpus || failed=1
  "${build}/tests/${program}" --seed "${seed}" --cpu-seconds "${seconds}" --keep "${build}/findings" || failed=1
done
exit "${failed}"
