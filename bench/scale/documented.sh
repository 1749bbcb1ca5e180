#!/usr/bin/env bash
# Does docs/scale.md say what the simulator says? Runs the commands of the small tree in it, and looks for each line of
# what they print.
#   documented.sh SIMULATE PAGE
set -uo pipefail
simulate=$1 page=$2
failed=0 count=0
while read -r options; do
  # shellcheck disable=SC2086
  while read -r line; do
    count=$((count + 1))
    grep -qF -- "$line" "$page" || { echo "not in $page: $line" >&2; failed=1; }
  done < <("$simulate" $options || echo "scale-simulate failed")
done < <(sed -n 's/^\$ scale-simulate \(--tree T1 .*\)/\1/p' "$page")
[ $count -gt 5 ] || { echo "no commands in $page" >&2; exit 1; }
exit $failed
