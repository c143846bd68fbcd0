#!/usr/bin/env bash
# Prints what CHANGELOG.md says about a version, after checking that the project has that version everywhere:
# scripts/release-notes.sh 1.2.3
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
cd "${project_root}"

(($# == 1)) || fail "usage: scripts/release-notes.sh VERSION"
version="$1"
[[ "${version}" =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || fail "${version}: not a version such as 1.2.3"
project="$(sed -n 's/^project(gpufilter VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)"
[[ "${project}" == "${version}" ]] || fail "CMakeLists.txt has version ${project}, not ${version}"
debian="$(sed -n '1s/^gpufilter (\(.*\)-[^-]*).*/\1/p' debian/changelog)"
[[ "${debian}" == "${version}" ]] || fail "debian/changelog has version ${debian}, not ${version}"

# From the heading "## [1.2.3] - 2026-01-31" to the next one.
notes="$(awk -v heading="## [${version}]" 'index($0, heading) == 1 { inside = 1; next } /^## / { inside = 0 } inside' \
  CHANGELOG.md)"
[[ -n "${notes//[[:space:]]/}" ]] ||
  fail "CHANGELOG.md says nothing about ${version}; give it the heading: ## [${version}]"
printf '%s\n' "${notes}"
