#!/usr/bin/env bash
# Filters a folder with MPI's launcher, one shard per process, and gathers:
#
#     ./mpirun.sh 16 photos results --blur auto
#     MPIRUN='mpirun --hostfile nodes --map-by node' ./mpirun.sh 16 photos results --blur auto
#
# gpufilter needs no MPI: the launcher only starts it and tells each process its number. If a process
# is killed, mpirun ends the others; the same command does the rest.
set -euo pipefail
(($# >= 3)) || {
  echo "usage: mpirun.sh PROCESSES INDIR OUTDIR [STAGE...] [OPTION...]" >&2
  exit 2
}
processes="$1"
results="$3"
shift

read -r -a launcher <<<"${MPIRUN:-mpirun}"
status=0
"${launcher[@]}" -n "${processes}" gpufilter "$@" --shard auto --resume || status=$?
gpufilter gather "${results}"  # lists what failed or is missing
exit "${status}"
