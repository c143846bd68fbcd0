#!/usr/bin/env bash
# Installs the packages that gpufilter needs, builds it, and installs the program with its manual pages, completions and
# library in ~/.local, or in the given folder: scripts/install.sh /usr/local
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

prefix="${1:-${HOME}/.local}"
[[ $# -le 1 && "${prefix}" != -* ]] || fail "usage: scripts/install.sh [FOLDER]; without FOLDER, ~/.local"
require_build_packages
# shellcheck disable=SC2119  # no options: any configuration is fine
configure
build gpufilter manual
run_step "installing in ${prefix}" cmake --install "${build_folder}" --prefix "${prefix}"

case ":${PATH}:" in
  *":${prefix}/bin:"*) say "done; try: gpufilter --help" ;;
  *) say "done; to have it on the PATH: export PATH=\"${prefix}/bin:\${PATH}\"" ;;
esac
