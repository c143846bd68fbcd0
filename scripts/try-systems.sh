#!/usr/bin/env bash
# Tries the scripts of README.md on bare systems, each in a chroot made by debootstrap. Run it as root:
#
#     scripts/try-systems.sh [OPTION...] [SYSTEM...] [-- ARGUMENT...]
#
#     SYSTEM            a release of Debian or Ubuntu; default: bookworm, trixie and noble
#     --compiler NAME   g++-13, clang, clang-18, ... instead of the system's g++
#     --no-tests        do not run scripts/test.sh
#     --keep            keep the chroots
#     ARGUMENT...       for scripts/test.sh: "-N" only builds the tests
#
# Each system gets the commit that is checked out, and a copy of ../shared if that exists. It runs
# scripts/run.sh without /proc and /sys, again with them, scripts/install.sh and the program that it
# installed, then scripts/test.sh. The chroots are in ${TMPDIR:-/tmp}, the output of all commands in
# build/try-systems; scripts/chroots.sh says which mirrors are used.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
# shellcheck source-path=SCRIPTDIR source=chroots.sh
source "$(dirname "${BASH_SOURCE[0]}")/chroots.sh"

compiler=
tests=yes
test_arguments=()

log=         # what the chroot's commands print
results=()   # a line of the table each

parse_arguments() {
  while (($# > 0)); do
    case "$1" in
      --compiler)
        (($# > 1)) || fail "--compiler needs a name"
        compiler="$2"
        shift
        ;;
      --no-tests) tests= ;;
      --keep) keep=yes ;;
      --help | -h)
        usage
        exit
        ;;
      --)
        shift
        test_arguments=("$@")
        break
        ;;
      -*) fail "$1: unknown option; see scripts/try-systems.sh --help" ;;
      *) systems+=("$1") ;;
    esac
    shift
  done
  ((${#systems[@]} > 0)) || systems=(bookworm trixie noble)
}

# timed COMMAND...: runs it inside and sets `outcome` to "ok" or "failed" with the seconds that it took.
timed() {
  local begin="${SECONDS}" word=ok
  printf '\n==== %s\n' "$*" >>"${log}"
  inside ${compiler_variable:+"${compiler_variable}"} "$@" >>"${log}" 2>&1 || word=failed
  outcome="${word} $((SECONDS - begin)) s"
}

# The counts of the last test run: "1030 passed, 0 failed, 4 skipped".
count_tests() {
  local total failed skipped
  total="$(sed -n 's/.* tests\{0,1\} failed out of \([0-9]*\)$/\1/p' "${log}" | tail -n 1)"
  failed="$(sed -n 's/.* \([0-9]*\) tests\{0,1\} failed out of .*/\1/p' "${log}" | tail -n 1)"
  skipped="$(grep -c '\*\*\*Skipped' "${log}" || true)"
  if [[ -n "${total}" ]]; then
    echo "$((total - failed - skipped)) passed, ${failed} failed, ${skipped} skipped"
  else
    echo "none run"
  fi
}

version_of_compiler() {
  local command
  command="$(sed -n 's/^CMAKE_CXX_COMPILER:[A-Z]*=//p' \
    "${root}/try/gpufilter/build/release/CMakeCache.txt" 2>/dev/null)" || true
  [[ -z "${command}" ]] || inside "${command}" --version 2>/dev/null | head -n 1
}

version_of_pocl() {
  # shellcheck disable=SC2016  # dpkg-query's own variable
  inside dpkg-query -W -f '${Version}' pocl-opencl-icd 2>/dev/null || true
}

result() {
  results+=("$(printf '%-10s %-44s %-14s %-13s %-13s %-13s %s' "$@")")
}

try_system() {
  local system="$1" compiler_variable='' outcome bare mounted installed suite='not tried'
  log="${logs}/${system}${compiler:+-${compiler}}.log"
  new_root "${system}"
  say "${system}: making a chroot"
  if ! bootstrap "${system}" "${root}" >"${log}" 2>&1; then
    say "${system}: no chroot: $(tail -n 1 "${log}")"
    result "${system}" '-' '-' 'no chroot' '-' '-' '-'
    clean_up
    return
  fi
  cp -L /etc/resolv.conf "${root}/etc/resolv.conf"
  mkdir "${root}/try"
  git clone --quiet --no-hardlinks "${project_root}" "${root}/try/gpufilter"
  [[ ! -d "${project_root}/../shared" ]] ||
    cp -a "${project_root}/../shared" "${root}/try/shared"
  if [[ -n "${compiler}" ]]; then
    compiler_variable="CXX=${compiler/#clang/clang++}"
    inside sh -c "apt-get update && apt-get install -y --no-install-recommends ${compiler}" \
      >>"${log}" 2>&1 || say "${system}: ${compiler} could not be installed; see ${log}"
  fi
  say "${system}: scripts/run.sh without /proc and /sys"
  timed /try/gpufilter/scripts/run.sh
  bare="${outcome}"
  mount_system
  say "${system}: scripts/run.sh"
  timed /try/gpufilter/scripts/run.sh
  mounted="${outcome}"
  say "${system}: scripts/install.sh"
  # shellcheck disable=SC2016  # HOME is that of the chroot
  timed sh -c '/try/gpufilter/scripts/install.sh && cd / && "${HOME}/.local/bin/gpufilter" --version'
  installed="${outcome}"
  if [[ -n "${tests}" ]]; then
    say "${system}: scripts/test.sh"
    timed /try/gpufilter/scripts/test.sh "${test_arguments[@]}"
    suite="${outcome}, $(count_tests)"
  fi
  result "${system}" "$(version_of_compiler)" "$(version_of_pocl)" "${bare}" "${mounted}" "${installed}" "${suite}"
  clean_up
}

parse_arguments "$@"
require_chroots
logs="${project_root}/build/try-systems"
mkdir -p "${logs}"
clean_up_at_the_end

for system in "${systems[@]}"; do
  try_system "${system}"
done
printf '%-10s %-44s %-14s %-13s %-13s %-13s %s\n' system compiler PoCL 'run.sh bare' run.sh install.sh test.sh
printf '%s\n' "${results[@]}"
say "what the commands printed is in ${logs}"
case "${results[*]}" in *failed\ [0-9]* | *'no chroot'*) exit 1 ;; esac
