# hooke render: pictures and films.

# Skips where nothing can be drawn: a build without EGL, a machine without a driver.
can_draw() {
  [ ! -e "$WORK/draws" ] || return 0
  hooke render oscillator -o try.png --size 16x16 --frame 0 -q >/dev/null 2>why ||
    skip "$(sed 's/^hooke: //' why)"
  rm -f try.png why
  touch "$WORK/draws"
}

# shows FILE EXPRESSION: what picture.py says about it is true.
shows() {
  python3 "$HERE/picture.py" "$1" "$2" || fail "not true of $1: $2; $(python3 "$HERE/picture.py" "$1")"
}

# A program of the name ffmpeg that does what stands in the script, first in PATH. The last of its
# arguments is the file.
fake_ffmpeg() {
  mkdir -p bin
  { echo '#!/bin/sh'; echo 'for last; do :; done; last=${last#file:}'; echo "$1"; } >bin/ffmpeg
  chmod +x bin/ffmpeg
  PATH=$PWD/bin:$PATH
}

# A small cloth that moves for some frames, with what can be read back.
cloth() {
  cat >"$1" <<'END'
{"bodies": [{"shape": {"type": "grid", "nx": 9, "ny": 9}, "springs": {"EA": 20, "shear": true}}],
 "pins": [{"select": "top_left"}], "forces": ["gravity", {"type": "wind", "velocity": [0, 0, 3]}],
 "time": {"duration": 0.5, "frames_per_second": 10}, "outputs": ["vtp", "pc2"]}
END
}

test_render_shows_every_built_in_scene() {
  can_draw
  expect 0 hooke scenes --json
  for scene in $(python3 -c 'import json; print(*[s["name"] for s in json.load(open("out"))])'); do
    expect 0 hooke render "$scene" -o "$scene.png" --size 192x108 --time 0.2 -q
    silent err
    silent out
    # A ground is wider than the picture, and all around.
    if grep -q '"ground": true' "$HERE/../../scenes/$scene.json"; then
      shows "$scene.png" '(width, height) == (192, 108) and 0.02 < share and colors >= 2'
      continue
    fi
    # Thin threads cover few pixels but span the picture, too. Water is wider than the picture.
    shows "$scene.png" '(width, height) == (192, 108) and 0.003 < share < 0.8 and colors >= 2 and
      max(box[2] - box[0], box[3] - box[1]) > 0.6 and
      abs(box[0] + box[2] - 1) < 0.2 and abs(box[1] + box[3] - 1) < 0.3 and
      min(box[0], box[1], 1 - box[2], 1 - box[3]) > ('"$([ "$scene" = ball ] && echo -1 || echo 0.01)"')'
  done
}

test_render_draws_obstacles_where_they_are_in_each_frame() {
  can_draw
  cat >s.json <<'END'
{"bodies": [{"shape": {"type": "chain", "n": 2, "start": [0, 0.9, 0], "end": [0, 1, 0]}}], "pins": [{"select": {"all": true}}],
 "obstacles": [{"type": "ball", "center": [-0.5, 0, 0], "radius": 0.3,
                "motion": {"type": "keyframes", "table": [[0, 0, 0, 0], [0.5, 1, 0, 0]]}}],
 "time": {"duration": 0.5, "step": 0.05, "frames_per_second": 10}}
END
  for frame in 0 5; do
    expect 0 hooke render s.json -o "$frame.png" --size 160x120 --frame "$frame" --camera 0,0,3/0,0,0
  done
  shows 0.png 'share > 0.02 and max(x for x, y in things if y > 40) < 80'
  shows 5.png 'share > 0.02 and min(x for x, y in things if y > 40) > 80'
}

test_render_twice_gives_the_same_bytes() {
  can_draw
  cloth s.json
  expect 0 hooke render s.json -o a.png --size 160x120 --color strain
  expect 0 hooke render s.json -o b.png --size 160x120 --color strain --threads 1
  cmp a.png b.png
}

test_render_of_a_run_is_that_of_its_scene() {
  can_draw
  cloth s.json
  expect 0 hooke run s.json -q
  expect 0 hooke render s.json -o scene.png --size 160x120 --frame 3 --color strain
  expect 0 hooke render s-out -o run.png --size 160x120 --time 0.3 --color strain
  cmp scene.png run.png
  # The same from the other output, and from the scene that the run left.
  expect 0 hooke run s.json -q -o pc2 --set 'outputs=["pc2"]'
  expect 0 hooke render pc2/ -o pc2.png --size 160x120 --frame 3 --color strain
  cmp scene.png pc2.png
  expect 0 hooke render pc2/run.json -o again.png --size 160x120 --frame 3 --color strain
  cmp scene.png again.png
}

