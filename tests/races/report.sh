#!/usr/bin/env bash
# The report of a checked program: text, JSON, suppressions, the option for atomics, and exit status.
#   report.sh PROGRAM FOLDER
set -uo pipefail
program=$1 folder=$2
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }

mkdir -p "$folder"
FILCH_RACES_OUT=$folder/races.txt "$program" all || status=$?
[ "${status:-0}" = 66 ] || fail "exit status ${status:-0} with races"
count=$(grep -c '^race ' "$folder/races.txt")
[ "$count" -gt 10 ] || fail "$count races in text"
tail -n 1 "$folder/races.txt" | grep -qE "^filch: $count races in [0-9]+ forks[.] In the instrumented code of this run there is no other on any number of workers; [0-9]+ calls into code that was not instrumented.*[.]$" || fail "last line"
for words in 'race .*: cases::written_twice$' 'race .*: the stack frame of .*cases::helper<' 'race .*: byte [0-9]+ of [0-9]+ allocated$' \
  '^  parallel since the join at$' '^  parallel since the spawn at$' '^  allocated at$' 'main .*forks.cpp:[0-9]+$'; do
  grep -qE "$words" "$folder/races.txt" || fail "no line with: $words"
done

# Without debugging information there are no lines, and still no functions of the library.
strip -g -o "$folder/without_lines" "$program"
FILCH_RACES_OUT=$folder/without_lines.txt "$folder/without_lines" all
grep -qE '^    ((decltype[(]auto[)]|void|bool) )?(filch|std)::' "$folder/without_lines.txt" && fail "functions of the library"
grep -qE '^    main' "$folder/without_lines.txt" || fail "no function of the program without lines"
grep -qE ':0$' "$folder/without_lines.txt" && fail "line 0"

FILCH_RACES_OUT=$folder/races.json "$program" all
[ "$(grep -o '"earlier"' "$folder/races.json" | wc -l)" = "$count" ] || fail "races in JSON"
if command -v python3 >/dev/null; then
  python3 -m json.tool "$folder/races.json" >/dev/null || fail "this is no JSON"
fi

printf '# all of them\nforks.cpp\n' >"$folder/all"
FILCH_RACES_SUPPRESSIONS=$folder/all FILCH_RACES_OUT=$folder/none.txt "$program" all || fail "exit status without races"
tail -n 1 "$folder/none.txt" | grep -q "^filch: 0 races in .*; $count suppressed" || fail "all suppressed"
printf 'written_*\n' >"$folder/one"
FILCH_RACES_SUPPRESSIONS=$folder/one FILCH_RACES_OUT=$folder/others.txt "$program" all
tail -n 1 "$folder/others.txt" | grep -q "^filch: $((count - 1)) races in .*; 1 suppressed" || fail "one suppressed"

# Races beyond those that a report keeps may not be hidden.
status=0
FILCH_RACES_SUPPRESSIONS=$folder/all FILCH_RACES_OUT=$folder/many.txt "$program" many || status=$?
[ "$status" = 66 ] || fail "exit status $status with races that were not kept"
tail -n 1 "$folder/many.txt" | grep -q "; 1000 suppressed; 3 more found and not kept" || fail "races that were not kept"

for file in "$folder/none/races.txt" /dev/full; do
  FILCH_RACES_OUT=$file "$program" all 2>"$folder/errors.txt"
  [ "$(grep -c '^race ' "$folder/errors.txt")" = "$count" ] || fail "no report where $file can't be written"
done

FILCH_RACES_ATOMICS=1 FILCH_RACES_OUT=$folder/atomics.txt "$program" all
[ "$(grep -c '^race ' "$folder/atomics.txt")" -gt "$count" ] || fail "no race of atomics"
echo "$failures failures"
[ $failures = 0 ]
