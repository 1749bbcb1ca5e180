#!/usr/bin/env bash
# Requests that make no sense end filch-bench with one line on stderr, nothing on stdout, and a failure.
set -uo pipefail
bench=$1
failed=0
# by PROGRAM TEXT ARGUMENT...: what it says has TEXT in it.
by() {
  local program=$1 text=$2 out err
  shift 2
  err=$(mktemp)
  # What is not refused may run for long.
  if out=$(timeout 60 "$program" "$@" 2>"$err") || [ -n "$out" ] || [ "$(wc -l <"$err")" -ne 1 ] || ! grep -qF -- "$text" "$err"; then
    echo "not refused as it should be: $(basename "$program") $*: $(head -n 3 "$err")" >&2
    failed=1
  fi
  rm -f "$err"
}
refused() { by "$bench" "filch-bench: " "$@"; }
says() { by "$bench" "$@"; }

# Names, sizes, numbers.
refused --workload nonsense
refused --workload fib=-1
refused --workload fib=abc
refused --workload fib=
refused --workload fib=99999999999999999999999
refused --workload uts=T9
refused --workload stress=256
refused --workload matmul=1000
refused --workload sparselu=100
refused --workload spc=100
refused --workload bpc=100:10:pool
says "spc=10:0: expected MICROSECONDS to be" --workload spc=10:0
says "treerec=0:1:poll: expected NUMBER to be" --workload treerec=0:1:poll
says "stress=256:99: expected HEIGHT to be" --workload stress=256:99
refused --scheduler nonsense
refused --workers 0
refused --workers two
refused --repeat 0
refused --repeat -3
refused --format yaml
refused --nonsense

refused --micro --format csv
refused --space --format csv
refused --stealing --format csv
refused --channels 2
refused --channels 3 --format csv
refused --scheduler cluster,direct
refused --micro --workload nonsense
refused --micro --scheduler serial
refused --micro --scheduler nonsense
refused --micro --repeat 3
refused --micro --space
refused --space --scheduler direct
refused --space --repeat 3
refused --channels 3 --scheduler nonsense
refused --channels 3 --victims nonsense
refused --victims random
refused --early-requests
refused --stealing --scheduler direct
refused --against nonsense
refused --against direct --format csv
refused --against direct --scheduler serial
refused --against serial
refused --against direct --space
exit $failed
