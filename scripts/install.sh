#!/usr/bin/env bash
# Installs the packages that gpufilter needs, builds it, and installs the program with its manual pages, completions and
# library in ~/.local, or in the given folder: scripts/install.sh /usr/local. With --python, also the Python module,
# where python3 finds it if the folder is one in which it looks for modules.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

targets=(gpufilter manual)
options=()
with_python=
if [[ "${1:-}" == --python ]]; then
  with_python=yes
  shift
fi
prefix="${1:-${HOME}/.local}"
[[ $# -le 1 && "${prefix}" != -* ]] || fail "usage: scripts/install.sh [--python] [FOLDER]; without FOLDER, ~/.local"

# The folder below the prefix where python3 looks for modules; the usual one if it looks in none.
module_folder() {
  python3 - "$1" <<'END'
import os, site, sys
for folder in [site.getusersitepackages(), *site.getsitepackages()]:
    below = os.path.relpath(folder, sys.argv[1])
    if not below.startswith(".."):
        sys.exit(print(below))
print("lib/python{}.{}/site-packages".format(*sys.version_info))
END
}

require_build_packages
if [[ -n "${with_python}" ]]; then
  require_packages "${python_packages[@]}" || exit 1
  modules="$(module_folder "${prefix}")"
  options=(GPUFILTER_BUILD_PYTHON=ON "GPUFILTER_PYTHON_FOLDER=${modules}" "Python_EXECUTABLE=$(command -v python3)")
fi
# Without options, any configuration is fine.
configure release "${options[@]}"
# Everything that is configured is installed.
if option_is GPUFILTER_BUILD_PYTHON=ON; then targets+=(gpufilter_python gpufilter_python_files); fi
build "${targets[@]}"
run_step "installing in ${prefix}" cmake --install "${build_folder}" --prefix "${prefix}"

if [[ -n "${with_python}" ]] && ! (cd / && python3 -c 'import gpufilter') 2>/dev/null; then
  say "python3 does not look for modules there; for it to do so: export PYTHONPATH=\"${prefix}/${modules}\""
fi
case ":${PATH}:" in
  *":${prefix}/bin:"*) say "done; try: gpufilter --help" ;;
  *) say "done; to have it on the PATH: export PATH=\"${prefix}/bin:\${PATH}\"" ;;
esac
