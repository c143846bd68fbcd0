#!/usr/bin/env bash
# Filters a folder in the tasks of a Slurm array, one shard per task:
#
#     sbatch --array=0-15 slurm-array.sh photos results --blur auto
#
# Once all tasks have ended, check that every picture has its result:
#
#     gpufilter gather results
#
# The array may have any number of tasks: there is one shard for each. Options that your cluster needs
# (--partition, --time, --mem, --gpus-per-task=1) go before the script's name.
#SBATCH --job-name=gpufilter
#SBATCH --array=0-15
#SBATCH --cpus-per-task=4
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=gpufilter-%A_%a.log
set -euo pipefail

# --resume: a task that Slurm restarts because its node died continues where it was.
exec gpufilter "$@" --shard auto --resume
