# What a person sees: the bar on a terminal, plain lines elsewhere.

# Runs hooke on a terminal of so many columns; what it showed is in the file out.
on_terminal() {
  local wanted=$1 columns=$2 code=0
  shift 2
  python3 "$HERE/on_terminal.py" "$columns" "$HOOKE" "$@" >out || code=$?
  [ "$code" = "$wanted" ] || fail "$* ended with $code, not $wanted: $(head -c 2000 out)"
}

test_terminal_shows_a_bar_with_rates() {
  scene s.json 400 4
  on_terminal 0 100 run s.json
  grep -qE $'\r *[0-9]+ % \\[=*>? *\\] [0-9]+/400 frames, [0-9.,]+ frames/s, [0-9.,]+ steps/s, [0-9.]+ (s|min .*) left' out ||
    fail "no bar: $(head -c 3000 out)"
  says out 'done: 400 frames'
  # The bar is erased before the summary begins.
  grep -q $'\r *\rdone: ' out || fail "the bar stays: $(tail -c 2000 out)"
}

test_terminal_bar_fits_the_width() {
  scene s.json 400 4
  for columns in 30 60; do
    on_terminal 0 "$columns" run s.json --force
    tr '\r' '\n' <out | grep -E '^ *[0-9]+ %' >bars
    awk -v most="$columns" 'length($0) >= most {bad = 1} END {exit bad}' bars ||
      fail "wider than $columns: $(head -3 bars)"
  done
}

test_terminal_gets_no_escapes() {
  scene s.json 50 0.5
  on_terminal 0 80 run s.json
  ! grep -q $'\033' out
}

test_terminal_bar_gives_way_to_warnings() {
  scene s.json 5 1
  on_terminal 0 100 run s.json --set time.step=0.01 --set time.frames_per_second=5 --on-blowup halve
  tr '\r' '\n' <out | grep -q '^warning: the motion blew up' || fail "$(head -c 3000 out)"
}

test_quiet_terminal_stays_empty() {
  scene s.json
  on_terminal 0 80 run s.json --quiet
  silent out
}

test_files_get_plain_lines() {
  scene s.json 400 4
  expect 0 hooke run s.json --set time.step=4e-6
  grep -qE '^ *[0-9]+ % [0-9]+/400 frames, [0-9.,]+ frames/s, [0-9.,]+ steps/s, .* left$' err ||
    fail "no lines: $(cat err)"
  ! grep -q $'[\r\033]' out err
  [ "$(grep -c 'frames/s' err)" -le 100 ]
}
