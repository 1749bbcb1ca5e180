#!/usr/bin/env bash
# A program that is linked with -fsanitize=thread has the compiler's runtime, too. It ends with one line.
#   other_runtime.sh COMPILER OBJECT LIBRARY FOLDER
set -uo pipefail
compiler=$1 object=$2 library=$3 folder=$4

mkdir -p "$folder"
if ! echo 'int main() {}' | "$compiler" -fsanitize=thread -x c++ - -o "$folder/without" 2>/dev/null; then
  echo "skipped: $compiler has no runtime for -fsanitize=thread"
  exit 0
fi
"$compiler" -fsanitize=thread "$object" "$library" -ldl -pthread -o "$folder/with" || exit 1
output=$("$folder/with" all 2>&1)
status=$?
echo "$output"
if [ $status -lt 128 ]; then echo "FAILED: exit status $status"; exit 1; fi
if [ "$output" != "${output#filch: races: the program is linked with -fsanitize=thread}" ] && [ "$(wc -l <<<"$output")" = 1 ]; then exit 0; fi
echo "FAILED: not one line"
exit 1
