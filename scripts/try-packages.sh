#!/usr/bin/env bash
# Builds the Debian packages of the commit that is checked out and tries them on bare systems, each in a chroot made by
# debootstrap. Run it as root:
#
#     scripts/try-packages.sh [--built] [--keep] [--ccache FOLDER] [SYSTEM...]
#
#     SYSTEM           a release of Debian or Ubuntu, or with the name of another architecture, for which the packages
#                      are cross-built and used by QEMU, "trixie-arm64"; default: bookworm and trixie
#     --built          use the packages in build/packages/SYSTEM
#     --keep           keep the chroots
#     --ccache FOLDER  compile with ccache, whose results are kept in FOLDER for the next time
#
# DEB_BUILD_OPTIONS may hold words of Debian's: noopt compiles in half the time, nocheck skips the test after it.
#
# On each system it makes the tarball, builds source and binary packages, runs lintian, and compares the files of the
# packages with those of "cmake --install". On another bare system it installs them, blurs a picture, runs
# debian/tests by autopkgtest, upgrades, purges, and looks for files that are left. The packages are then in
# build/packages/SYSTEM, the output of all commands in build/packages/SYSTEM.log. The chroots are in ${TMPDIR:-/tmp};
# scripts/chroots.sh says which mirrors are used. Packages of another architecture are installed beside this machine's,
# so the Python module, whose interpreter would have to run as part of apt, is only unpacked and imported.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
# shellcheck source-path=SCRIPTDIR source=chroots.sh
source "$(dirname "${BASH_SOURCE[0]}")/chroots.sh"

base=      # a bare system, copied for each chroot
packages=  # folder for the packages that were built
built=     # not empty: they were built before
foreign=   # the other architecture; empty: this machine's
emulator=  # QEMU's program for it

# A chroot like the bare system.
open_root() {
  new_root "${system}"
  cp -a "${base}/." "${root}"
  cp -L /etc/resolv.conf "${root}/etc/resolv.conf"
  mount_system
  [[ -z "${foreign}" ]] || inside dpkg --add-architecture "${foreign}"
}

install_packages='apt-get update -q && apt-get install -q -y'

build_packages_inside() {
  local version folder options
  options="parallel=$(nproc) noautodbgsym ${DEB_BUILD_OPTIONS:-}"
  version="$(sed -n 's/^gpufilter (\(.*\)-[^-]*) .*/\1/p;q' "${project_root}/debian/changelog")"
  folder="/build/gpufilter-${version}"
  mkdir "${root}/build"
  mount_ccache
  git -C "${project_root}" archive --prefix="gpufilter-${version}/" HEAD |
    xz -T0 -1 >"${root}/build/gpufilter_${version}.orig.tar.xz"
  tar -C "${root}/build" -xf "${root}/build/gpufilter_${version}.orig.tar.xz"
  step 'installing tools' sh -c "${install_packages} --no-install-recommends lintian ${ccache:+ccache} \
    ${foreign:+cross}build-essential${foreign:+-${foreign}}"
  step 'installing what the build needs' sh -c "cd ${folder} &&
    apt-get build-dep -q -y ${foreign:+--host-architecture ${foreign} --build-profiles cross} ./"
  # Debug information would be thrown away.
  step 'building' sh -c "cd ${folder} &&
    DEB_BUILD_OPTIONS='${options}' DEB_CXXFLAGS_STRIP=-g DEB_CFLAGS_STRIP=-g dpkg-buildpackage \
      -us -uc ${foreign:+--host-arch ${foreign} --build-profiles=cross}"
  step 'lintian' sh -c "cd /build && lintian --allow-root --info --fail-on error ./*.changes"
  step 'cmake --install' sh -c "DESTDIR=/installed cmake --install ${folder}/obj-*"
  mkdir -p "${packages}"
  cp "${root}"/build/*.deb "${root}"/build/*.dsc "${root}"/build/*.tar.xz "${packages}"
}

# Files below FOLDER, without those that debhelper adds or renames.
file_list() {
  (cd "$1" && find . ! -type d) | grep -v -e '^./usr/share/doc/[^/]*/\(copyright\|changelog.*\|CHANGELOG.md\)$' |
    sed -e 's/\.gz$//' | sort
}

# The shared library exports the names of its headers alone.
check_exports() {
  local names="${packages}/exports"
  inside sh -c 'nm -DC --defined-only /installed/usr/lib/*/libgpufilter.so' | sed 's/^[0-9a-f]* . //' >"${names}"
  grep -q '^gpufilter::PictureFilter::run(' "${names}" || fail "${system}: the library does not export its names"
  ! grep -v 'gpufilter::' "${names}" || fail "${system}: the library exports other names than those of its headers"
}

