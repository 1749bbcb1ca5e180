#!/usr/bin/env bash
# Both forms of the table and the files that are written beside them, over small workloads.
#   files.sh BENCH
set -euo pipefail
bench=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
expect() {  # expect FILE TEXT
  if ! grep -qF -- "$2" "$folder/$1"; then
    echo "$1 lacks: $2" >&2
    cat "$folder/$1" >&2
    exit 1
  fi
}
rows() { grep -c '"workload": ' "$folder/$1"; }
equal() {  # equal WHAT FOUND EXPECTED
  [ "$2" = "$3" ] || { echo "$1: $2 in place of $3" >&2; exit 1; }
}

# fib=15 stands for a size that is named: peers get the same.
"$bench" --workload fib=15,server=2:1000 --workers 1,2 --repeat 1 --html "$folder/page" --json "$folder/rows" >"$folder/short"
expect short "workload             serial       1 worker      2 workers"
expect short "fib=15"
expect short "server=2:1000"
expect short "On 2 workers Filch is"
expect page "<h2>fib=15 (serial: "
expect page "</html>"
expect rows '"size": "2:1000"'
equal "columns in the head" "$(grep -o 'Filch\|oneTBB\|OpenMP' <<<"$(sed -n 3p "$folder/short")" | wc -l)" 4
if grep -q $'\033' "$folder/short"; then echo "colours in a file" >&2; exit 1; fi

"$bench" --workload fib=15 --scheduler direct,channel --workers 1,2 --repeat 1 --json "$folder/rows" >"$folder/named"
expect named "channel"
equal "rows" "$(rows rows)" 4

# No room in the short table: a scheduler without workers, or too many columns.
"$bench" --workload fib=15 --scheduler serial,direct --repeat 1 >"$folder/long"
expect long "baseline: the"
"$bench" --workload fib=15 --scheduler direct,channel --workers 1,2,3 --repeat 1 --json "$folder/rows" >"$folder/long"
expect long "baseline: the"
equal "rows" "$(rows rows)" 6
"$bench" --workload fib=15 --scheduler direct --workers 1,2 --repeat 1 --long >"$folder/long"
expect long "baseline: the"

"$bench" --published --workload nqueens-array,fib=15 --scheduler direct --workers 1 --repeat 1 --json "$folder/rows" >/dev/null
equal "rows" "$(rows rows)" 2
expect rows '"size": "12"'

# A file that can be opened and not written.
if "$bench" --workload fib=10 --scheduler direct --workers 1 --repeat 1 --json /dev/full >/dev/null 2>"$folder/full"; then
  echo "a full disk goes unnoticed" >&2
  exit 1
fi
expect full "cannot write /dev/full"
