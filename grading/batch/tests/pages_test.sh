#!/usr/bin/env bash
# Opens the pages of a run, of a student and of a class of 200 in headless Chromium: sorted, filtered, zoomed, walked
# through by keyboard, narrow, dark and printed, without an error on the console. Needs chromedriver (Debian: chromium,
# chromium-driver), curl and jq, which `lab test` does not install: without them it is skipped.
set -euo pipefail
bin=${LAB_BIN_DIR:?where the programs are}
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
# press KEY: to what has the focus
press() {
  ask POST "$session/actions" "$(jq -n --arg key "$1" \
    '{actions: [{type: "key", id: "k", actions: [{type: "keyDown", value: $key}, {type: "keyUp", value: $key}]}]}')" >/dev/null
}
status() { js "return document.querySelector('[role=status]').textContent"; }

# look PAGE: what holds of every page
look() {
  open_page "$1"
  check "$1: everything that can be used is reached by keyboard" 0 \
    "$(js "return [...document.querySelectorAll('a, button, input, select, summary, figure.timeline > svg, pre')].filter(e => e.tabIndex < 0).length")"
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
before=$(js "return document.querySelectorAll('figure.timeline line.arrow').length")
differs "run.html: messages are drawn" 0 "$before"
whole=$(status)
js "document.querySelector('figure.timeline button[aria-label=\"zoom in\"]').click()" >/dev/null
js "document.querySelector('figure.timeline button[aria-label=\"zoom in\"]').click()" >/dev/null
differs "run.html: zoomed in, fewer messages" "$before" "$(js "return document.querySelectorAll('figure.timeline line.arrow').length")"
js "document.querySelector('figure.timeline > svg').focus()" >/dev/null
press $'\uE011' # Home
check "run.html: Home shows all" "$before" "$(js "return document.querySelectorAll('figure.timeline line.arrow').length")"
press $'\uE015' # down
first=$(status)
differs "run.html: an arrow key describes the first message" "$whole" "$first"
press $'\uE015'
differs "run.html: and then the next" "$first" "$(status)"
check "run.html: one is marked" 1 "$(js "return document.querySelectorAll('figure.timeline .chosen').length")"
js "const choice = document.querySelector('figure.timeline select'); choice.value = 1; choice.dispatchEvent(new Event('change'))" >/dev/null
differs "run.html: the other clock" "$whole" "$(status)"
js "document.querySelectorAll('figure.timeline line.arrow')[0].dispatchEvent(new PointerEvent('pointerenter'))" >/dev/null
check "run.html: hovering describes a message" true "$(js "return /from rank \\d+ to rank \\d+: \\d+ B/.test(document.querySelector('[role=status]').textContent)")"

look report.html
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
