#!/usr/bin/env bash
# Runs kernels on Oclgrind (Debian: oclgrind), which simulates a device, and fails if a kernel reads or writes
# outside its memory, or if work-items race. Takes some minutes.
#   scripts/check-kernels.sh [BUILD_FOLDER]   a folder with gpufilter and its tests; build/release by default
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build="${1:-build/release}"
library=/usr/lib/oclgrind/liboclgrind-rt.so
[[ -e "${library}" ]] || {
  echo "check-kernels: ${library} is missing; install it with: apt-get install oclgrind" >&2
  exit 1
}
work="$(mktemp -d)"
trap 'rm -rf "${work}"' EXIT
mkdir "${work}/no-vendors"

# Oclgrind's library is loaded first: loaded as one of several vendors, it would call the loader's functions, which
# call it again. Its interpreter does not support the results of optimizers and of `restrict`. It crashes if several
# threads launch kernels at the same time, so gpufilter gets one processor.
processor="$(taskset --cpu-list --pid $$ | sed 's/.*: //; s/[-,].*//')"
simulated=(taskset --cpu-list "${processor}" env "LD_PRELOAD=${library}" "OCL_ICD_FILENAMES=${library}"
  "OPENCL_VENDOR_PATH=${work}/no-vendors"
  "XDG_CACHE_HOME=${work}" "OCLGRIND_BUILD_OPTIONS=-cl-opt-disable -Drestrict=" OCLGRIND_LOCAL_MEM_SIZE=65536
  OCLGRIND_MAX_ERRORS=10)

# check NAME TEXT COMMAND...: fails if the command does not print TEXT or Oclgrind reports anything. The exit code
# is not reliable: Oclgrind may end a process that has done its work.
check() {
  local name="$1" text="$2"
  shift 2
  "${simulated[@]}" "$@" >"${work}/log" 2>&1 || true
  if ! grep -F -q "${text}" "${work}/log" || grep -F -q '[  FAILED  ]' "${work}/log"; then
    tail -n 40 "${work}/log" >&2
    echo "check-kernels: ${name}: failed" >&2
    return 1
  fi
  if grep -E -q '^Invalid |data race at |OCLGRIND FATAL|^Uninitialized ' "${work}/log"; then
    grep -E -A 12 '^Invalid |data race at |OCLGRIND FATAL|^Uninitialized ' "${work}/log" | head -n 60 >&2
    echo "check-kernels: ${name}: Oclgrind found errors" >&2
    return 1
  fi
  echo "check-kernels: ${name}: clean"
}

races=(env OCLGRIND_DATA_RACES=1)
check "stages" "all equal" "${races[@]}" "${build}/bin/gpufilter" verify --quick --device gpu
check "fused stages and statistics" "[  PASSED  ]" "${races[@]}" "${build}/tests/test_pipeline" \
  --gtest_filter='FusedStatistics.Lead*:FusedStatistics.Ride*:Fusion.StagesOver*'
check "random chains of fused stages" "[  PASSED  ]" "${races[@]}" "${build}/tests/test_pipeline" \
  --gtest_filter='Fusion.RandomChains*'
check "reductions" "[  PASSED  ]" "${races[@]}" "${build}/tests/test_compute" \
  --gtest_filter='Histograms/OnDevice.Goes*:Totals/OnDevice.Goes*'
check "reductions of arrays" "[  PASSED  ]" "${races[@]}" "${build}/tests/test_lab" \
  --gtest_filter='IntegerReduction.*:FloatReduction.*'
check "matrix products, and the builds that count their reads" "[  PASSED  ]" "${races[@]}" \
  "${build}/tests/test_compute" --gtest_filter='Small/MatrixReads.*:MatrixBlocksOnSmallDevices.AreSmall*'
check "JPEG decoding" "[  PASSED  ]" "${races[@]}" "${build}/tests/test_compute" \
  --gtest_filter='JpegDecoder.Leaves*:JpegDecoder.DecodesSmall*'
check "JPEG files, whole and damaged" " 0 findings" "${races[@]}" "${build}/tests/fuzz_jpeg_device" \
  --rounds 40 --keep "${work}"
