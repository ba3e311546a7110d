#!/usr/bin/env bash
# Opens the pages of a run, of a check at home, of a student and of a class of 200 in headless Chromium: sorted, filtered,
# narrow, dark and printed, without an error on the console. Needs chromedriver
# (Debian: chromium, chromium-driver), curl and jq, which `lab test` does not install: without them it is skipped.
set -euo pipefail
bin=${LAB_BIN_DIR:?where the programs are} source_dir=${LAB_SOURCE_DIR:?where the sources are}
for program in chromium chromedriver curl jq; do
  type -P "$program" >/dev/null || { echo "SKIPPED: $program is not installed"; exit 77; }
done

scratch=$(mktemp -d)
driver=
finish() {
  [[ ! $driver ]] || kill "$driver" 2>/dev/null || true
  wait
  rm -rf -- "$scratch"
}
trap finish EXIT
failed=0
# check WHAT EXPECTED FOUND
check() {
  [[ $2 == "$3" ]] && return
  echo "FAILED: $1: expected '$2', got '$3'"
  failed=1
}
differs() {
  [[ $2 != "$3" ]] && return
  echo "FAILED: $1: still '$2'"
  failed=1
}

"$bin/a9_collectives" --nproc 3 --world threads --json "$scratch/run.json" >/dev/null 2>&1
"$bin/labcourse" view "$scratch/run.json" >/dev/null
"$bin/grading_sample_pages" "$scratch"
# What `lab check --html` makes of a wrong check, and of a lab that was not built.
mkdir "$scratch/checked"
jq -n --slurpfile run "$scratch/run.json" '[{task: "a9.allreduce", passed: false, skipped: false, todo: false, message: "0 of 1 checks right",
  checks: [{name: "AllReduceLarge", passed: false, skipped: false, message: "rank 0: expected 4, got 1", likely: "", label: "wrong",
    rank_lines: [], most_of_a_rank: {}, at_most: {}, timeline: $run[0].timeline}]}]' >"$scratch/checked/0000-a9_collectives.json"
echo "it was not built: the compiler's errors are in the log" >"$scratch/checked/0001-a4_data_tensor.problem"
printf '%s\n' "$source_dir/a4_data_tensor/student/x.cpp:3:7: error: 'y' was not declared" '    3 |   int x = y;' '      |           ^' \
  >"$scratch/checked/0001-a4_data_tensor.build"
"$bin/grading_sample_pages" "$scratch/checked" "$source_dir" "$scratch/check.html"

