# hooke run --report: one page about the run.

# A Python expression about f, the facts in the report of a folder, is true.
facts() {
  python3 -c 'import json, re, sys
page = open(sys.argv[1] + "/report.html", encoding="utf-8").read()
f = json.loads(re.search(r"id=\"data-facts\">([^<]*)</script>", page).group(1))
sys.exit(0 if eval(sys.argv[2]) else 1)' "$1" "$2" || fail "not true: $2"
}

test_report_is_one_page_that_asks_nobody() {
  scene s.json 5 0.1
  expect 0 hooke run s.json --report --set time.step=5e-5
  says out 's-out/report.html'
  [ ! -e s-out/report.html.tmp ]
  facts s-out 'f["status"] == "done" and f["title"] == "A \"test\" scene"'
  facts s-out 'f["command"] == "hooke run s.json --set time.step=5e-5 --report"'
  facts s-out 'f["frames"]["count"] == 11 and f["notes"] == []'
  ! grep -E '(src|href) *=|url\(|@import|https?://[^w]' s-out/report.html || fail 'it asks for something'
  expect 0 hooke run s.json --force
  [ ! -e s-out/report.html ] || fail 'the report of the earlier run is still there'
  expect 0 hooke run oscillator --report --json -q --threads 1
  json '"report.html" in j["files"]'
  facts oscillator-out 'f["command"] == "hooke run oscillator --report --threads 1"'
}

test_report_leaves_all_other_files_as_they_are() {
  scene s.json 5 0.1
  expect 0 hooke run s.json -q -o plain
  expect 0 hooke run s.json -q -o reported --report
  rm reported/report.html
  same plain reported
}

test_ctrl_c_leaves_a_report_that_a_resumed_run_completes() {
  long_scene s.json
  start run s.json --report
  wait_frames s-out
  kill -INT "$child"
  wait_child
  [ "$code" = 130 ] || fail "ended with $code: $(cat err)"
  says err 'go on with: hooke run s.json --report --resume'
  facts s-out 'f["status"] == "stopped" and 0 < f["run"]["frame"] < f["run"]["frames"]'
  expect 0 hooke run s.json --report --resume
  facts s-out 'f["status"] == "done" and f["frames"]["first"] == 0 and f["frames"]["last"] == 400'
  facts s-out '"what came before is in this report" in f["notes"][0]'
  # Without a frame to add it stays as it is, but for the date.
  expect 0 hooke run s.json --report --resume
  facts s-out 'f["frames"]["count"] == 401'
}

test_blow_up_leaves_a_report_that_names_it() {
  scene s.json 5 3
  expect 4 hooke run s.json --report --set integrator=forward_euler --set time.step=0.01
  says err 's-out/report.html'
  facts s-out 'f["status"] == "blowup" and "blew up at t =" in f["message"]'
}

test_report_that_does_not_fit_is_one_error() {
  scene s.json 20 0.1
  code=0
  (
    ulimit -f 80
    "$HOOKE" run s.json -q --report >out 2>err
  ) || code=$?
  [ "$code" = 3 ] || fail "ended with $code: $(cat err)"
  one_error 's-out/report.html: cannot write: File too large'
  [ ! -e s-out/report.html ] && [ ! -e s-out/report.html.tmp ]
}
