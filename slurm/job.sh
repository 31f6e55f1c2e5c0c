# Shared by the job scripts, which source it: the site's settings, and program, checked and launch.
# HIOS_SCRIPTS is the folder of these scripts.
set -euo pipefail

# The settings of the site: a file that HIOS_SITE names, or site.env in the folder of submission, or in that of the scripts.
site=
for file in "${HIOS_SITE:-}" "$SLURM_SUBMIT_DIR/site.env" "$HIOS_SCRIPTS/site.env"; do
  if [ -r "$file" ]; then site=$file; break; fi
  if [ -n "$file" ] && [ "$file" = "${HIOS_SITE:-}" ]; then
    printf 'error: %s: there is no such file, and HIOS_SITE names it\n' "$file" >&2
    exit 2
  fi
done
# Files of modules read variables that are not set, and have commands that fail.
# shellcheck disable=SC1090
if [ -n "$site" ]; then
  set +eu
  . "$(realpath "$site")"
  set -eu
fi
: "${HIOS_BIN=$(cd "$HIOS_SCRIPTS" && cd ../build/release/bin 2>/dev/null && pwd)}"
: "${HIOS_RESULTS:=$SLURM_SUBMIT_DIR/results}"
mkdir -p "$HIOS_RESULTS"

# program NAME: sets `words` to those that start it: a file in HIOS_BIN if that is set, else in PATH; or in a container.
program() {
  local path=${HIOS_BIN:+$HIOS_BIN/}$1 runtime=${HIOS_CONTAINER_RUNTIME:-apptainer} from=${site:-no site.env}
  if [ -n "${HIOS_CONTAINER:-}" ]; then
    if [ ! -r "$HIOS_CONTAINER" ]; then
      printf 'error: %s: there is no such image; set HIOS_CONTAINER in %s\n' "$HIOS_CONTAINER" "$from" >&2
      exit 2
    elif ! command -v "$runtime" >/dev/null; then
      printf 'error: %s: there is no such program; load its module in %s, or set HIOS_CONTAINER_RUNTIME\n' "$runtime" "$from" >&2
      exit 2
    fi
    # shellcheck disable=SC2086
    words=("$runtime" exec ${HIOS_CONTAINER_ARGUMENTS:-} "$HIOS_CONTAINER" "$1")
  elif command -v "$path" >/dev/null; then
    words=("$(command -v "$path")")
  else
    printf 'error: %s: there is no such program; copy a file of %s/sites to site.env and set HIOS_BIN there (read: %s)\n' \
      "$path" "$HIOS_SCRIPTS" "$from" >&2
    exit 2
  fi
}

# Asks the ranks to end. mpirun passes SIGUSR2 on and waits for its ranks; SIGTERM, which Open MPI 5 follows by SIGKILL a quarter
# of a second later, comes once they have had their time. srun would kill them, so Slurm sends it.
stop_ranks() {
  if [ "${HIOS_LAUNCHER:-mpirun}" = srun ]; then
    scancel --signal=TERM "$SLURM_JOB_ID" || true
  else
    kill -USR2 "$1" 2>/dev/null || true
    (
      pause=
      trap '[ -z "$pause" ] || kill "$pause"; exit' TERM
      sleep "${HIOS_GRACE_SECONDS:-3}" &
      pause=$!
      wait "$pause" || true
      kill -TERM "$1"
    ) 2>/dev/null &
    reminders+=("$!")
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
  local child status=0 records=$HIOS_RESULTS/failed-$SLURM_JOB_ID
  local -a words reminders=()
  program "$1"
  shift
  mkdir -p "$records"  # for the flight records of ranks that fail
  words+=(--flight-record "$records" "$@")
  # Ranks pin their own threads, so the launchers must not.
  case "${HIOS_LAUNCHER:-mpirun}" in
    mpirun)
      # An unreachable node is noticed after 30 s; with Open MPI's own settings after 8 minutes.
      # shellcheck disable=SC2086
      OMPI_MCA_odls_base_sigkill_timeout=${HIOS_GRACE_SECONDS:-3} \
      OMPI_MCA_oob_tcp_keepalive_time=10 OMPI_MCA_oob_tcp_keepalive_intvl=5 OMPI_MCA_oob_tcp_keepalive_probes=4 \
        mpirun --bind-to none ${HIOS_LAUNCHER_ARGUMENTS:-} "${words[@]}" &
      ;;
    srun)
      # shellcheck disable=SC2086
      srun --mpi=pmix --cpu-bind=none --kill-on-bad-exit=1 ${HIOS_LAUNCHER_ARGUMENTS:-} "${words[@]}" &
      ;;
    *)
      printf 'error: %s: HIOS_LAUNCHER is "%s"; it may be mpirun or srun\n' "${site:-the environment}" "$HIOS_LAUNCHER" >&2
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
  [ "${#reminders[@]}" = 0 ] || kill "${reminders[@]}" 2>/dev/null || true
  rmdir --ignore-fail-on-non-empty "$records"
  return "$status"
}

# True after a request of Slurm to end the job.
stopped=no