test_render_of_a_run_takes_what_was_written() {
  can_draw
  cloth s.json
  expect 0 hooke run s.json -q --set 'outputs=[{"type": "vtu", "every": 2}]'
  expect 0 hooke render s-out -o a.png --size 32x32 --frame 4
  expect 1 hooke render s-out -o b.png --size 32x32 --frame 3
  one_error 'frame 3 was not written'
  expect 1 hooke render s-out -o b.png --size 32x32 --frame 6
  one_error 'ends with frame 4 at 0.4 s'
  rm s-out/vtu/frame_000004.vtu
  expect 0 hooke render s-out -o a.png --size 32x32
  says out 'at 0.2 s'
  printf 'broken' >s-out/vtu/frame_000002.vtu
  expect 1 hooke render s-out -o b.png --size 32x32
  one_error "frame_000002.vtu: has no whole array 'Points'"
  [ ! -e b.png ]
}

test_render_of_a_run_says_which_output_is_missing() {
  can_draw
  cloth s.json
  expect 0 hooke run s.json -q --set 'outputs=["energies"]'
  expect 1 hooke render s-out -o a.png
  one_error 'add "vtp"'
  says err 's-out/run.json'
  expect 0 hooke run s.json -q --force --set 'outputs=["pc2"]'
  expect 1 hooke render s-out -o a.png --color speed
  one_error 'no velocities'
  expect 1 hooke render s-out -o a.png --set time.duration=1
  one_error '--set is for scenes'
  mkdir empty
  expect 3 hooke render empty -o a.png
  one_error 'empty'
  [ ! -e a.png ]
}

test_render_colors_by_strain_and_speed() {
  can_draw
  cloth s.json
  expect 0 hooke render s.json -o strain.png --size 200x160 --color strain --set 'bodies[0].springs.EA=2'
  shows strain.png 'sum(1 for x, y in things if p[y][x][0] > p[y][x][2] + 40) > 50' # stretched
  # The legend has both ends.
  shows strain.png 'any(p[y][x][2] > p[y][x][0] + 40 for x, y in things if y > 0.7 * height)'
  shows strain.png 'any(p[y][x][0] > p[y][x][2] + 40 for x, y in things if y > 0.7 * height)'
  expect 0 hooke render s.json -o speed.png --size 200x160 --color speed --range 0.001
  # All of it is faster than that: the yellow end.
  shows speed.png 'sum(1 for x, y in things if p[y][x][1] > p[y][x][2] + 60 and y < 0.7 * height) > 500'
}

test_render_clock_is_the_time() {
  can_draw
  cloth s.json
  expect 0 hooke render s.json -o without.png --size 200x160
  expect 0 hooke render s.json -o with.png --size 200x160 --clock
  shows without.png 'not any(x < 0.4 * width and y > 0.9 * height for x, y in things)'
  shows with.png 'any(x < 0.4 * width and y > 0.9 * height for x, y in things)'
}

test_render_films_have_every_frame() {
  can_draw
  cloth s.json
  fake_ffmpeg 'wc -c >"$last"; echo "$*" >arguments'
  expect 0 hooke render s.json -o s.mp4 --size 64x48
  says out 's.mp4: 6 pictures, 0.6 s at 10 a second, 64 x 48 pixels'
  [ "$(cat s.mp4)" -eq $((6 * 64 * 48 * 4)) ] || fail "$(cat s.mp4) bytes"
  says arguments '-s 64x48 -r 10 -i pipe:0'
  expect 0 hooke render s.json -o s.gif --from 0.1 --to 0.3 --speed 0.5 --size 64x48 -q
  silent out
  [ "$(cat s.gif)" -eq $((5 * 64 * 48 * 4)) ] || fail "$(cat s.gif) bytes"
  [ "$(ls)" = "$(printf 'arguments\nbin\nerr\nout\ns.gif\ns.json\ns.mp4')" ] || fail "$(ls)"
}

