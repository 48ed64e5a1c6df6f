# Disks that are full, folders that cannot be written, memory that is not there.

test_unwritable_folder_is_one_error() {
  scene s.json
  echo precious >file
  expect 3 hooke run s.json -o file/below
  one_error 'cannot make the folder'
  expect 3 hooke run s.json -o file
  one_error 'file: cannot make the folder'
  [ "$(cat file)" = precious ]
  [ "$(id -u)" != 0 ] || return 0
  mkdir locked
  chmod a-w locked
  expect 3 hooke run s.json -o locked/x
  one_error 'Permission denied'
}

test_file_size_limit_is_one_error_and_resumable() {
  scene s.json 20 1
  expect 0 hooke run s.json -q -o whole
  code=0
  (
    ulimit -f 12
    "$HOOKE" run s.json -q -o parts >out 2>err
  ) || code=$?
  [ "$code" = 3 ] || fail "ended with $code: $(cat err)"
  one_error 'cannot write: File too large'
  expect 0 hooke run s.json -q -o parts --resume
  same whole parts
}

test_full_disk_is_one_error_and_resumable() {
  scene s.json 20 1
  expect 0 hooke run s.json -q -o whole
  mkdir disk
  # A disk for half of it.
  mount -t tmpfs -o "size=$(($(du -sk whole | cut -f 1) / 2))k" none disk 2>/dev/null ||
    skip 'a small disk cannot be mounted here'
  trap 'umount disk' EXIT
  expect 3 hooke run s.json -o disk/run
  grep '^hooke: ' err >error
  [ "$(wc -l <error)" = 1 ]
  says error 'cannot write: No space left on device'
  says err '--resume'
  mount -o remount,size=100m disk
  expect 0 hooke run s.json -q -o disk/run --resume
  same whole disk/run
}

test_memory_that_is_not_there_is_one_error() {
  ! sanitized || skip 'a sanitizer takes all the memory there is'
  scene s.json
  code=0
  (
    ulimit -v 1000000
    "$HOOKE" run s.json --threads 1 --set 'bodies[0].shape.n=90000000' >out 2>err
  ) || code=$?
  [ "$code" = 5 ] || fail "ended with $code: $(cat err)"
  one_error 'no memory'
  [ ! -e s-out ]
}

test_scenes_too_large_for_memory_end_at_once() {
  echo '{"bodies": [{"shape": {"type": "grid", "nx": 20000, "ny": 20000}}]}' >grid.json
  echo '{"bodies": [{"shape": {"type": "block", "nx": 150, "ny": 150, "nz": 150}}], "integrator": {
    "type": "backward_euler", "minimizer": {"type": "newton", "linear": "ldlt"}}}' >block.json
  for name in grid block; do
    code=0
    HOOKE_MEMORY=16e9 timeout 20 "$HOOKE" run $name.json >out 2>err || code=$?
    [ "$code" = 5 ] || fail "ended with $code: $(cat err)"
    one_error 'are needed, and there are'
    [ ! -e $name-out ]
  done
  says err 'choose "newton" with the linear solver "pcg"'
}

test_closed_streams_change_no_file_and_no_exit_status() {
  scene s.json 5 0.1
  expect 0 hooke run s.json --report -o whole
  rm whole/report.html # it contains times
  for closed in '<&-' '>&-' '2>&-' '<&- >&-' '>&- 2>&-' '<&- >&- 2>&-'; do
    rm -rf parts
    code=0
    eval "\"\$HOOKE\" run s.json --report -o parts $closed" || code=$?
    [ "$code" = 0 ] || fail "hooke run $closed ended with $code"
    rm parts/report.html
    same whole parts
    # Warnings go to the log while the files are open.
    code=0
    eval "\"\$HOOKE\" run s.json --set time.step=1 --set time.duration=3 -o bad $closed" || code=$?
    [ "$code" = 4 ] || fail "hooke run $closed of a motion that blows up ended with $code"
    [ "$(head -c 5 bad/energies.csv)" = frame ] || fail "$closed: $(head -c 200 bad/energies.csv)"
    rm -r bad
    for words in help --version schema 'info s.json' methods scenes 'compare s.json' 'new n.json' \
      'matrices s.json -o m.mtx'; do
      rm -f n.json
      code=0 normal=0
      eval "\"\$HOOKE\" $words" >out 2>err </dev/null || normal=$?
      rm -f n.json
      eval "\"\$HOOKE\" $words $closed" >out 2>err </dev/null || code=$?
      [ "$code" = "$normal" ] || fail "hooke $words $closed ended with $code, not $normal"
    done
  done
}

test_pipes_and_devices_are_no_input() {
  mkfifo pipe.obj pipe.json pipe.foo
  ln -s /dev/zero zero.obj
  for mesh in pipe.obj zero.obj; do
    echo "{\"bodies\": [{\"mesh\": \"$mesh\"}]}" >s.json
    for words in 'info s.json' 'run s.json' "convert $mesh out.ply" "info $mesh"; do
      expect 3 timeout 10 "$HOOKE" $words
      one_error "$mesh: is a pipe or a device, not a file"
    done
  done
  echo '{"bodies": [{"shape": "chain", "springs": {"file": "pipe.obj"}}]}' >s.json
  for scene in pipe.json pipe.foo /dev/zero s.json; do
    for command in run info; do
      expect 3 timeout 10 "$HOOKE" $command $scene
      one_error 'is a pipe or a device, not a file'
    done
  done
  # A run's own files.
  echo '{"bodies": [{"shape": "chain"}], "outputs": ["vtp", "pc2"], "time": {"duration": 0.1}}' >r.json
  expect 0 hooke run r.json -q
  cp -r r-out whole
  rm r-out/checkpoint r-out/vtp/frame_00000[01].vtp
  mkfifo r-out/checkpoint r-out/vtp/frame_000000.vtp
  ln -s /dev/zero r-out/vtp/frame_000001.vtp
  expect 0 timeout 10 "$HOOKE" run r.json --resume
  says err 'r-out/vtp/frame_000000.vtp: is a pipe or a device'
  same whole r-out
}

test_few_addresses_give_fewer_threads_or_one_error() {
  sanitized && skip 'a sanitizer takes all addresses'
  scene s.json 3000 0.05
  for kilobytes in 1000000 500000 250000 150000 100000; do
    for solver in cholesky ldlt; do
      code=0
      (
        ulimit -v $kilobytes
        exec timeout -s KILL 60 "$HOOKE" run s.json -f -q -t 64 --set "integrator={\"type\":
          \"backward_euler\", \"minimizer\": {\"type\": \"newton\", \"linear\": \"$solver\"}}" \
          --set time.step=0.01
      ) >out 2>err </dev/null || code=$?
      case $code in
      0) silent err ;;
      5) one_error 'memory' ;;
      1) one_error 'CHOLMOD' ;; # a build without it
      *) fail "with $kilobytes kB of addresses and $solver it ended with $code: $(cat err)" ;;
      esac
      [ $kilobytes -lt 500000 ] || [ "$code" != 5 ] || fail "$kilobytes kB were not enough: $(cat err)"
    done
  done
}
