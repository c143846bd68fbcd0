#!/usr/bin/env bash
# Builds the commit that is checked out for other processors, with a cross compiler in a chroot made by debootstrap, and
# runs it under QEMU. Run it as root:
#
#     scripts/try-architectures.sh [--keep] [--ccache FOLDER] [ARCHITECTURE...]
#     scripts/try-architectures.sh --here [ARCHITECTURE...]
#
#     ARCHITECTURE     Debian's name: arm64, riscv64, i386, armhf, s390x; default: arm64 and riscv64, here arm64
#     --keep           keep the chroots
#     --ccache FOLDER  compile with ccache, whose results are kept in FOLDER for the next time
#     --here           no chroot, and nobody has to be root: build the files as they are, in build/architectures, with
#                      the cross compiler and the libraries that are installed, and compare the chains; if one is not
#                      installed, say so and go on
#
# For each model of a processor it runs "gpufilter verify --quick --device cpu" and scripts/compare-programs.py, by
# which every file has to have the bytes that this machine's program, build/release/bin/gpufilter, writes: for 1,000
# random chains, or as many as the variable CHAINS says. Where the architecture has PoCL, the kernels are verified on
# it too. CMake has to refuse the processors that gpufilter does not support. The output of all commands is in
# build/architectures; scripts/chroots.sh says which mirrors are used.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
# shellcheck source-path=SCRIPTDIR source=chroots.sh
source "$(dirname "${BASH_SOURCE[0]}")/chroots.sh"

release=   # the Debian release that has the architecture
triplet=   # its compiler's name for the architecture
emulator=  # QEMU's program
models=()  # its processors to try; none: gpufilter does not support the architecture
pocl=      # not empty: PoCL runs on it under QEMU
here=      # not empty: without a chroot

describe() {
  release=bookworm
  models=()
  pocl=
  case "$1" in
    arm64) triplet=aarch64-linux-gnu emulator=qemu-aarch64 models=(cortex-a72 max) pocl=yes ;;
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
  [[ -z "${here}" ]] || echo qemu-user
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

# run_models PREFIX PROGRAM: QEMU runs the program that was built, with its libraries below PREFIX.
run_models() {
  local model program
  for model in "${models[@]}"; do
    program="${emulator} -L $1 -cpu ${model} $2"
    # shellcheck disable=SC2086  # words of a command
    [[ -n "${here}" ]] || run_here "verify, ${model}" ${program} verify --quick --device cpu
    run_here "chains, ${model}" "${project_root}/scripts/compare-programs.py" --chains "${CHAINS:-1000}" \
      "${build_folder}/bin/gpufilter" "${program}"
    say "${system}: $(tail -n 1 "${log}")"
  done
}

# Verifies kernels on PoCL. The program starts itself again to probe PoCL, so the kernel has to run
# programs of the other processor with QEMU: in a namespace of its own, so that nobody else is
# affected. Compiling takes PoCL long there. Its packages replace the cross compiler.
verify_kernels() {
  local own=(unshare --user --map-root-user --mount)
  # Bytes of an ELF file's head and which bits of them count; F: QEMU is opened outside the chroot.
  local elf='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
  local bits='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
  local folder=/proc/sys/fs/binfmt_misc
  if ! "${own[@]}" mount -t binfmt_misc none "${folder}" 2>/dev/null; then
    say "${system}: verify, PoCL: not tried, because it takes Linux 6.7"
    return
  fi
  step 'installing PoCL' apt-get install -q -y --no-install-recommends "pocl-opencl-icd:${system}"
  # shellcheck disable=SC2016  # expanded by the other shell
  run_here 'verify, PoCL' "${own[@]}" bash -euc 'mount -t binfmt_misc none "$1"
    printf "%s" ":emulated:M::$2:$3:$4:F" >"$1/register"
    shift 4
    "$@"' bash "${folder}" "${elf}" "${bits}" "$(command -v "${emulator}")" chroot "${root}" env -i \
    PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 GPUFILTER_PROBE_SECONDS=600 \
    /build/bin/gpufilter verify blur --quick --device opencl
}

# write_toolchain FILE
write_toolchain() {
  printf 'set(CMAKE_SYSTEM_NAME Linux)\nset(CMAKE_SYSTEM_PROCESSOR %s)\nset(CMAKE_CXX_COMPILER %s-g++)\n' \
    "${triplet%%-*}" "${triplet}" >"$1"
}
# Compiles in groups, as scripts/test.sh does, which halves the time.
program_only=(-DGPUFILTER_UNITY=ON -DGPUFILTER_BUILD_TESTS=OFF -DGPUFILTER_BUILD_SAMPLES=OFF)

try_in_chroot() {
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
  write_toolchain "${root}/toolchain.cmake"
  local configure=(cmake -G Ninja -S /source -B /build -DCMAKE_TOOLCHAIN_FILE=/toolchain.cmake "${program_only[@]}")
  if ((${#models[@]} == 0)); then
    ! inside "${configure[@]}" >>"${log}" 2>&1 || fail "${system}: CMake does not refuse it"
    grep -q 'needs a 64-bit little-endian processor' "${log}" || fail "${system}: CMake fails for another reason; see the end of ${log}"
    say "${system}: refused by CMake"
  else
    step 'configuring' "${configure[@]}"
    step 'building' cmake --build /build --target gpufilter
    run_models "${root}" "${root}/build/bin/gpufilter"
    [[ -z "${pocl}" ]] || verify_kernels
  fi
  clean_up
}

try_here() {
  local package lacking='' folder="${logs}/${system}"
  for package in $(packages); do
    [[ "$(dpkg-query -W -f '${db:Status-Status}' "${package}" 2>/dev/null)" == installed ]] || lacking+=" ${package}"
  done
  if [[ -n "${lacking}" ]]; then
    say "${system}: not tried, because these packages are not installed:${lacking}"
    return
  fi
  mkdir -p "${folder}"
  write_toolchain "${folder}/toolchain.cmake"
  run_here 'configuring' cmake -G Ninja -S "${project_root}" -B "${folder}" \
    -DCMAKE_TOOLCHAIN_FILE="${folder}/toolchain.cmake" "${program_only[@]}"
  run_here 'building' cmake --build "${folder}" --target gpufilter
  run_models / "${folder}/bin/gpufilter"
}

for argument; do
  shift
  if [[ "${argument}" == --here ]]; then here=yes; else set -- "$@" "${argument}"; fi
done
parse_arguments "$@"
if [[ -n "${here}" ]]; then
  ((${#systems[@]} > 0)) || systems=(arm64)
else
  ((${#systems[@]} > 0)) || systems=(arm64 riscv64)
  require_chroots
  command -v qemu-aarch64 >/dev/null || fail "QEMU is missing; install it with: apt-get install qemu-user"
fi
[[ -x "${build_folder}/bin/gpufilter" ]] || fail "${build_folder}/bin/gpufilter is missing; build it with scripts/run.sh"
logs="${project_root}/build/architectures"
mkdir -p "${logs}"
clean_up_at_the_end

for system in "${systems[@]}"; do
  describe "${system}"
  log="${logs}/${system}.log"
  : >"${log}"
  if [[ -n "${here}" ]]; then try_here; else try_in_chroot; fi
done
