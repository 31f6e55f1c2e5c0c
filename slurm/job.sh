# What the job scripts share; they source it. Sets HIOS_RESULTS, and defines program, launch and prepare.
set -euo pipefail

if [ ! -r "$SLURM_SUBMIT_DIR/site.env" ]; then
  printf 'error: %s: there is no such file; copy site.env.example to site.env, edit it, and submit from its folder\n' \
    "$SLURM_SUBMIT_DIR/site.env" >&2
  exit 2
fi
. "$SLURM_SUBMIT_DIR/site.env"
mkdir -p "$HIOS_RESULTS"

# program NAME: its path, by HIOS_BIN or else in PATH.
program() {
  local path=${HIOS_BIN:+$HIOS_BIN/}$1
  if ! command -v "$path" >/dev/null; then
    printf 'error: %s: there is no such program; HIOS_BIN in site.env says where the programs are\n' "$path" >&2
    exit 2
  fi
  command -v "$path"
}

# mpirun passes a signal on to its ranks. srun would kill them, so they are told by Slurm.
tell_ranks() {
  if [ "${HIOS_LAUNCHER:-mpirun}" = srun ]; then
    scancel --signal=TERM "$SLURM_JOB_ID" || true
  else
    kill -TERM "$1" 2>/dev/null || true
  fi
}

# launch NAME ARGUMENTS…: a program on all ranks of the job, one a task. Told to end (scancel, requeue, the time limit),
# it passes that on and waits, so that the program can write what it measured.
launch() {
  local path child status=0 records=$HIOS_RESULTS/failed-$SLURM_JOB_ID
  path=$(program "$1") || return
  shift
  mkdir -p "$records"  # where ranks that fail leave what they did last
  set -- --flight-record "$records" "$@"
  # Ranks pin their own threads, so the launchers must not.
  case "${HIOS_LAUNCHER:-mpirun}" in
    mpirun)
      # A node that cannot be reached any more is noticed after 30 s; Open MPI's own settings take 8 minutes.
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
  trap 'stopped=yes; tell_ranks "$child"' TERM INT
  trap 'kill -USR1 "$child" 2>/dev/null || true' USR1  # both launchers pass it on
  # A trapped signal ends `wait` early, with the program still at work.
  while :; do
    wait "$child" && status=0 || status=$?
    kill -0 "$child" 2>/dev/null || break
  done
  trap - TERM INT USR1
  rmdir --ignore-fail-on-non-empty "$records"
  return "$status"
}

# True once Slurm has told the job to end.
stopped=no
