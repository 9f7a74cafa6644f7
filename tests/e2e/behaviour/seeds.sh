# Several schedules of one program: one report, and the standard streams of the first run only.
. "$(dirname "$0")/expect.sh"
race=$programs/lock_order_race
fixed=$programs/lock_order_fixed

run "$barracuda" run --device cpu --schedule round-robin -- "$race"
expect_status 0 "the first block takes the lock first"
run "$barracuda" run --device cpu --schedule reversed -- "$race"
expect_status 66 "the second block takes it first"

run "$barracuda" run --device cpu --seeds 3 --json "$folder/report" -- "$race"
expect_status 66 "one of three schedules shows the race"
expect_err '^barracuda: 3 runs: schedule=round-robin: 0 found, schedule=reversed: 1 found, seed=1: [01] found$'
expect_err '^BARRACUDA SUMMARY: 1 race .*, kernels 1/1 instrumented, coverage complete$'
[ "$(grep -c 'BARRACUDA SUMMARY' "$folder/err")" -eq 1 ] || fail "there is more than one summary"
[ "$(wc -l <"$folder/report")" -eq 2 ] || fail "the JSON report is not one race and the summary"
[ "$(grep -c '^x ' "$folder/out")" -eq 1 ] || fail "the program's output is not that of one run"

run "$barracuda" run --device cpu --seeds 4 -- "$fixed"
expect_status 0 "no schedule shows a race"
expect_err 'BARRACUDA SUMMARY: 0 races, kernels 1/1 instrumented, coverage complete'

# What only another run says is not lost, nor is how the first one ended.
cat >"$folder/uneven" <<'SCRIPT'
read -r line && echo "got $line"
case $BARRACUDA_OPTIONS in *reversed*) exit 3 ;; esac
"$1"; exit 5
SCRIPT
echo input >"$folder/input"
run "$barracuda" run --device cpu --seeds 2 -- bash "$folder/uneven" "$fixed" <"$folder/input"
expect_status 5 "the first run's own status"
expect_out '^got input$'
expect_err 'schedule=reversed: 0 found \(the program.s status is [0-9]+\)'

run "$barracuda" run --device cpu --seeds 2 -- "$folder/no_such_program"
expect_status 127 "a program that is not there"
[ "$(grep -c no_such_program "$folder/err")" -eq 1 ] || fail "it is said more than once"
run "$barracuda" run --device cpu --seeds 2 --seed 7 -- "$race"
expect_status 64 "seeds and a seed"
run env BARRACUDA_OPTIONS=seeds=2:device=cpu LD_PRELOAD="$library" "$race"
expect_status 64 "nobody can run the program again"
expect_err 'barracuda run'

"$barracuda" run --device cpu --seeds 1000 -- sleep 30 >"$folder/out" 2>"$folder/err" &
tool=$!
sleep 1
kill -TERM $tool
wait $tool
status=$?
[ "$status" -ne 0 ] || fail "status 0 after an interruption"
expect_err 'an interruption kept the rest of the runs'

cat >"$folder/lock.cu" <<'CUDA'
__global__ void pass(int* x, int* lock, int* out) {
  if (blockIdx.x == 1) x[0] = 1;
  while (atomicCAS(lock, 0, 1) != 0) {}
  __threadfence();
  x[1] += 1;
  __threadfence();
  atomicExch(lock, 0);
  if (blockIdx.x == 0) out[0] = x[0];
}
CUDA
arguments=(--grid 2 --block 1 --arg 's32[4]:print' --arg 's32[1]' --arg "s32[1]:save=$folder/saved")
run "$barracuda" kernel --device cpu "$folder/lock.cu" "${arguments[@]}"
expect_status 66 "barracuda kernel tries four schedules by itself"
expect_err '^barracuda: 4 runs: .*seed=2: [01] found$'
[ "$(grep -c '^0: 1 2 0 0$' "$folder/out")" -eq 1 ] || fail "the buffer is not printed once"
[ "$(od -An -tu4 "$folder/saved" | tr -s ' ')" = ' 1' ] || fail "what is saved is not the first run's"
run "$barracuda" kernel --device cpu --schedule round-robin "$folder/lock.cu" "${arguments[@]}"
expect_status 0 "a schedule that was chosen"
expect_no_err 'runs:'
finish
