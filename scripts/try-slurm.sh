#!/usr/bin/env bash
# Tries the scripts of samples/clusters on a cluster simulated on this machine: a Slurm controller
# with four nodes, mpirun with four processes, GNU parallel with four jobs. Run it as root:
#
#     scripts/try-slurm.sh [OPTION...] [slurm] [mpirun] [parallel]
#
#     slurm, mpirun, parallel
#                       what to try; default: all three
#     --program FILE    the gpufilter to try; by default build/release is built
#     --pictures N      how many pictures to filter [64]
#     --keep            keep the folder with pictures, results and logs
#
# A folder is filtered once by one process. Then each launcher does the same in shards, while
# processes are killed with SIGKILL: under Slurm a task, the daemon of a node (whose task continues
# while its retry begins elsewhere), and all of another node. "gpufilter gather" has to report what is
# missing, and at the end that nothing is; the results have to be equal, byte for byte, with no other
# files beside them. Missing packages are installed: slurm-wlm, munge, openmpi-bin, parallel. All files
# are in ${TMPDIR:-/tmp}, and everything that was started is stopped at the end.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

program=
pictures=64
keep=
launchers=()
samples="${project_root}/samples"
stages=(--recursive --blur auto --levels auto --png-level 9)

work=    # the folder for everything
checks=0 # that have passed

usage() { sed -n '2,/^set /{/^set /d; s/^# \{0,1\}//; p}' "${BASH_SOURCE[0]}"; }

parse_arguments() {
  while (($# > 0)); do
    case "$1" in
      --program | --pictures)
        (($# > 1)) || fail "$1 needs a value"
        [[ "$1" == --program ]] && program="$2" || pictures="$2"
        shift
        ;;
      --keep) keep=yes ;;
      --help | -h)
        usage
        exit
        ;;
      slurm | mpirun | parallel) launchers+=("$1") ;;
      *) fail "$1: unknown; see scripts/try-slurm.sh --help" ;;
    esac
    shift
  done
  [[ "${pictures}" =~ ^[1-9][0-9]*$ ]] || fail "--pictures needs a number"
  ((${#launchers[@]} > 0)) || launchers=(slurm mpirun parallel)
}

packages_for() {
  case "$1" in
    slurm) echo slurm-wlm munge ;;
    mpirun) echo openmpi-bin ;;
    parallel) echo parallel ;;
  esac
}

prepare() {
  local launcher packages=()
  ((EUID == 0)) || fail "only root can start Slurm's daemons"
  for launcher in "${launchers[@]}"; do
    read -r -a packages <<<"$(packages_for "${launcher}") ${packages[*]}"
  done
  require_packages "${packages[@]}" || exit 1
  if [[ -z "${program}" ]]; then
    require_build_packages
    configure release  # without options, any configuration is fine
    build gpufilter
    program="${build_folder}/bin/gpufilter"
  fi
  [[ -x "${program}" ]] || fail "${program}: no such program"
  work="$(mktemp -d "${TMPDIR:-/tmp}/gpufilter-cluster-XXXXXX")"
  chmod 755 "${work}"
  mkdir "${work}/bin" "${work}/home"
  ln -s "$(realpath "${program}")" "${work}/bin/gpufilter"
  # The scripts of samples/clusters find this gpufilter first; it chooses the device.
  export PATH="${work}/bin:${PATH}" HOME="${work}/home" GPUFILTER_DEVICE=cpu
  # Variables that this shell may itself have from a scheduler.
  unset "${!SLURM_@}" "${!OMPI_@}" "${!PMI@}" "${!PARALLEL@}" JOB_COMPLETION_INDEX
  cd "${work}"
}

# check TEXT COMMAND...: the command has to succeed.
check() {
  local text="$1"
  shift
  if "$@" >check.log 2>&1; then
    say "  ok: ${text}"
    checks=$((checks + 1))
    return
  fi
  cat check.log >&2
  fail "not so: ${text}"
}

# wait_until SECONDS TEXT COMMAND...: waits until the command succeeds.
wait_until() {
  local end=$((SECONDS + $1)) text="$2"
  shift 2
  until "$@" >/dev/null 2>&1; do
    ((SECONDS < end)) || fail "waited in vain: ${text}"
    sleep 0.05
  done
}

# ---- Pictures and results ----

# Different pictures in two folders, some of them large, because shards are balanced by bytes.
make_pictures() {
  local i source
  mkdir -p photos/more
  for ((i = 0; i < pictures; ++i)); do
    case $((i % 4)) in
      0) source=landscape.jpg ;;
      1) source=grey.png ;;
      *) source=landscape.png ;;
    esac
    echo "${samples}/${source} photos/$( ((i % 3)) || echo more/)$(printf '%03d' "${i}").${source##*.} --levels ${i},$((255 - i % 7)) -q"
  done | xargs -P "$(nproc)" -L 1 gpufilter
  say "${pictures} pictures, $(du -sm photos | cut -f 1) MB; one process filters them first"
  gpufilter photos expected "${stages[@]}" -q
}

count_results() { find "$1" -name '*.png' -o -name '*.jpg' 2>/dev/null | wc -l; }

