# A recorded run, replayed: the same report to the last byte, the same exit status; and what a trace is
# good for that is cut short, damaged, or none.
. "$(dirname "$0")/expect.sh"

trace=$folder/trace

# The run's options before --, then the program.
same_report() {
  name="$*"
  run timeout 120 "$barracuda" run --device cpu --record "$trace" --json "$folder/live.json" "$@"
  live=$status
  cp "$folder/err" "$folder/live.err"
  run timeout 120 "$barracuda" replay "$trace" --json "$folder/replayed.json"
  expect_status "$live" "the live run's: $name"
  # The program's own words are its own.
  grep -E '^(BARRACUDA|=|WARNING|ERROR|  )' "$folder/live.err" >"$folder/live.text"
  grep -E '^(BARRACUDA|=|WARNING|ERROR|  )' "$folder/err" >"$folder/replayed.text"
  cmp "$folder/live.text" "$folder/replayed.text" || fail "another text: $name"
  cmp "$folder/live.json" "$folder/replayed.json" || fail "another JSON: $name"
}

for program in shared_sum_race shared_sum_fixed histogram_race histogram_fixed spin_lock_race \
  last_block_one_fence_race grid_exchange_race function_pointer_race warp_sum_race rdc_race rdc_fixed \
  graph_replay_race lifecycle; do
  same_report --seed 3 -- "$programs/$program"
done
same_report -- "$programs/stencil_race"
same_report -- "$programs/driver_api" "$programs/driver_api_race.ptx"
same_report -- "$programs/killed" trap
same_report --strict -- "$programs/no_ptx"
same_report -- sh -c "$programs/shared_sum_race; $programs/histogram_race & wait; exit 5"
same_report -- sh -c "$programs/shared_sum_fixed; exit 5"
same_report --error-exitcode 0 -- sh -c "$programs/shared_sum_race; exit 5"
same_report -- sh -c 'exit 3'
printf 'kernel:block_sum\n' >"$folder/suppressions"
same_report --suppressions "$folder/suppressions" -- "$programs/shared_sum_race"
mv "$folder/suppressions" "$folder/gone"
run "$barracuda" replay "$trace"
expect_err 'suppressed'

# By the rules of the paper, whose trace has what the other model needs, but not the other way round.
same_report --seed 3 --model paper -- "$programs/branch_order_race"
grep -q '"model":"paper"' "$folder/live.json" || fail "the report does not name its model"
run "$barracuda" replay "$trace" --model ptx --json "$folder/replayed.json"
expect_status 66 "a trace of model=paper under model=ptx"
grep -q '"kind":"intra-warp"' "$folder/replayed.json" || fail "model=ptx knows no branch-ordering race"
same_report --seed 3 -- "$programs/branch_order_race"
run "$barracuda" replay "$trace" --model paper
expect_status 64 "a trace of model=ptx under model=paper"
expect_err 'recorded with model=ptx'

# Its races as litmus tests, which the explorer then judges; a wider fence is a repair.
run timeout 120 "$barracuda" run --device cpu --record "$trace" -- "$programs/litmus_flag_narrow_reader_race"
run "$barracuda" replay "$trace" --litmus "$folder/slices/"
expect_status 66 "the status is the report's"
expect_err 'race of flag_narrow_reader_race\.cu:[0-9]+ and .*/slices/race1\.litmus: the PTX model shows it$'
expect_err '^barracuda: [0-9]+ races?, [1-9] sliced, [1-9] shown by the PTX model$'
run "$barracuda" explore --races --expect 1 "$folder/slices/race1.litmus"
expect_status 0 "the model has the race in the slice"
expect_out 'data race: reachable: P0 st'
sed 's/\(fence\.[a-z_]*\)\.cta/\1.gpu/' "$folder/slices/race1.litmus" >"$folder/repaired.litmus"
run "$barracuda" explore --races --expect 0 "$folder/repaired.litmus"
expect_status 0 "the model has no race in the repaired slice"
run "$barracuda" explore --races --memory-model sc "$folder/repaired.litmus"
expect_status 64 "that model has no data races"
run "$barracuda" replay "$trace" --litmus "$folder/one.litmus"
cmp -s "$folder/one.litmus" "$folder/slices/race1.litmus" || fail "the first race's slice is another in a file"
run "$barracuda" replay "$trace" --litmus "$folder/none/one.litmus"
expect_status 64 "that file cannot be written"
# A kernel whose threads can go too many ways is refused, before --time is over many times.
run timeout 100 "$barracuda" explore "$programs/litmus_reads_in_order" --kernel litmus --grid 3 --block 32 --shared 4096 \
  --threads 0:0,1:0 '--arg=s32[4096]=0' '--arg=s32[4096]=0' '--arg=s32[4096]=0'
expect_status 64 "too much to explore"
expect_err ': a thread of the kernel has too many ways to explore'

# What is nothing for a litmus test says why.
run timeout 120 "$barracuda" run --device cpu --record "$trace" -- "$programs/litmus_cp_async_no_wait_race"
run "$barracuda" replay "$trace" --litmus "$folder/none.litmus"
expect_err ': not sliced: one of them is an asynchronous copy$'
expect_err '^barracuda: [0-9]+ races?, 0 sliced, 0 shown by the PTX model$'

