#!/usr/bin/env bash
# Builds the commit that is checked out for other processors, with a cross compiler in a chroot made by debootstrap, and
# runs it under QEMU. Run it as root:
#
#     scripts/try-architectures.sh [--keep] [--ccache FOLDER] [ARCHITECTURE...]
#
#     ARCHITECTURE     Debian's name: arm64, riscv64, i386, armhf, s390x; default: arm64 and riscv64
#     --keep           keep the chroots
#     --ccache FOLDER  compile with ccache, whose results are kept in FOLDER for the next time
#
# For each model of a processor it runs "gpufilter verify --quick --device cpu" and scripts/compare-programs.py, by
# which every file has to have the bytes that this machine's program, build/release/bin/gpufilter, writes: for 1,000
# random chains, or as many as the variable CHAINS says. CMake has to refuse the processors that gpufilter does not
# support. The output of all commands is in build/architectures; scripts/chroots.sh says which mirrors are used.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
# shellcheck source-path=SCRIPTDIR source=chroots.sh
source "$(dirname "${BASH_SOURCE[0]}")/chroots.sh"

release=   # of Debian, which has the architecture
triplet=   # its compiler's name for the architecture
emulator=  # QEMU's program
models=()  # its processors to try; none: gpufilter does not support the architecture

describe() {
  release=bookworm
  models=()
  case "$1" in
    arm64) triplet=aarch64-linux-gnu emulator=qemu-aarch64 models=(cortex-a72 max) ;;
    riscv64) triplet=riscv64-linux-gnu emulator=qemu-riscv64 models=(rv64) release=trixie ;;
    i386) triplet=i686-linux-gnu ;;
    armhf) triplet=arm-linux-gnueabihf ;;
    s390x) triplet=s390x-linux-gnu ;;
    *) fail "$1: choose arm64, riscv64, i386, armhf or s390x" ;;
  esac
}

# Compiler and tools of this machine, and the libraries of the other.
packages() {
  local package
  printf '%s\n' cmake ninja-build "g++-${triplet}" ${ccache:+ccache}
  ((${#models[@]} > 0)) || return 0
  for package in "${build_packages[@]}"; do
    case "${package}" in
      cmake | ninja-build | g++ | pocl-opencl-icd) ;;
      opencl-*-headers | libcli11-dev | nlohmann-json3-dev | libprotozero-dev) echo "${package}" ;;
      *) echo "${package}:${system}" ;;
    esac
  done
}

# run_here WHAT COMMAND...: as step(), outside the chroot.
run_here() {
  local what="$1" begin="${SECONDS}"
  shift
  printf '\n==== %s: %s\n' "${what}" "$*" >>"${log}"
  "$@" >>"${log}" 2>&1 || fail "${system}: ${what}: failed; see the end of ${log}"
  say "${system}: ${what}: ok, $((SECONDS - begin)) s"
}

try_architecture() {
  local model program
  describe "${system}"
  log="${logs}/${system}.log"
  new_root "${system}"
  say "${system}: making a chroot"
  bootstrap "${release}" "${root}" >"${log}" 2>&1 || fail "${system}: no chroot; see the end of ${log}"
  cp -L /etc/resolv.conf "${root}/etc/resolv.conf"
  mount_system
  mount_ccache
  mkdir "${root}/source"
  git -C "${project_root}" archive HEAD | tar -C "${root}/source" -x
  step 'installing compiler and libraries' sh -c "dpkg --add-architecture ${system} && apt-get update -q &&
    apt-get install -q -y --no-install-recommends $(packages | tr '\n' ' ')"
  printf 'set(CMAKE_SYSTEM_NAME Linux)\nset(CMAKE_SYSTEM_PROCESSOR %s)\nset(CMAKE_CXX_COMPILER %s-g++)\n' \
    "${triplet%%-*}" "${triplet}" >"${root}/toolchain.cmake"
  local configure=(cmake -G Ninja -S /source -B /build -DCMAKE_TOOLCHAIN_FILE=/toolchain.cmake
    -DGPUFILTER_BUILD_TESTS=OFF -DGPUFILTER_BUILD_SAMPLES=OFF)
  if ((${#models[@]} == 0)); then
    ! inside "${configure[@]}" >>"${log}" 2>&1 || fail "${system}: CMake does not refuse it"
    grep -q 'needs a 64-bit little-endian processor' "${log}" || fail "${system}: CMake fails for another reason; see the end of ${log}"
    say "${system}: refused by CMake"
  else
    step 'configuring' "${configure[@]}"
    step 'building' cmake --build /build --target gpufilter
    for model in "${models[@]}"; do
      program="${emulator} -L ${root} -cpu ${model} ${root}/build/bin/gpufilter"
      # shellcheck disable=SC2086  # words of a command
      run_here "verify, ${model}" ${program} verify --quick --device cpu
      run_here "chains, ${model}" "${project_root}/scripts/compare-programs.py" --chains "${CHAINS:-1000}" \
        "${build_folder}/bin/gpufilter" "${program}"
      say "${system}: $(tail -n 1 "${log}")"
    done
  fi
  clean_up
}

parse_arguments "$@"
((${#systems[@]} > 0)) || systems=(arm64 riscv64)
require_chroots
command -v qemu-aarch64 >/dev/null || fail "QEMU is missing; install it with: apt-get install qemu-user"
[[ -x "${build_folder}/bin/gpufilter" ]] || fail "${build_folder}/bin/gpufilter is missing; build it with scripts/run.sh"
logs="${project_root}/build/architectures"
mkdir -p "${logs}"
clean_up_at_the_end

for system in "${systems[@]}"; do
  try_architecture
done