# Whether the results equal one process's, with only the journal beside them.
are_equal() {
  diff -r --exclude=.gpufilter-journal expected "$1" &&
    [[ "$(find "$1" -name '.*' -printf '%P\n')" == .gpufilter-journal ]]
}

# gather_says CODE FOLDER [WORDS]: whether gather ends with the code and prints the words.
gather_says() {
  local code=0
  gpufilter gather "$2" >gather.out 2>&1 || code=$?
  cat gather.out
  ((code == $1)) && grep -qE -- "${3:-.}" gather.out
}

expect_all_done() {
  check "gather ends with 0" gather_says 0 "$1" "${pictures} pictures done; gathered from"
  expect_gathered "$1"
}

expect_gathered() {
  check "the results equal those of one process, with nothing beside them" are_equal "$1"
  check "gather may be run again" gather_says 0 "$1" "nothing to gather"
}

# Prints what gather reports about the processes at work.
workers_on() { gpufilter gather "$1" 2>/dev/null | grep "^at work: " || true; }

nobody_works_on() { [[ -z "$(workers_on "$1")" ]]; }

# Whether four processes are at work and have made four results.
are_under_way() { (($(workers_on "$1" | wc -l) == 4 && $(count_results "$1") >= 4)); }

# signal_shard SIGNAL FOLDER SHARD: false if no process is at work on the shard.
signal_shard() {
  local process
  process="$(workers_on "$2" | sed -n "s|^at work: shard $3 on .*, process ||p")"
  [[ -n "${process}" ]] && kill "-$1" "${process}"
}

# has ENTRY FOLDER: whether the process of a folder in /proc has such an entry in its environment.
has() { tr '\0' '\n' 2>/dev/null <"$2/environ" | grep -qxF -- "$1"; }

# ---- Slurm ----

free_port() {
  local port
  while :; do
    port=$((20000 + RANDOM % 12000))
    (exec 3<>"/dev/tcp/127.0.0.1/${port}") 2>/dev/null || break
  done
  echo "${port}"
}

configure_slurm() {
  local node
  mkdir slurm slurm/state slurm/log
  (umask 077 && head -c 128 /dev/urandom >slurm/munge.key)
  cat >slurm/slurm.conf <<EOF
ClusterName=try
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmctldPort=$(free_port)
AuthType=auth/munge
AuthInfo=socket=${work}/slurm/munge.socket
SlurmUser=root
SlurmdUser=root
StateSaveLocation=${work}/slurm/state
SlurmdSpoolDir=${work}/slurm/spool.%n
SlurmctldPidFile=${work}/slurm/slurmctld.pid
SlurmdPidFile=${work}/slurm/slurmd.%n.pid
SlurmctldLogFile=${work}/slurm/log/slurmctld
SlurmdLogFile=${work}/slurm/log/slurmd.%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
SlurmdTimeout=10
KillWait=1
PartitionName=all Nodes=ALL Default=YES State=UP
EOF
  for node in n1 n2 n3 n4; do
    echo "NodeName=${node} NodeHostname=localhost NodeAddr=127.0.0.1 Port=$(free_port) CPUs=4"
  done >>slurm/slurm.conf
  # Newer versions look for cgroups even if nothing uses them.
  if (($(slurmd -V | sed 's/[^0-9]*\([0-9]*\).*/\1/') >= 23)); then
    echo CgroupPlugin=disabled >slurm/cgroup.conf
  fi
}

start_slurm() {
  local node
  say "slurm: starting a controller and four nodes"
  configure_slurm
  export SLURM_CONF="${work}/slurm/slurm.conf"
  munged --force --key-file="${work}/slurm/munge.key" --socket="${work}/slurm/munge.socket" \
    --pid-file="${work}/slurm/munged.pid" --log-file="${work}/slurm/log/munged" \
    --seed-file="${work}/slurm/munge.seed" 2>slurm/log/munged.start ||
    fail "munged does not start: $(cat slurm/log/munged.start)"
  slurmctld
  for node in n1 n2 n3 n4; do
    slurmd -N "${node}"
  done
  wait_until 60 "four idle nodes" nodes_in_state 4 idle
}

nodes_in_state() { [[ "$(sinfo -h -t "$2" -o %D)" == "$1" ]]; }

# Whether the process of a folder in /proc belongs to this cluster, by its environment, which task
# daemons overwrite, or by its working folder.
is_of_slurm() {
  has "SLURM_CONF=${work}/slurm/slurm.conf" "$1" ||
    [[ "$(readlink "$1/cwd" 2>/dev/null)" == "${work}/slurm"* ]]
}

# Ends all processes of this cluster.
stop_slurm() {
  local folder
  [[ -n "${work}" && -e "${work}/slurm/slurm.conf" ]] || return 0
  for folder in /proc/[0-9]*; do
    [[ "${folder}" != "/proc/$$" ]] || continue
    ! is_of_slurm "${folder}" || kill -9 "${folder#/proc/}" 2>/dev/null || true
  done
  unset SLURM_CONF
}

