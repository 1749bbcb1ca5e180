#!/usr/bin/env bash
# A rank that gets a signal, or an exception, in the middle of a run or before, that stops as the cluster ends, leaves, or sends
# too long a message, ends the others within 10 seconds (of the launch; the message: of its being sent), with a message
# that names it, and leaves no process behind.
#   ends_all.sh MPIEXEC PROGRAM KILL|STOP|LATE|FAREWELL|EARLY|THROW|ALONE|LEAVES|LONG RANK RANKS
set -uo pipefail
mpiexec=$1 program=$2 signal=$3 rank=$4 ranks=$5
folder=$(mktemp -d)
name=ends_all_$$   # of its own, to find what runs; 15 characters at most
trap 'rm -rf "$folder"' EXIT
cp "$program" "$folder/$name"

# Not those that are dead and wait for mpiexec to look.
left() { ps -eo pid=,stat=,comm= | awk -v name="$name" '$3 == name && $2 !~ /^Z/ { print $1 }'; }
now() { echo $(($(date +%s%N) / 1000000)); }

begin=$(now)
# shellcheck disable=SC2086
$mpiexec -n "$ranks" "$folder/$name" "$signal" "$rank" >"$folder/output" 2>&1 &
launcher=$!
have_begun=no
has_sent=no
took=0
while [ $took -lt 60000 ] && kill -0 $launcher 2>/dev/null; do
  if [ -n "$(left)" ]; then have_begun=yes; elif [ $have_begun = yes ]; then break; fi
  sleep 0.05
  if [ "$signal" = LONG ] && [ $has_sent = no ] && grep -q "^sends" "$folder/output"; then has_sent=yes begin=$(now); fi
  took=$(($(now) - begin))
done
# Open MPI's own end of an abort is not safe: mpiexec 4.1 may crash in it, or hang with all of its ranks dead.
while [ $(($(now) - begin - took)) -lt 10000 ] && kill -0 $launcher 2>/dev/null; do sleep 0.05; done
hangs=no
kill -0 $launcher 2>/dev/null && hangs=yes
remaining=$(left)
# shellcheck disable=SC2086
[ -z "$remaining" ] || kill -9 $remaining
[ $hangs = no ] || kill -9 $launcher
wait $launcher 2>/dev/null
status=$?

output=$(cat "$folder/output")
failed() { echo "$1; exit code $status after $took ms"; echo "$output"; exit 1; }
[ -z "$remaining" ] || failed "processes are left: $remaining"
[ $status -ne 0 ] || failed "it did not end with an error"
[ $took -le 10000 ] || failed "it took too long"
grep -qiE "rank $rank( |\b)" <<<"$output" || failed "no line names rank $rank"
if [ "$signal" = STOP ] || [ "$signal" = FAREWELL ]; then
  grep -q "^filch: rank .*: rank $rank has not answered for 5 s; ending all ranks" <<<"$output" || failed "no line of ours"
fi
if [ "$signal" = EARLY ] || [ "$signal" = THROW ] || [ "$signal" = ALONE ]; then
  grep -q "^filch: rank $rank: an exception leaves this rank, and not the others; ending" <<<"$output" || failed "no line of ours"
fi
if [ "$signal" = LEAVES ]; then
  grep -q "^filch: rank .*: rank $rank has left the cluster, and this rank waits for it" <<<"$output" || failed "no line of ours"
fi
if [ "$signal" = LATE ]; then
  grep -q "^filch: rank .*: rank $rank has not made its cluster 6 s after this rank" <<<"$output" || failed "no line of ours"
fi
if [ "$signal" = LONG ]; then
  grep -q "^filch: rank $rank: a message of 2147483648 bytes, where MPI takes" <<<"$output" || failed "no line of ours"
fi
[ $hangs = no ] || echo "mpiexec did not end although all ranks had"
echo "ended after $took ms, rank $rank named"
