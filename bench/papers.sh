#!/usr/bin/env bash
# Each paper at tiny sizes: rows come out, drawings are XML, and the page has a section for each paper, without empty cells.
#   papers.sh BENCH
set -uo pipefail
bench=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0
wrong() { echo "$*" >&2; failed=1; }
papers="wool fibril channels trycatch barriers"
printf '# Papers\n\nKept.\n\n## 9. Another section\n\nKept, too.\n' >"$folder/page.md"
for paper in $papers; do
  timeout 200 "$bench" paper $paper --tiny --repeat 1 --svg "$folder" --markdown "$folder/page.md" >"$folder/$paper.txt" ||
    wrong "paper $paper has failed"
  [ "$(grep -cE '^(Table|Figure)' "$folder/$paper.txt")" -ge 5 ] || wrong "paper $paper has too few tables"
  grep -qE '(^|[ (:])-?(nan|inf)([ ,]|$)' "$folder/$paper.txt" && wrong "paper $paper: not a number"
done
# A second time a section is replaced.
"$bench" paper barriers --tiny --repeat 1 --markdown "$folder/page.md" >/dev/null || wrong "again: failed"
[ "$(grep -c '^## ' "$folder/page.md")" = 6 ] || wrong "$(grep '^## ' "$folder/page.md"): not a section for each paper"
grep -qx 'Kept.' "$folder/page.md" && grep -qx 'Kept, too.' "$folder/page.md" || wrong "the rest of the page is lost"
[ "$(grep -cE '^\| [^|]+ \| [^|]+ \| [^|]*[0-9][^|]* \| (repeated|not repeated|not repeatable here)' "$folder/page.md")" \
  = "$(grep -cE '^\| [A-Z]' "$folder/page.md")" ] || wrong "a row without a number of ours: $(cat "$folder/page.md")"
drawings=("$folder"/*.svg)
[ "${#drawings[@]}" -ge 30 ] || wrong "${#drawings[@]} drawings"
python3 - "${drawings[@]}" <<'END' || wrong "a drawing is no XML, or is empty"
import sys, xml.dom.minidom
for name in sys.argv[1:]:
    page = xml.dom.minidom.parse(name)
    assert page.getElementsByTagName("circle") or page.getElementsByTagName("rect"), name
    assert len(page.getElementsByTagName("text")) > 5, name
END
[ $failed -eq 0 ] && echo "five papers, ${#drawings[@]} drawings"
exit $failed
