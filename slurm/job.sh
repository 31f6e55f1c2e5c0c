# Shared by the job scripts, which source it. Sets HIOS_RESULTS, and defines program, launch and prepare.
set -euo pipefail

if [ ! -r "$SLURM_SUBMIT_DIR/site.env" ]; then
  printf 'error: %s: there is no such file; copy site.env.example to site.env, edit it, and submit from its folder\n' \
    "$SLURM_SUBMIT_DIR/site.env" >&2
  exit 2
fi
. "$SLURM_SUBMIT_DIR/site.env"
mkdir -p "$HIOS_RESULTS"

# program NAME: prints its path, in HIOS_BIN if that is set, else in PATH.
program() {
  local path=${HIOS_BIN:+$HIOS_BIN/}$1
  if ! command -v "$path" >/dev/null; then
    printf 'error: %s: there is no such program; set HIOS_BIN in site.env to their folder\n' "$path" >&2
    exit 2
  fi
  command -v "$path"
}

# Asks the ranks to end. mpirun forwards a signal to its ranks; srun would kill them, so Slurm sends it.
stop_ranks() {
  if [ "${HIOS_LAUNCHER:-mpirun}" = srun ]; then
    scancel --signal=TERM "$SLURM_JOB_ID" || true
  else
    kill -TERM "$1" 2>/dev/null || true
  fi
}

# keep_arguments ARGUMENTS…: keeps those of the job script for the commands in messages, which submit it again.
keep_arguments() {
  HIOS_BATCH_ARGUMENTS=
  [ $# = 0 ] || printf -v HIOS_BATCH_ARGUMENTS '%q ' "$@"
  export HIOS_BATCH_ARGUMENTS=${HIOS_BATCH_ARGUMENTS% }
}

# launch NAME ARGUMENTS…: runs a program on all ranks of the job, one per task. On a request to end (scancel, requeue,
# the time limit) it forwards that and waits, so that the program can write its measurements.
launch() {
  local path child status=0 records=$HIOS_RESULTS/failed-$SLURM_JOB_ID
  path=$(program "$1") || return
  shift
  mkdir -p "$records"  # for the flight records of ranks that fail
  set -- --flight-record "$records" "$@"
  # Ranks pin their own threads, so the launchers must not.
  case "${HIOS_LAUNCHER:-mpirun}" in
    mpirun)
      # An unreachable node is noticed after 30 s; with Open MPI's own settings after 8 minutes.
      # shellcheck disable=SC2086
      OMPI_MCA_odls_base_sigkill_timeout=${HIOS_GRACE_SECONDS:-3} \
      OMPI_MCA_oob_tcp_keepalive_time=10 OMPI_MCA_oob_tcp_keepalive_intvl=5 OMPI_MCA_oob_tcp_keepalive_probes=4 \
        mpirun --bind-to none ${HIOS_LAUNCHER_ARGUMENTS:-} "$path" "$@" &
      ;;
    srun)
      # shellcheck disable=SC2086
      srun --mpi=pmix --cpu-bind=none --kill-on-bad-exit=1 ${HIOS_LAUNCHER_ARGUMENTS:-} "$path" "$@" &
      ;;
    *)
      printf 'error: %s/site.env: HIOS_LAUNCHER is "%s"; it may be mpirun or srun\n' "$SLURM_SUBMIT_DIR" "$HIOS_LAUNCHER" >&2
      exit 2
      ;;
  esac
  child=$!
  trap 'stopped=yes; stop_ranks "$child"' TERM INT
  trap 'kill -USR1 "$child" 2>/dev/null || true' USR1  # both launchers forward it
  # A trapped signal ends `wait` early, while the program still runs.
  while :; do
    wait "$child" && status=0 || status=$?
    kill -0 "$child" 2>/dev/null || break
  done
  trap - TERM INT USR1
  rmdir --ignore-fail-on-non-empty "$records"
  return "$status"
}

# True after a request of Slurm to end the job.
stopped=no