chromedriver --port=0 >"$scratch/driver.log" 2>&1 &
driver=$!
port=
for ((i = 0; i < 300 && ${#port} == 0; ++i)); do
  port=$(grep -oE 'on port [0-9]+' "$scratch/driver.log" | grep -oE '[0-9]+' | tail -1) || sleep 0.2
done
[[ $port ]] || { echo "FAILED: chromedriver did not start"; cat "$scratch/driver.log"; exit 1; }

# ask METHOD PATH [JSON]: the answer's value
ask() {
  curl -sS -X "$1" "http://127.0.0.1:$port$2" ${3:+-H 'Content-Type: application/json' --data "$3"} | jq -r '.value'
}
arguments='["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync", "--user-data-dir='$scratch'/profile"]'
session=/session/$(ask POST /session "{\"capabilities\": {\"alwaysMatch\": {\"browserName\": \"chrome\",
  \"goog:loggingPrefs\": {\"browser\": \"ALL\"}, \"goog:chromeOptions\": {\"binary\": \"$(type -P chromium)\",
  \"args\": $arguments}}}}" | jq -r .sessionId)
[[ $session != /session/null && $session != /session/ ]] || { echo "FAILED: Chromium did not start"; exit 1; }

# js CODE: what the function's body returns, as JSON in one line
js() { ask POST "$session/execute/sync" "$(jq -n --arg code "$1" '{script: $code, args: []}')"; }
open_page() { ask POST "$session/url" "{\"url\": \"file://$scratch/$1\"}" >/dev/null; }
device() { ask POST "$session/goog/cdp/execute" "{\"cmd\": \"$1\", \"params\": $2}" >/dev/null; }
status() { js "return document.querySelector('[role=status]').textContent"; }

# look PAGE: what holds of every page
look() {
  open_page "$1"
  check "$1: everything that can be used is reached by keyboard" 0 \
    "$(js "return [...document.querySelectorAll('a, button, input, select, summary, figure.timeline, pre')].filter(e => e.tabIndex < 0).length")"
  check "$1: one heading of the first level" 1 "$(js "return document.querySelectorAll('h1').length")"
  local light
  light=$(js "return getComputedStyle(document.body).backgroundColor")
  device Emulation.setDeviceMetricsOverride '{"width": 400, "height": 800, "deviceScaleFactor": 1, "mobile": false}'
  check "$1: no wider than 400 px" 400 "$(js "return Math.max(400, document.documentElement.scrollWidth)")"
  check "$1: text is not smaller than 11 px" 0 \
    "$(js "return [...document.querySelectorAll('p, td, th, dd, code, summary, text')].filter(e => parseFloat(getComputedStyle(e).fontSize) < 11).length")"
  device Emulation.setEmulatedMedia '{"features": [{"name": "prefers-color-scheme", "value": "dark"}]}'
  differs "$1: dark" "$light" "$(js "return getComputedStyle(document.body).backgroundColor")"
  device Emulation.setEmulatedMedia '{"features": []}'
  device Emulation.clearDeviceMetricsOverride '{}'
  [[ $(ask POST "$session/print" '{}' | base64 -d | head -c 5) == %PDF- ]] || { echo "FAILED: $1: cannot be printed"; failed=1; }
}

look run.html
differs "run.html: messages are drawn" 0 "$(js "return document.querySelectorAll('figure.timeline .arrow').length")"
check "run.html: a message says what it is" true "$(js "return [...document.querySelectorAll('figure.timeline .arrow > title')].every(title => /from rank \\d+ to rank \\d+: \\d+ B.*, takes /.test(title.textContent))")"
check "run.html: by two clocks" 6 "$(js "return [...document.querySelectorAll('figure.timeline text')].filter(text => /^rank \\d+$/.test(text.textContent)).length")"
differs "run.html: the critical path is in front of the boxes" 0 \
  "$(js "const boxes = document.querySelectorAll('figure.timeline .box'); return boxes[boxes.length - 1].compareDocumentPosition(document.querySelector('figure.timeline polyline.path:last-of-type')) & 4")"

# pictures PAGE NUMBER: of failed checks.
pictures() {
  check "$1: pictures" "$2" "$(js "return document.querySelectorAll('.check figure.timeline > svg').length")"
  check "$1: each has messages, a row for each rank, and says what it shows" 0 \
    "$(js "return [...document.querySelectorAll('.check figure.timeline')].filter(figure => figure.querySelectorAll('.arrow').length < 4 || \
      figure.querySelectorAll('text').length < 4 || !/ranks/.test(figure.querySelector('svg').getAttribute('aria-label'))).length")"
  check "$1: no wider than what it is in" 0 \
    "$(js "return [...document.querySelectorAll('.check figure.timeline')].filter(figure => figure.getBoundingClientRect().right > figure.closest('.check').getBoundingClientRect().right + 1).length")"
}

look check.html
pictures check.html 1
check "check.html: a compiler's message" "a4_data_tensor/student/x.cpp:3:7: error: 'y' was not declared" \
  "$(js "return document.querySelector('details[open] .inside > p').textContent")"
check "check.html: ... with its source line" true "$(js "return document.querySelector('details[open] pre').textContent.includes('3 |   int x = y;')")"

look report.html
pictures report.html 2
check "report.html: messages that were waited for in vain are dashed" 4 "$(js "return document.querySelectorAll('figure.timeline .arrow.dashed').length")"
check "report.html: what is wrong is open" true "$(js "return document.querySelectorAll('details[open] .check.wrong').length > 0")"
check "report.html: what is right is closed" 0 "$(js "return [...document.querySelectorAll('details[open] > summary > .state.right')].length")"

look index.html
check "index.html: a row for each student" 200 "$(js "return document.querySelectorAll('#students tbody tr').length")"
column() { js "return [...document.querySelectorAll('#students tbody tr')].map(row => row.cells[$1].dataset.value).join(' ')"; }
js "document.querySelectorAll('#students th button')[3].click()" >/dev/null
check "index.html: sorted by sum" "$(column 3 | tr ' ' '\n' | sort -n)" "$(column 3 | tr ' ' '\n')"
js "document.querySelectorAll('#students th button')[3].click()" >/dev/null
check "index.html: and the other way" "$(column 3 | tr ' ' '\n' | sort -rn)" "$(column 3 | tr ' ' '\n')"
check "index.html: says so" descending "$(js "return document.querySelectorAll('#students th')[3].getAttribute('aria-sort')")"
js "const filter = document.getElementById('filter'); filter.value = 'another student'; filter.dispatchEvent(new Event('input'))" >/dev/null
check "index.html: filtered" "5 of 200" "$(status)"
check "index.html: only these are shown" 5 "$(js "return [...document.querySelectorAll('#students tbody tr')].filter(row => row.offsetHeight > 0).length")"

check "nothing on the console" '[]' "$(ask POST "$session/se/log" '{"type": "browser"}' | jq -c .)"
ask DELETE "$session" >/dev/null
[[ $failed == 0 ]] && echo "all pages are as they should be"
exit "$failed"
