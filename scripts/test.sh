#!/usr/bin/env bash
# Installs the packages that gpufilter and its tests need, builds them and runs the whole suite. Arguments
# are passed to ctest (-R blur: only tests with "blur" in their names). With CI set, compiler warnings are errors, and
# 50 chains are compared with those of an ARM64 program if a cross compiler, its libraries and QEMU are installed.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

require_test_packages
if [[ -n "${CI:-}" ]]; then configure ci GPUFILTER_WERROR=ON; else configure tests GPUFILTER_BUILD_TESTS=ON; fi
build all
[[ -z "${CI:-}" ]] || CHAINS=50 "${project_root}/scripts/try-architectures.sh" --here

# One more test at a time than cores, because some wait for processes, terminals and time limits.
exec ctest --test-dir "${build_folder}" --parallel "$(($(nproc) + 1))" --output-on-failure \
  --no-tests=error "$@" </dev/null