test_render_does_not_wait_for_pipes() {
  can_draw
  cloth s.json
  for output in vtp pc2; do
    expect 0 hooke run s.json -q -f --set "outputs=[\"$output\"]"
    for file in s-out/mesh.pc2 s-out/vtp/*; do
      [ -e "$file" ] || continue
      rm "$file"
      mkfifo "$file"
    done
    expect 3 timeout 20 "$HOOKE" render s-out -o a.png --size 64x48
    says err 'Invalid argument'
    rm -r s-out
  done
}

test_render_films_may_have_any_name() {
  can_draw
  cloth s.json
  command -v ffmpeg >/dev/null || skip 'there is no ffmpeg'
  for name in -x.gif a:b.gif pipe:1.gif 'concat:a|b.gif' '-y .gif'; do
    expect 0 hooke render s.json "--output=$name" --size 64x48 -q
    [ "$(head -c 4 "./$name")" = GIF8 ] || fail "$name is no film"
  done
  mkdir http:
  expect 0 hooke render s.json -o http:/x.gif --size 64x48 -q
  [ "$(head -c 4 http:/x.gif)" = GIF8 ]
}

test_render_films_are_what_their_names_say() {
  can_draw
  command -v ffmpeg >/dev/null || skip 'there is no ffmpeg'
  cloth s.json
  for ending in mp4 webm gif; do
    expect 0 hooke render s.json -o "s.$ending" --size 64x48
    frames=$(ffprobe -v error -count_frames -select_streams v -show_entries stream=nb_read_frames \
      -of csv=p=0 "s.$ending")
    [ "${frames%,}" = 6 ] || fail "s.$ending has $frames frames"
  done
  ffprobe -v error -show_entries stream=codec_name,width,height,pix_fmt -of csv=p=0 s.mp4 >probe
  says probe 'h264,64,48,yuv420p'
  # The same bytes again.
  mkdir again
  for ending in mp4 webm gif; do
    expect 0 hooke render s.json -o "again/s.$ending" --size 64x48 -q
    cmp "s.$ending" "again/s.$ending"
  done
}

test_render_without_ffmpeg_says_how_to_get_it() {
  can_draw
  mkdir none
  expect 3 env PATH="$PWD/none" "$HOOKE" render flag -o flag.mp4
  one_error 'apt-get install ffmpeg'
  expect 0 env PATH="$PWD/none" "$HOOKE" render flag -o flag.png --frame 0 --size 32x32
  [ ! -e flag.mp4 ] && [ ! -e flag.mp4.tmp ]
}

test_render_prints_what_ffmpeg_said() {
  can_draw
  cloth s.json
  echo precious >s.mp4
  fake_ffmpeg 'echo half >"$last"; echo "the codec is broken" >&2; exit 1'
  expect 3 hooke render s.json -o s.mp4 --size 640x480 --quiet
  one_error 'ffmpeg failed: the codec is broken'
  [ "$(cat s.mp4)" = precious ]
  [ ! -e s.mp4.tmp ]
}

test_render_checks_its_options() {
  can_draw
  for size in 10x10 1280 1280x 0x0 axb 1280x720x2 99999x100 -5x20; do
    expect 2 hooke render flag -o a.png --size "$size"
    one_error "not '$size'"
  done
  expect 2 hooke render flag -o a.mp4 --size 641x360
  one_error '642x360'
  for view in 30 1,2,3,4 0,95 x,y 1,2,3/4,5; do
    expect 2 hooke render flag -o a.png --camera "$view"
    one_error "not '$view'"
  done
  expect 2 hooke render flag -o a.png --color strian
  one_error 'none|strain|speed'
  expect 2 hooke render flag
  one_error '-o NAME.png'
  expect 2 hooke render flag -o a.avi
  one_error '.png, .gif, .mp4 or .webm'
  expect 2 hooke render flag -o a.png --fps 10
  one_error 'for films'
  expect 2 hooke render flag -o a.mp4 --frame 3
  one_error '--from'
  expect 2 hooke render flag -o a.png --frame 3 --time 1
  one_error 'give one'
  expect 2 hooke render flag -o a.png --range 3
  one_error '--color'
  expect 1 hooke render flag -o a.png --time 99
  one_error 'there is no 99 s'
  expect 3 hooke render flagg -o a.png
  one_error "did you mean 'flag'?"
  [ ! -e a.png ] && [ ! -e a.png.tmp ]
}

test_render_knows_early_what_it_cannot_write() {
  can_draw
  # Hours of simulation, were it to begin.
  expect 3 timeout 20 "$HOOKE" render curtain -o nowhere/a.png --set time.duration=1e6
  one_error 'nowhere/a.png: cannot write: No such file or directory'
  mkdir a.png
  expect 3 timeout 20 "$HOOKE" render curtain -o a.png --set time.duration=1e6
  one_error 'Is a directory'
  [ "$(ls)" = "$(printf 'a.png\nerr\nout')" ] || fail "$(ls)"
}

test_render_names_a_blow_up() {
  can_draw
  cloth s.json
  expect 4 hooke render s.json -o a.png --set time.energy_bound=1e-9 -q
  one_error 's'
  [ ! -e a.png ]
}

# stop_it: sends SIGINT to the child once it has said so; it must leave nothing.
interrupt() {
  local code=0
  kill -INT "$child"
  wait "$child" || code=$?
  [ "$code" = 130 ] || fail "ended with $code: $(cat out err)"
  says err 'stopped; nothing was written'
  [ -z "$(ls ./*.png ./*.mp4 ./*.tmp 2>/dev/null)" ] || fail "left: $(ls)"
}

# Whether the process has opened the nameless file of its frames, which it does before the first step.
keeps_frames() { ls -l "/proc/$1/fd" | grep -q '/hooke-......'; }

test_render_stops_at_ctrl_c_and_leaves_nothing() {
  can_draw
  cloth s.json
  # While it is simulated.
  "$HOOKE" render s.json -o a.png --set time.duration=1e5 >out 2>err </dev/null &
  child=$!
  wait_until keeps_frames "$child"
  wait_for_work "$child" 10
  interrupt
  # While it is drawn: ffmpeg has written some of the file, and waits.
  fake_ffmpeg 'echo half >"$last"; exec sleep 60'
  "$HOOKE" render s.json -o a.mp4 --size 640x480 --fps 100 --speed 0.01 >out 2>err </dev/null &
  child=$!
  wait_until [ -e a.mp4.tmp ]
  interrupt
}

test_render_without_egl_says_how_to_get_it() {
  code=0
  hooke render oscillator -o a.png --size 16x16 --frame 0 >out 2>err || code=$?
  [ "$code" != 0 ] || skip 'this build draws'
  one_error 'apt-get install lib'
  [ ! -e a.png ]
}
