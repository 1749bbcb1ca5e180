#!/usr/bin/env bash
# Requests that make no sense end filch-bench with one line on stderr, nothing on stdout, and a failure.
set -uo pipefail
bench=$1
failed=0
refused() {
  local out err
  err=$(mktemp)
  if out=$("$bench" "$@" 2>"$err") || [ -n "$out" ] || [ "$(wc -l <"$err")" -ne 1 ]; then
    echo "not refused as it should be: $*" >&2
    failed=1
  fi
  rm -f "$err"
}
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
refused --scheduler nonsense
refused --workers 0
refused --workers two
refused --repeat 0
refused --repeat -3
refused --format yaml
refused --micro --format csv
refused --space --format csv
refused --stealing --format csv
refused --channels 2
refused --channels 3 --format csv
refused --nonsense
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
