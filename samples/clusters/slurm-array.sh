#!/usr/bin/env bash
# Filters a folder in the tasks of a Slurm array, a shard each:
#
#     sbatch --array=0-15 slurm-array.sh photos results --blur auto
#
# and, once all tasks have ended, says whether every picture has its result:
#
#     gpufilter gather results
#
# The numbers of the array may be any, as long as there is one task for each shard. Options that
# your cluster needs (--partition, --time, --mem, --gpus-per-task=1) go in front of the script's name.
#SBATCH --job-name=gpufilter
#SBATCH --array=0-15
#SBATCH --cpus-per-task=4
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=gpufilter-%A_%a.log
set -euo pipefail

# --resume: a task that Slurm starts again, as its node died, goes on where it was.
exec gpufilter "$@" --shard auto --resume