# kill_node NODE: kills the node with everything that runs on it.
kill_node() {
  local folder parent
  kill -9 "$(cat "slurm/slurmd.$1.pid")"
  for folder in /proc/[0-9]*; do
    is_of_slurm "${folder}" || continue
    has "SLURMD_NODENAME=$1" "${folder}" || continue
    # Kills the task's daemon first, because it would report the end.
    parent="$(sed 's/.*) . \([0-9]*\) .*/\1/' "${folder}/stat" 2>/dev/null)" || continue
    [[ "$(cat "/proc/${parent}/comm" 2>/dev/null)" != slurmstepd ]] || kill -9 "${parent}" || true
    kill -9 "${folder#/proc/}" 2>/dev/null || true
  done
}

tasks_in_states() { squeue -h -r -j "$1" -t "$2" -o %K; }

# Slurm delays a requeued job for two minutes; this skips the delay.
no_tasks_left() {
  local task
  for task in $(tasks_in_states "$1" PENDING); do
    scontrol update "JobId=$1_${task}" StartTime=now || true
  done
  [[ -z "$(tasks_in_states "$1" PENDING,RUNNING,COMPLETING,CONFIGURING)" ]]
}

# task_on NODE JOB: the number of the task that runs there.
task_on() { squeue -h -r -j "$2" -w "$1" -t RUNNING -o %K; }

try_slurm() {
  local job killed cut_off
  start_slurm
  job="$(sbatch --parsable --array=0-7 --output=slurm/log/task-%a \
    "${samples}/clusters/slurm-array.sh" photos slurm-results "${stages[@]}" --jobs 1)"
  wait_until 60 "four tasks at work" are_under_way slurm-results
  killed="$(task_on n1 "${job}")"
  cut_off="$(task_on n2 "${job}")"
  say "slurm: killing task ${killed}, cutting off n2 with task ${cut_off}, killing n3 with task $(task_on n3 "${job}")"
  signal_shard STOP slurm-results "${cut_off}/8" || fail "n2 is done already; try more pictures"
  signal_shard KILL slurm-results "${killed}/8" || fail "n1 is done already; try more pictures"
  kill -9 "$(cat slurm/slurmd.n2.pid)"
  kill_node n3
  check "gather says that shards are at work" gather_says 1 slurm-results "^at work: shard"
  wait_until 120 "two nodes that are down" nodes_in_state 2 down
  wait_until 240 "Slurm's retries on other nodes" no_tasks_left "${job}"
  check "gather knows the process that was cut off" \
    gather_says 1 slurm-results "^at work: shard ${cut_off}/8"
  signal_shard CONT slurm-results "${cut_off}/8" || fail "the process that was cut off is gone"
  wait_until 60 "the end of that process" nobody_works_on slurm-results
  check "gather names the command for the task that was killed" \
    gather_says 1 slurm-results "--resume --shard ${killed}/8"
  say "slurm: requeuing task ${killed}"
  scontrol requeue "${job}_${killed}"
  wait_until 240 "the task that was requeued" no_tasks_left "${job}"
  expect_all_done slurm-results
  stop_slurm
}

# ---- mpirun and GNU parallel ----

try_mpirun() {
  local launcher
  export MPIRUN='mpirun --allow-run-as-root --oversubscribe'
  say "mpirun: four processes, one of which is killed"
  "${samples}/clusters/mpirun.sh" 4 photos mpirun-results "${stages[@]}" --jobs 1 >mpirun.log 2>&1 &
  launcher=$!
  wait_until 60 "four processes at work" are_under_way mpirun-results
  signal_shard KILL mpirun-results 2/4 || fail "process 2 is done already; try more pictures"
  check "mpirun ends with an error" eval "! wait ${launcher}"
  check "gather lists what is missing" gather_says 1 mpirun-results "^missing: "
  check "the same command does the rest" \
    "${samples}/clusters/mpirun.sh" 4 photos mpirun-results "${stages[@]}" --jobs 1
  expect_gathered mpirun-results
}

try_parallel() {
  local launcher
  mkdir -p home/.parallel && touch home/.parallel/will-cite
  export PARALLEL_OPTIONS='--jobs 4'
  say "parallel: six shards, four at a time, one of which is killed"
  "${samples}/clusters/parallel.sh" 6 photos parallel-results "${stages[@]}" --jobs 1 >parallel.log 2>&1 &
  launcher=$!
  wait_until 60 "four jobs at work" are_under_way parallel-results
  signal_shard KILL parallel-results 1/6 || fail "job 1 is done already; try more pictures"
  check "its retry does the rest" wait "${launcher}"
  expect_gathered parallel-results
}

clean_up() {
  local job
  for job in $(jobs -p); do
    kill "${job}" 2>/dev/null || true
  done
  stop_slurm
  [[ -n "${work}" ]] || return 0
  if [[ -n "${keep}" ]]; then
    say "pictures, results and logs are in ${work}"
  else
    cd /
    rm -rf --one-file-system "${work}"
  fi
}

parse_arguments "$@"
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
prepare
make_pictures
for launcher in "${launchers[@]}"; do
  "try_${launcher}"
done
say "all ${checks} checks passed: ${launchers[*]}"
