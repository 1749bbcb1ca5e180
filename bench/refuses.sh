#!/usr/bin/env bash
# Requests that make no sense end the command lines with one line on stderr, nothing on stdout, and a failure.
#   refuses.sh BENCH SIMULATE EXAMPLES: two programs, and the folder of the examples ("" where they are not built, both)
set -uo pipefail
bench=$1 simulate=$2 examples=$3
root=$(cd "$(dirname "$0")/.." && pwd)
failed=0
# by PROGRAM TEXT ARGUMENT...: what it says has TEXT in it.
by() {
  local program=$1 text=$2 out err
  shift 2
  err=$(mktemp)
  # A request that is not refused may run for long.
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
refused --workload rows=10
refused --workload rows=0:spread
refused --workload rounds=256
refused --workload rounds=256:1:poll
refused --workload saxpy=10
refused --workload server=8
refused --workload lu=100
refused --workload fft=100
refused --workload rectmul=16:32
refused --workload heat=100:100
refused --workload cholesky=250:100
refused --workload cholesky=250:1000000
refused --workload mm=64:1:1
refused --workload stress=256:
says "server=0:200: expected CALLERS to be" --workload server=0:200
says "spc=10:0: expected MICROSECONDS to be" --workload spc=10:0
says "treerec=0:1:poll: expected NUMBER to be" --workload treerec=0:1:poll
says "rectmul=16:20:16: expected one or three multiples of 16" --workload rectmul=16:20:16
says "jacobi=64:0: expected STEPS to be" --workload jacobi=64:0
says "ssf=10:x: expected REPETITIONS to be" --workload ssf=10:x
says "stress=256:99: expected HEIGHT to be" --workload stress=256:99
refused paper
refused paper nonsense
refused paper wool --repeat 0
refused paper wool --svg /nowhere/there
refused --quick paper wool
refused --scheduler nonsense
refused --workers 0
refused --workers two
refused --repeat 0
refused --repeat -3
refused --repeat ""
refused --against ""
refused --format yaml
refused --nonsense

# Before the first line: one wrong size among right ones, a pool that can't be made.
refused --workload fib=10,uts=T9
refused --workload fib=60,cilksort=0 --format json
refused --against direct --workload fib=10,uts=T9
refused --space --workload fib=10,uts=T9
refused --channels 3 --workload nonsense
FILCH_STACK_SIZE=1 says "filch-bench: FILCH_STACK_SIZE" --workload fib=10 --workers 1
FILCH_STACK_SIZE=1 refused --micro
FILCH_STACK_SIZE=1 refused --space --workload fib=10 --workers 1
FILCH_STACK_SIZE=1 refused --channels 3 --workload fib=10 --workers 1
FILCH_STACK_SIZE=1 refused --against direct --workload fib=10 --workers 1
FILCH_STACK_SIZE=1 refused --stealing --workload fib=10 --workers 2
FILCH_STACK_SIZE=1 refused --loops
FILCH_STACK_SIZE=1 refused --algorithms
FILCH_STACK_SIZE=1 refused --server
FILCH_NUM_THREADS=nonsense says "filch-bench: FILCH_NUM_THREADS" --workload fib=10

# Twice.
refused --workload fib=10,fib=10
refused --workload all,fib
refused --scheduler direct,direct
refused --workers 1,1

# Options that a measurement would ignore.
refused --list --quick
refused --list --workload nonsense
refused --scheduler serial --workers 4
refused --quick --workload fib=10 --repeat 1
says "--long applies to the table only" --long --format json
says "--long applies to the table only" --long --micro
says "--json applies to the table only" --json rows.json --format json
says "--json applies to the table only" --json rows.json --loops
says "--html applies to the short table only" --html page.html --format csv
says "--html applies to the short table only" --html page.html --long
says "cannot write /nonexistent/page.html" --html /nonexistent/page.html --workload fib=10
says "cannot write /nonexistent/rows.json" --json /nonexistent/rows.json --workload fib=10 --long
says "--html has room for 4 columns" --html page.html --scheduler direct,channel --workers 1,2,3 --workload fib=10
says "--html has room for 4 columns" --html page.html --scheduler serial,direct --workload fib=10
says "skynet has no published size" --published --workload skynet
says "--published has no effect here" --published --workload fib=10
refused --published --quick
refused --published --loops
refused --micro --format csv
refused --micro --workload nonsense
refused --micro --scheduler serial
refused --micro --scheduler serial,direct
refused --micro --scheduler direct,onetbb
refused --micro --scheduler nonsense
refused --micro --repeat 3
refused --micro --space
refused --space --format csv
refused --space --scheduler direct
refused --space --scheduler direct,cactus
refused --space --repeat 3
refused --stealing --format csv
refused --stealing --scheduler direct
refused --stealing --workers 1
refused --stealing --workers 1,2
refused --channels 2
refused --channels 3 --format csv
refused --channels 3 --scheduler nonsense
refused --channels 3 --victims nonsense
refused --channels 3 --victims random --workers 1
says "without :poll" --channels 3 --workload spc=1000:10:poll
refused --victims random
refused --early-requests
refused --against nonsense
refused --against direct --format csv
refused --against direct --scheduler serial
refused --against direct --scheduler serial,channel
says "nothing to compare with direct" --against direct --scheduler direct
refused --against serial
refused --against direct --space
refused --loops --format csv
refused --loops --workload fib=10
refused --loops --workers 2
refused --loops --scheduler serial
refused --loops --server
refused --algorithms --format csv
refused --algorithms --loops
refused --algorithms --scheduler serial
says "unknown algorithm fib" --algorithms --workload fib
says "tiny has no pareto" --algorithms --workload tiny=pareto
refused --algorithms --workload reduce=0
refused --algorithms --workload sizes,reduce
refused --algorithms --workload tiny,tiny=reduce
refused --server --format csv
refused --server --workload fib=10
refused --server --workers 2
refused --server --scheduler nonsense
refused --server --scheduler direct,direct
refused --server --against direct
refused --server --micro
refused --server --repeat 0

# Options of --scheduler cluster (more in cluster/answers.sh). None of these needs MPI.
refused --scheduler cluster,direct
says "--micro does not apply to --scheduler cluster" --scheduler cluster --micro
says "--published does not apply to --scheduler cluster" --scheduler cluster --published
says "--space does not apply to --scheduler cluster" --scheduler cluster --space
says "--against does not apply to --scheduler cluster" --scheduler cluster --against direct
says "--server does not apply to --scheduler cluster" --scheduler cluster --server
OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=0 says "2 processes" --workload fib=10 --repeat 1
PMI_SIZE=2 PMI_RANK=0 says "2 processes" --list

if [ -n "$simulate" ]; then
  by "$simulate" "--tree is required"
  by "$simulate" "uts=T9" --tree T9
  by "$simulate" "--ranks" --tree T1 --ranks 0
  by "$simulate" "--look needs" --tree T1 --ranks 2 --look 5
  by "$simulate" "--switch needs" --tree T1 --ranks 2 --switch 5 --processors 2
fi

by "$root/models/check" "no run matches" nonsense
by "$root/tools/matrix" "no cell matches" nonsense
by "$root/tools/matrix" "no regular expression" '['
by "$root/tools/check-format" "unknown: --nonsense" --nonsense
by "$root/tools/check-edges" "unknown: x" x
by "$root/tools/measure-house" "unknown: x" x

if [ -n "$examples" ]; then
  by "$examples/example-fib" "from 1 to 90" abc
  by "$examples/example-primes" "from 1 on" -1
  by "$examples/example-quicksort" "from 1 to" -1
  by "$examples/example-reachable" "from 3 to" -1
  by "$examples/example-cluster_threads" "from 1 to" abc
fi
exit $failed
