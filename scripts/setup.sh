# Sourced by run.sh, install.sh and test.sh: installs missing packages, configures and builds build/release.
# All output goes to standard error, and nothing reads standard input: the other streams are for the
# program that is run afterwards.
# shellcheck shell=bash

project_root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)"
build_folder="${project_root}/build/release"

build_packages=(cmake ninja-build g++ opencl-clhpp-headers opencl-c-headers
  pocl-opencl-icd libpng-dev libjpeg-dev zlib1g-dev libspdlog-dev libcli11-dev nlohmann-json3-dev
  libtbb-dev libisal-dev libdeflate-dev libxxhash-dev libprotozero-dev libtiff-dev libwebp-dev
  libjxl-dev libheif-dev liblcms2-dev)
python_packages=(python3-dev pybind11-dev)  # for the Python module
test_packages=(libgtest-dev ocl-icd-opencl-dev)  # which the lessons of samples/course link
# For a few tests that compare with OpenCV, ExifTool, Netpbm, Pillow, the tools of libtiff, libwebp, libjxl and libheif,
# those of Little CMS (with a profile for CMYK of Ghostscript's), or ONNX's test data, check a JSON schema, a manual page
# or the completions of a shell, or run samples/clusters; without these packages they are skipped.
comparison_packages=(libopencv-core-dev libopencv-imgproc-dev python3-jsonschema python3-yaml
  parallel libimage-exiftool-perl netpbm libtiff-tools webp libjxl-tools libheif-examples libavif-bin
  liblcms2-utils libgs-common libjpeg-turbo-progs python3-pil python3-pytest python3-numpy
  python3-opencv groff-base zsh fish libonnx-testdata)

verbose=      # not empty: show the output of all steps, not only of failed ones
lists_fresh=  # not empty: apt's package lists have just been updated

say() { printf 'gpufilter: %s\n' "$*" >&2; }

fail() {
  say "$@"
  exit 1
}

# Prints the packages that are not installed according to dpkg, one per line.
missing_packages() {
  local installed package
  installed=" $(dpkg-query -W -f '${Package}:${db:Status-Status} ' "$@" 2>/dev/null || true)"
  for package in "$@"; do
    [[ "${installed}" == *" ${package}:installed "* ]] || echo "${package}"
  done
}

# Installs the packages; false if apt, or the permission to use it, is missing, or if it fails.
apt_install() {
  local apt=(env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=120)
  local install=(install -y --no-install-recommends "$@")
  # Systems discarded after the tests need not survive a power failure.
  [[ -z "${CI:-}" ]] || apt+=(-o DPkg::Options::=--force-unsafe-io)
  if ((EUID != 0)); then
    if ! command -v sudo >/dev/null; then
      say "these packages are missing, and installing them takes root or sudo; as root, run:"
      say "  apt-get update && apt-get ${install[*]}"
      return 1
    fi
    apt=(sudo "${apt[@]}")
  fi
  say "installing $*"
  if [[ -z "${lists_fresh}" ]]; then
    # If the update fails for one source, others may still work: the installation decides.
    "${apt[@]}" update </dev/null >&2 || say "trying with apt's package lists as they are"
    lists_fresh=yes
  fi
  "${apt[@]}" "${install[@]}" </dev/null >&2 && return
  say "apt could not install the packages (its reasons are above); once that is solved, run:"
  say "  ${apt[*]} ${install[*]}"
  return 1
}

# Installs the packages that are missing; does not call apt if there are none. False if that fails.
require_packages() {
  local missing
  if ! command -v dpkg-query >/dev/null; then
    say "no Debian packages here; expecting the libraries named in CONTRIBUTING.md to be installed"
    return
  fi
  # A here-string, because "< <(...)" needs /proc.
  missing="$(missing_packages "$@")"
  [[ -n "${missing}" ]] || return 0
  mapfile -t missing <<<"${missing}"
  apt_install "${missing[@]}"
}

require_build_packages() { require_packages "${build_packages[@]}" || exit 1; }

# The optional packages are installed only before the tests are first configured.
require_test_packages() {
  require_packages "${build_packages[@]}" "${python_packages[@]}" "${test_packages[@]}" || exit 1
  if ! option_is GPUFILTER_BUILD_TESTS=ON; then
    require_packages "${comparison_packages[@]}" ||
      say "continuing without them; the tests that need them will be skipped"
  fi
}

# run_step WHAT COMMAND...: prints WHAT; the command's output is shown only if it fails.
run_step() {
  local what="$1" output
  shift
  say "${what}"
  if [[ -n "${verbose}" ]]; then
    "$@" </dev/null >&2 || fail "${what}: failed, see above"
  elif ! output="$("$@" </dev/null 2>&1)"; then
    printf '%s\n' "${output}" >&2
    fail "${what}: failed, see above"
  fi
}

# Whether the build folder is configured with OPTION=VALUE.
option_is() { grep -qsx "${1%%=*}:[A-Z]*=${1#*=}" "${build_folder}/CMakeCache.txt"; }

# configure PRESET OPTION=VALUE...: runs CMake if the build folder is new, belongs to another source folder
# (the project was moved), or differs in one of the options. The build itself notices changes of CMake
# files.
configure() {
  local preset="$1" cache="${build_folder}/CMakeCache.txt" option current=yes
  shift
  if [[ -e "${cache}" ]] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=${project_root}" "${cache}"; then
    rm -rf "${build_folder}"
  fi
  [[ -e "${cache}" && -e "${build_folder}/build.ninja" ]] || current=
  for option in "$@"; do
    option_is "${option}" || current=
  done
  if [[ -z "${current}" ]]; then
    # Shows what CMake finds.
    verbose=yes run_step "configuring ${build_folder}" cmake -S "${project_root}" --preset "${preset}" "${@/#/-D}"
  fi
}

# "4 min", "50 s": a number of seconds for people who wait.
rounded_time() {
  if (($1 >= 90)); then echo "$((($1 + 30) / 60)) min"; else echo "$1 s"; fi
}

# Reads Ninja's output with its status as build() sets it, and "exit STATUS" as the last line. Shows how
# much is built and an estimate of the time left: on a terminal in one line that is rewritten, otherwise
# in a line every 15 seconds. All other output is shown only if the build failed. Returns STATUS.
show_progress() {
  local line text built total elapsed next=15 messages='' status=1
  while IFS= read -r line; do
    if [[ "${line}" =~ ^@([0-9]+)/([0-9]+)\ ([0-9]+)\. ]]; then
      built="${BASH_REMATCH[1]}" total="${BASH_REMATCH[2]}" elapsed="${BASH_REMATCH[3]}"
      text="built ${built} of ${total}"
      ((built < 8)) || text+=", about $(rounded_time $((elapsed * (total - built) / built))) left"
      if [[ -t 2 ]]; then
        printf '\r\e[K%s' "gpufilter: ${text}" >&2
      elif ((elapsed >= next)); then
        say "${text}"
        next=$((elapsed + 15))
      fi
    elif [[ "${line}" == "exit "* ]]; then
      status="${line#exit }"
    else
      messages+="${line}"$'\n'
    fi
  done
  [[ ! -t 2 ]] || printf '\r\e[K' >&2
  ((status == 0)) || printf '%s' "${messages}" >&2
  return "${status}"
}

build() {
  local what="building in ${build_folder}"
  say "${what}"
  {
    local status=0
    NINJA_STATUS='@%f/%t %e ' cmake --build "${build_folder}" --target "$@" </dev/null 2>&1 || status=$?
    echo "exit ${status}"
  } | show_progress || fail "${what}: failed, see above"
}