compare_files() {
  local package unpacked="${root}/unpacked"
  for package in "${packages}"/*.deb; do
    [[ "${package}" == *dbgsym* ]] || dpkg-deb -x "${package}" "${unpacked}"
  done
  diff <(file_list "${root}/installed") <(file_list "${unpacked}") >>"${log}" ||
    fail "${system}: the packages have other files than cmake --install; see the end of ${log}"
  check_exports
  say "${system}: the packages have the $(file_list "${unpacked}" | wc -l) files of cmake --install"
}

# Packages of a later version with the same content.
make_upgrade() {
  local package folder
  mkdir "${root}/packages/later"
  for package in "${packages}"/*.deb; do
    folder="$(mktemp -d)"
    dpkg-deb -R "${package}" "${folder}"
    sed -i -e 's/^\(Version: .*\)$/\1+later/' -e 's/\(gpufilter[0-9]* (= [^)]*\))/\1+later)/' "${folder}/DEBIAN/control"
    dpkg-deb -b "${folder}" "${root}/packages/later" >>"${log}"
    rm -r "${folder}"
  done
}

no_file_is_left() {
  local left
  left="$(find "${root}/usr" "${root}/etc" "${root}/var/lib" -name '*gpufilter*' ! -path '*/apt/*')"
  [[ -z "${left}" ]] || fail "${system}: files are left: ${left}"
}

put_packages_inside() {
  mkdir "${root}/packages" "${root}/source"
  cp "${packages}"/*.deb "${root}/packages"
  rm -f "${root}"/packages/*dbgsym*
  tar -C "${root}/source" --strip-components=1 -xf "${packages}"/gpufilter_*.orig.tar.xz
}

filters='/source/samples/landscape.jpg /tmp/soft.png --blur auto --on-exists overwrite'

purge_packages() {
  step 'purging' sh -c "apt-get purge -q -y $* && ! command -v gpufilter"
  no_file_is_left
}

use_packages() {
  local picture="gpufilter ${filters}"
  step 'from apt install to a blurred picture' sh -c "${install_packages} /packages/gpufilter_*.deb && ${picture}"
  step 'an OpenCL device' sh -c "${picture} --device opencl --require-device"
  step 'man and completions' sh -c '[ -s /usr/share/man/man1/gpufilter-stats.1.gz ] &&
    bash -nv /usr/share/bash-completion/completions/gpufilter >/dev/null'
  step 'installing autopkgtest' apt-get install -q -y --no-install-recommends autopkgtest
  step 'autopkgtest' sh -c \
    'autopkgtest --summary-file=/tmp/summary --no-built-binaries /packages/*.deb /source -- null'
  while IFS= read -r result; do say "${system}: debian/tests: ${result}"; done <"${root}/tmp/summary"
  make_upgrade
  step 'upgrading' sh -c "apt-get install -q -y /packages/later/*.deb && dpkg -s libgpufilter-dev | grep later &&
    ${picture}"
  purge_packages gpufilter libgpufilter1 libgpufilter-dev python3-gpufilter
}

use_foreign_packages() {
  local program="${emulator} /usr/bin/gpufilter" python="libpython3-stdlib:${foreign}"
  step 'installing' sh -c "${install_packages} --no-install-recommends qemu-user /packages/gpufilter_*.deb \
    /packages/libgpufilter-dev_*.deb"
  step 'a blurred picture' sh -c "${program} ${filters}"
  step 'verify' sh -c "${program} verify --quick --device cpu"
  step 'the Python module' sh -c "apt-get install -q -y --no-install-recommends ${python} && cd /tmp &&
    apt-get download python3-minimal:${foreign} \$(apt-cache depends python3-minimal:${foreign} |
      sed -n 's/^  Depends: \(python3\.[0-9]*-minimal:${foreign}\)\$/\1/p') &&
    for package in *.deb /packages/python3-gpufilter_*.deb; do dpkg-deb -x \$package /tmp/python || exit; done &&
    PYTHONPATH=/tmp/python/usr/lib/python3/dist-packages ${emulator} /tmp/python/usr/bin/python3.[0-9]* -c \
      'import gpufilter; print(gpufilter.__version__)'"
  purge_packages "gpufilter:${foreign} libgpufilter1:${foreign} libgpufilter-dev:${foreign}"
}

try_system() {
  local system="$1" release="${1%%-*}"
  foreign="${system#"${release}"}"
  foreign="${foreign#-}"
  case "${foreign}" in
    '') emulator= ;;
    arm64) emulator=qemu-aarch64 ;;
    riscv64) emulator=qemu-riscv64 ;;
    *) fail "${system}: choose arm64 or riscv64" ;;
  esac
  log="${project_root}/build/packages/${system}.log"
  packages="${project_root}/build/packages/${system}"
  base="${scratch}/${system}"
  say "${system}: making a bare system"
  bootstrap "${release}" "${base}" >"${log}" 2>&1 || fail "${system}: no bare system: $(tail -n 1 "${log}")"
  if [[ -z "${built}" ]]; then
    rm -rf "${packages}"
    open_root
    build_packages_inside
    compare_files
    clean_up
  fi
  open_root
  put_packages_inside
  if [[ -n "${foreign}" ]]; then use_foreign_packages; else use_packages; fi
  clean_up
  rm -rf --one-file-system "${base}"
}

for argument; do
  shift
  if [[ "${argument}" == --built ]]; then built=yes; else set -- "$@" "${argument}"; fi
done
parse_arguments "$@"
((${#systems[@]} > 0)) || systems=(bookworm trixie)
require_chroots
mkdir -p "${project_root}/build/packages"
scratch="$(mktemp -d "${TMPDIR:-/tmp}/gpufilter-packages-XXXXXX")"
trap 'clean_up; rm -rf --one-file-system "${scratch}"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
for system in "${systems[@]}"; do
  try_system "${system}"
done
say "the packages and what the commands printed are in ${project_root}/build/packages"
