#!/usr/bin/env bash
# Filters a folder in shards with GNU parallel, and gathers:
#
#     ./parallel.sh 16 photos results --blur auto
#     PARALLEL_OPTIONS='--jobs 1 --sshloginfile nodes --workdir .' ./parallel.sh 16 photos results --blur auto
#
# The second line runs one shard at a time on each of the machines that the file "nodes" lists; they
# have to see the folders under the same paths. A shard that fails is retried twice.
set -euo pipefail
(($# >= 3)) || {
  echo "usage: parallel.sh SHARDS INDIR OUTDIR [STAGE...] [OPTION...]" >&2
  exit 2
}
shards="$1"
results="$3"
shift

read -r -a options <<<"${PARALLEL_OPTIONS:---jobs 2}"
status=0
seq 0 "$((shards - 1))" |
  parallel --quote --retries 3 "${options[@]}" gpufilter "$@" --shard "{}/${shards}" --resume ||
  status=$?
gpufilter gather "${results}"  # lists what failed or is missing
exit "${status}"
