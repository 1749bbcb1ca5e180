#!/usr/bin/env bash
# The answers on three ranks. Then requests that make no sense: one line from rank 0, nothing on stdout, a failure of each rank.
#   answers.sh BENCH MPIEXEC NUMPROC_FLAG EXAMPLES: the last is the examples' folder ("" where they are not built)
set -uo pipefail
bench=$1 mpiexec=$2 flag=$3 examples=$4
failed=0
"$mpiexec" "$flag" 3 "$bench" --scheduler cluster --workload uts=T1,knapsack-bound=28 --repeat 1 --workers 1 || failed=1

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# ends CODES PROGRAM ARGUMENT...: the ranks with these codes, after one line.
ends() {
  local codes=$1
  shift
  # Each rank's exit code goes to a file: mpiexec would end the others over the first that is not 0.
  rm -f "$folder"/*
  # shellcheck disable=SC2016
  timeout 60 "$mpiexec" "$flag" 3 sh -c '"$@" 2>>"$0/errors"; echo $? >"$0/code.$$"' "$folder" "$@" >"$folder/output"
  if [ -s "$folder/output" ] || [ "$(wc -l <"$folder/errors")" -ne 1 ] || [ "$(sort "$folder"/code.* | xargs)" != "$codes" ]; then
    echo "not refused as it should be: $*" >&2
    head "$folder"/* >&2
    failed=1
  fi
}
refused() { ends "1 1 1" "$bench" --scheduler cluster "$@"; }
refused --format csv
refused --quick
refused --workers 0
refused --workers 1,2
refused --repeat 0
refused --workload nonsense
refused --workload uts=T1,uts=T9
refused --workload uts=T1,knapsack-bound=0 --format json
refused --workload uts=T1,uts=T1
refused --nonsense
refused --micro
FILCH_NUM_THREADS=nonsense refused

# Without a cluster: only rank 0 fails, so that mpiexec lets it speak first.
ends "0 0 1" "$bench" --workload fib=10 --repeat 1
ends "0 0 1" "$bench" --list
ends "0 0 1" "$bench" --nonsense
[[ $("$bench" --workload knapsack-bound=30 2>&1) = *"knapsack-bound needs --scheduler cluster" ]] || { echo "knapsack-bound is unknown" >&2; failed=1; }

if [ -n "$examples" ]; then
  ends "1 1 1" "$examples/example-cluster_queens" -1
  ends "1 1 1" "$examples/example-cluster_tour" abc
fi
exit $failed
