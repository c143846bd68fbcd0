#!/usr/bin/env bash
# Installs the packages that gpufilter needs, builds it, and runs it with the given arguments; without
# arguments, it blurs one of the pictures in samples/. Steps that are already done are skipped.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

require_build_packages
configure release  # without options, any configuration is fine
build gpufilter

program="${build_folder}/bin/gpufilter"
(($# == 0)) || exec "${program}" "$@"

result="${project_root}/build/first-blur.png"
"${program}" "${project_root}/samples/landscape.png" "${result}" --blur tiled
say "the blurred picture is ${result}"
say "to have gpufilter on the PATH, run scripts/install.sh"
