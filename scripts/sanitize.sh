#!/usr/bin/env bash
# Builds with a sanitizer and runs tests: sanitize.sh asan|tsan [CTEST ARGUMENTS]. asan is AddressSanitizer and
# UndefinedBehaviorSanitizer on the whole suite, tsan ThreadSanitizer on the part with threads, unless arguments choose.
# Prints failed tests and the sanitizers' reports, which are kept in build/PRESET/reports. OPTIONS may have some of CMake's.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

declare -A presets=([asan]=asan-ubsan [tsan]=tsan)
preset="${presets[${1:-}]:-}"
[[ -n "${preset}" ]] || { echo "usage: sanitize.sh asan|tsan [CTEST ARGUMENTS]" >&2; exit 2; }
arguments=("${@:2}")
targets=(all)
# Sanitizers need more memory and threads than tests of limits allow, read files of their own, and see signals first.
(($# > 1)) || arguments=(-E 'ProcessLimits|ThreadRoom\.HalfOf|BatchMemory|ReadsEachInputOnce|Probe\.SaysWhenAndHow|WhateverEndsTheProcess')
if [[ "$1" == tsan && $# == 1 ]]; then
  arguments+=(-L '^(base|host|codec|pipeline|batch|api)$')
  targets=(gpufilter test_{base,host,codec,pipeline,batch,api,consumer})
fi

build="build/${preset}"
reports="${PWD}/${build}/reports"
read -ra options <<<"${OPTIONS:-}"
cmake --preset "${preset}" -DGPUFILTER_UNITY=ON "${options[@]}" >/dev/null
cmake --build "${build}" --target "${targets[@]}"
rm -rf "${reports}"
mkdir "${reports}"

# LLVM in PoCL installs its own signal stacks for threads; tests preload a library of theirs.
export ASAN_OPTIONS="log_path=${reports}/asan:use_sigaltstack=0:verify_asan_link_order=0"
export UBSAN_OPTIONS="log_path=${reports}/ubsan:print_stacktrace=1"
export LSAN_OPTIONS="suppressions=${PWD}/cmake/leaks.supp:print_suppressions=0"
export TSAN_OPTIONS="log_path=${reports}/tsan:suppressions=${PWD}/cmake/races.supp:print_suppressions=0:die_after_fork=0"

# Addresses as the sanitizers expect them, whatever the kernel randomises.
status=0
setarch --addr-no-randomize ctest --test-dir "${build}" --parallel "$(nproc)" --output-on-failure \
  --no-tests=error "${arguments[@]}" || status=$?
found=0
for report in "${reports}"/*; do
  [[ -s "${report}" ]] || continue
  found=$((found + 1))
  grep -m 1 -E 'ERROR: |WARNING: |runtime error: ' "${report}" || true
  grep -m 1 -E 'SUMMARY: ' "${report}" || true
done
echo "${found} reports of the sanitizers in ${reports}"
((found == 0 && status == 0))
