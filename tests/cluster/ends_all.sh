#!/usr/bin/env bash
# A rank that gets a signal, or an exception, in the middle of a run, or that stops as the cluster ends, ends the others
# within 10 seconds, with a message that names it, and leaves no process behind.
#   ends_all.sh MPIEXEC PROGRAM KILL|STOP|FAREWELL|THROW RANK RANKS
set -uo pipefail
mpiexec=$1 program=$2 signal=$3 rank=$4 ranks=$5
copy=$(mktemp -d)/ends_all_$$   # a name of its own, to find what is left
trap 'rm -rf "$(dirname "$copy")"' EXIT
cp "$program" "$copy"

begin=$(date +%s%N)
# shellcheck disable=SC2086
output=$(timeout -k 5 60 $mpiexec -n "$ranks" "$copy" "$signal" "$rank" 2>&1)
status=$?
took=$((($(date +%s%N) - begin) / 1000000))
failed() { echo "$1; exit code $status after $took ms"; echo "$output"; exit 1; }

[ $status -ne 0 ] && [ $status -ne 124 ] || failed "it did not end with an error"
[ $took -le 10000 ] || failed "it took too long"
grep -qiE "rank $rank( |\b)" <<<"$output" || failed "nobody names rank $rank"
if [ "$signal" = STOP ] || [ "$signal" = FAREWELL ]; then
  grep -q "^filch: rank .*: rank $rank has not answered for 5 s; ending all ranks" <<<"$output" || failed "no line of ours"
fi
! pgrep -f "$copy" >/dev/null || failed "a process is left: $(pgrep -f "$copy")"
echo "ended after $took ms, rank $rank named"
