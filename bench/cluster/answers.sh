#!/usr/bin/env bash
# The answers on three ranks. Then requests that make no sense: one line from rank 0, nothing on stdout, a failure of each rank.
#   answers.sh BENCH MPIEXEC NUMPROC_FLAG
set -uo pipefail
bench=$1 mpiexec=$2 flag=$3
failed=0
"$mpiexec" "$flag" 3 "$bench" --scheduler cluster --workload uts=T1,knapsack-bound=28 --repeat 1 --workers 1 || failed=1

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
refused() {
  # Each rank's exit code goes to a file: mpiexec would end the others over the first that is not 0.
  rm -f "$folder"/*
  # shellcheck disable=SC2016
  "$mpiexec" "$flag" 3 sh -c '"$@" 2>>"$0/errors"; echo $? >"$0/code.$$"' "$folder" "$bench" --scheduler cluster "$@" >"$folder/output"
  if [ -s "$folder/output" ] || [ "$(wc -l <"$folder/errors")" -ne 1 ] || [ "$(cat "$folder"/code.*)" != $'1\n1\n1' ]; then
    echo "not refused as it should be: $*" >&2
    head "$folder"/* >&2
    failed=1
  fi
}
refused --format csv
refused --quick
refused --workers 0
refused --workers 1,2
refused --repeat 0
refused --workload nonsense
refused --nonsense
FILCH_NUM_THREADS=nonsense refused
exit $failed
