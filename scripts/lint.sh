#!/usr/bin/env bash
# Checks the formatting of every source file with clang-format, and runs clang-tidy on all of them.
# Use version 14 of both: other versions format and report a little differently.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

find_tool() {
  command -v "$1-14" || command -v "$1" || {
    echo "lint: $1 is missing; install it with: apt-get install $1" >&2
    return 1
  }
}
clang_format="$(find_tool clang-format)"
clang_tidy="$(find_tool clang-tidy)"

mapfile -t sources < <(find src include lab tests samples python -name '*.[ch]pp' | sort)
"${clang_format}" --dry-run -Werror "${sources[@]}"
echo "lint: layout of ${#sources[@]} files is right"

# clang-tidy takes the compiler's options for each file from a build folder. Comparisons with other
# libraries are built only where those are installed; elsewhere their sources are skipped.
folder=build/lint
cmake --preset dev -B "${folder}" -DGPUFILTER_BUILD_BENCH=ON -DGPUFILTER_BUILD_PYTHON=ON >/dev/null
has_options() { grep -qF "\"file\": \"${PWD}/$1\"" "${folder}/compile_commands.json"; }
checked=()
for source in "${sources[@]}"; do
  [[ ${source} == *.cpp ]] || continue
  if has_options "${source}"; then checked+=("${source}"); else echo "lint: skipped ${source}: not built here"; fi
done
printf '%s\n' "${checked[@]}" |
  xargs -P "$(nproc)" -n 1 "${clang_tidy}" -p "${folder}" --quiet
echo "lint: clang-tidy found nothing in ${#checked[@]} files"
