#!/usr/bin/env bash
# Builds the Python module of the commit that is checked out as a wheel on a bare Debian 13, in a chroot made by
# debootstrap. Installs and uses it there in virtual environments without and with NumPy. Run it as root:
#
#     scripts/try-wheel.sh [--keep] [--ccache FOLDER]
#
#     --keep           keep the chroot
#     --ccache FOLDER  compile with ccache, whose results are kept in FOLDER for the next time
#
# With DEB_BUILD_OPTIONS=noopt it compiles in half the time.
#
# The wheel is then in build/wheels, the output of all commands in build/wheels/log. The chroot is in ${TMPDIR:-/tmp};
# scripts/chroots.sh says which mirrors are used.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
# shellcheck source-path=SCRIPTDIR source=chroots.sh
source "$(dirname "${BASH_SOURCE[0]}")/chroots.sh"

system=trixie
wheels="${project_root}/build/wheels"

# With the folders and the compiler's options of the Debian packages, so that ccache has what these are made of.
build_wheel_inside() {
  local packages=("${build_packages[@]}" "${python_packages[@]}" python3-scikit-build-core python3-venv python3-pip
    python3-numpy dpkg-dev ${ccache:+ccache})
  local version folder type=Release words="${DEB_BUILD_OPTIONS:-}"
  [[ " ${words} " != *' noopt '* ]] || type=None
  version="$(sed -n 's/^gpufilter (\(.*\)-[^-]*) .*/\1/p;q' "${project_root}/debian/changelog")"
  folder="/build/gpufilter-${version}"
  mkdir -p "${root}${folder}"
  git -C "${project_root}" archive HEAD | tar -C "${root}${folder}" -x
  mount_ccache
  step 'installing what the build needs' sh -c \
    "apt-get update -q && apt-get install -q -y --no-install-recommends ${packages[*]}"
  step 'building' sh -c "cd ${folder} &&
    export DEB_BUILD_MAINT_OPTIONS=hardening=+all DEB_CXXFLAGS_STRIP=-g DEB_BUILD_OPTIONS='${words}' &&
    export LC_ALL=C.UTF-8 CXX=c++ CMAKE_BUILD_PARALLEL_LEVEL=$(nproc) &&
    CXXFLAGS=\"\$(dpkg-buildflags --get CXXFLAGS) \$(dpkg-buildflags --get CPPFLAGS)\" \
    pip wheel --no-build-isolation --no-deps --no-index --wheel-dir /wheels -v \
    --config-settings=cmake.build-type=${type} \
    --config-settings=build-dir=${folder}/obj-\$(dpkg-architecture -q DEB_HOST_MULTIARCH) ."
  cp "${root}"/wheels/*.whl "${wheels}"
  ln -s "${folder}" "${root}/source"
}

# try_environment NAME TESTS OPTION...: makes a virtual environment with the options, puts the wheel into it and nothing
# else, and runs these tests of debian/tests there.
try_environment() {
  local name="$1" tests="$2" path="/$1/bin:/usr/bin:/bin"
  shift 2
  step "${name}: installing" sh -c \
    "python3 -m venv $* /${name} && /${name}/bin/pip install --no-deps --no-index /wheels/*.whl"
  for test in ${tests}; do
    step "${name}: debian/tests/${test}" env PATH="${path}" sh -c "cd /source && debian/tests/${test}"
  done
  step "${name}: uninstalling" sh -c \
    "/${name}/bin/pip uninstall -q -y gpufilter && [ -z \"\$(find /${name} -name '*gpufilter*')\" ]"
}

parse_arguments "$@"
((${#systems[@]} == 0)) || fail "${systems[0]}: the system is always ${system}; see scripts/try-wheel.sh --help"
require_chroots
mkdir -p "${wheels}"
log="${wheels}/log"
clean_up_at_the_end
new_root wheel
say "${system}: making a bare system"
bootstrap "${system}" "${root}" >"${log}" 2>&1 || fail "${system}: no bare system: $(tail -n 1 "${log}")"
cp -L /etc/resolv.conf "${root}/etc/resolv.conf"
mount_system
build_wheel_inside
try_environment bare python
try_environment with-numpy 'python numpy' --system-site-packages
say "the wheel and what the commands printed are in ${wheels}"