# One kernel of a PTX file.
cat >"$folder/store.ptx" <<'PTX'
.version 9.0
.target sm_90
.address_size 64
.visible .entry store(.param .u64 p)
{
  .reg .b64 %rd<3>;
  .reg .b32 %r<2>;
  ld.param.u64 %rd1, [p];
  cvta.to.global.u64 %rd2, %rd1;
  mov.u32 %r1, %tid.x;
  st.global.u32 [%rd2], %r1;
  ret;
}
PTX
run "$barracuda" kernel "$folder/store.ptx" --device cpu --block 64 --arg 'u32[1]' --record "$trace" \
  --json "$folder/live.json"
expect_status 66 "a kernel"
run "$barracuda" replay "$trace" --json "$folder/replayed.json"
expect_status 66 "a replayed kernel"
cmp "$folder/live.json" "$folder/replayed.json" || fail "another JSON of a kernel"

# Bare LD_PRELOAD, a file for each process.
run env BARRACUDA_OPTIONS="device=cpu:record=$folder/bare-%p.trace:json=$folder/live.json" LD_PRELOAD="$library" \
  "$programs/shared_sum_race"
expect_status 66 "bare LD_PRELOAD"
run "$barracuda" replay "$folder"/bare-*.trace --json "$folder/replayed.json"
expect_status 66 "the replay of a bare LD_PRELOAD"
cmp "$folder/live.json" "$folder/replayed.json" || fail "another JSON of a bare LD_PRELOAD"

# A forked child has no part in its parent's trace.
run env BARRACUDA_OPTIONS="device=cpu:record=$folder/fork-%p.trace" LD_PRELOAD="$library" "$programs/lifecycle" fork
summary=$(grep 'BARRACUDA SUMMARY' "$folder/err")
for file in "$folder"/fork-*.trace; do
  run "$barracuda" replay "$file"
  grep -qF "$summary" "$folder/err" || fail "another summary after a fork: $summary"
done

# Two processes, one file without %p: the second is told, and the first one's trace stays good.
run env BARRACUDA_OPTIONS="device=cpu:record=$folder/one.trace" LD_PRELOAD="$library" \
  sh -c "flock '$folder/one.trace' '$programs/shared_sum_race'"
expect_err 'another process writes its trace there'

# Other options than the recorded ones; those that cannot be changed.
run "$barracuda" run --device cpu --record "$trace" -- "$programs/warp_sum_race"
run "$barracuda" replay "$trace" --error-exitcode 9 --print-limit 1
expect_status 9 "another error-exitcode"
expect_err 'not printed'
run "$barracuda" run --device cpu --record "$trace" -- "$programs/shared_sum_race"
run "$barracuda" replay "$trace" --suppressions "$folder/gone"
expect_status 0 "other suppressions"
for option in --seed=3 --device=cpu --record=x --queues=2; do
  run "$barracuda" replay "$trace" $option
  expect_status 64 "$option"
  expect_err 'belongs to the run that was recorded'
done
run "$barracuda" replay "$trace" --severity nonsense
expect_status 64 "impossible value"
run env BARRACUDA_OPTIONS=nonsense "$barracuda" replay "$trace"
expect_status 66 "BARRACUDA_OPTIONS has no influence"

# What is no trace, or no whole one.
: >"$folder/empty"
run "$barracuda" replay "$folder/empty"
expect_status 64 "an empty file"
expect_err 'empty'
run "$barracuda" replay "$barracuda"
expect_status 64 "a program"
expect_err 'not a trace'
run "$barracuda" replay "$folder"
expect_status 64 "a folder"
expect_err 'not a regular file'
run "$barracuda" replay "$folder/none"
expect_status 64 "no file"
{ head -c 4 "$trace"; printf '\377\0\0\0'; tail -c +9 "$trace" | head -c 100; } >"$folder/other"
run "$barracuda" replay "$folder/other"
expect_status 64 "another version of the format"
expect_err 'version 255 of the format'
size=$(stat -c %s "$trace")
for bytes in 10 47 48 200 $((size / 2)) $((size - 1)); do
  head -c "$bytes" "$trace" >"$folder/cut"
  run "$barracuda" replay "$folder/cut"
  case $status in
    64) expect_err "not one whole block" ;;
    0 | 66 | 67) expect_err "coverage incomplete|no kernel was launched" ;;
    *) fail "cut after $bytes bytes: exit status $status" ;;
  esac
  expect_err "at byte $bytes"
done

# A trace that cannot be written does not stop the program.
run "$barracuda" run --device cpu --record "$folder/no/such/folder" -- "$programs/shared_sum_fixed"
expect_status 70 "no such folder"
expect_err 'cannot be written'
run "$barracuda" run --device cpu --record /dev/full -- "$programs/shared_sum_race"
expect_status 70 "a full disk"
expect_err 'the tool failed: the trace could not be written and is of no use'
expect_err 'BARRACUDA SUMMARY: [1-9][0-9]* races? '

# Killed: what was recorded is replayed, and it says that it is not all.
"$barracuda" run --device cpu --record "$trace" -- "$programs/killed" hang >/dev/null 2>&1 &
tool=$!
for _ in $(seq 100); do
  sleep 0.1
  [ "$(stat -c %s "$trace" 2>/dev/null || echo 0)" -gt 400 ] && break
done
sleep 0.5
child=$(pgrep -P $tool -f killed)
kill -9 $child
wait $tool
run "$barracuda" replay "$trace"
expect_err 'ends early'
expect_err 'coverage incomplete'
finish
