# Sourced first by the job scripts. Defines refuse, submit_self and check_submission, for the login node.

# refuse TEXT: ends with one line.
refuse() {
  printf 'error: %s\n' "$1" >&2
  exit 2
}

# check_submission SBATCH ARGUMENTS…: refuses what Slurm would refuse in words that name no remedy.
check_submission() {
  local argument kinds words=" $* "
  command -v sbatch >/dev/null || refuse "there is no sbatch here: call this on a login node of a cluster with Slurm"
  # Another cluster's nodes, and those that sinfo cannot list, are Slurm's own to judge.
  case "$words" in *' -M'* | *' --cluster'*) return 0 ;; esac
  kinds=$(sinfo --all --noheader --format=%G 2>/dev/null) || return 0
  if [[ $kinds = *gpu* ]]; then return 0; fi
  for argument in "$@"; do
    case "$argument" in
      --gpus | --gpus=* | --gpus-* | -G* | --gres=gpu* | --gres=*,gpu* | gpu:* | --tres-per-*gpu*)
        refuse "no node of this cluster has GPUs that Slurm knows (sinfo --format=%G): leave $argument out, and compute on cores with --backend cpu" ;;
    esac
  done
}

# submit_self SCRIPT ARGUMENTS… [-- SBATCH ARGUMENTS…]: checks, and submits the script with these arguments.
submit_self() {
  local script=$1 own=()
  shift
  while [ $# -gt 0 ] && [ "$1" != -- ]; do own+=("$1"); shift; done
  if [ $# -gt 0 ]; then shift; fi
  check_submission "$@"
  exec sbatch "$@" "$script" "${own[@]}"
}
