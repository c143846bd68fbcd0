#!/usr/bin/env bash
# Installs the packages that gpufilter and its tests need, builds them and runs the whole suite. Arguments
# are passed to ctest (-R blur: only tests with "blur" in their names). With CI set, compiler warnings are errors.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

require_test_packages
# The packages for the tests of the Python module are those of the system's Python.
options=(GPUFILTER_BUILD_TESTS=ON GPUFILTER_BUILD_SAMPLES=ON GPUFILTER_BUILD_PYTHON=ON
  Python_EXECUTABLE=/usr/bin/python3)
# Groups of files make a first build faster and the next ones slower.
if [[ -n "${CI:-}" ]]; then options+=(GPUFILTER_WERROR=ON GPUFILTER_UNITY=ON); else options+=(GPUFILTER_UNITY=OFF); fi
configure "${options[@]}"
build all

exec ctest --test-dir "${build_folder}" --parallel "$(nproc)" --output-on-failure \
  --no-tests=error "$@" </dev/null
