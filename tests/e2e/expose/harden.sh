# barracuda harden: of a fence behind every access those remain that runs need, the program's own among them.
. "$(dirname "$0")/../behaviour/expect.sh"
source=$(dirname "$0")/handover.cu
data_line=$(grep -n 'data\[0\] = 41' "$source" | cut -d: -f1)
cd "$folder" || exit 1

run "$barracuda" harden --stores-only --stable 40 --json report.json --fences found.fences -- "$programs/handover_race"
expect_status 66 "the writer's fence is missing"
expect_err '^barracuda: a fence behind every access, reduced by 32 runs an answer until 40 runs pass'
expect_err "ERROR: missing fence: __threadfence\(\) behind .*handover\.cu:$data_line \(acq_rel, scope gpu\)$"
expect_err '^BARRACUDA: as it is, the program fails in [1-9][0-9]* of 32 weak runs$'
expect_err 'empirically fixed, not formally fixed'
expect_err '^BARRACUDA SUMMARY: 1 missing fence, 0 needed, 1 redundant; [0-9]+ places tried, no failure in 40 runs$'
for type in missing-fence redundant-fence summary; do
  grep -q "\"type\":\"$type\"" report.json || fail "the JSON report lacks $type"
done
# The reader's fence is redundant only as long as no read is stale.
expect_err 'WARNING: redundant fence: no run needed __threadfence'

# With what was found it does not fail any more.
wrong=0
for seed in 1 2 3 4 5 6 7 8 9 10; do
  run "$barracuda" run --device cpu --seed $seed --delay-stores 1 --fences found.fences -- "$programs/handover_race"
  expect_out '^result 42$'
  run "$barracuda" run --device cpu --seed $seed --delay-stores 1 -- "$programs/handover_race"
  grep -q '^result 42$' "$folder/out" || wrong=$((wrong + 1))
done
[ $wrong -gt 0 ] || fail "without them it never fails"

run "$barracuda" harden --stable 40 -- "$programs/handover_fixed"
expect_status 0 "nothing is missing"
expect_err '^BARRACUDA SUMMARY: 0 missing fences, 2 needed, 0 redundant; '

# What they cost: the program has two fences, each of one warp; with all places there are more.
run "$barracuda" harden --cost --json cost.json --stable 40 -- "$programs/handover_fixed"
expect_err '^BARRACUDA: with fences: none: [0-9]+ warp instructions \(\+0\.0 %\), 0 fences executed; time and energy not measured$'
expect_err '^BARRACUDA: with fences: its own: [0-9]+ warp instructions \([+-][0-9.]+ %\), 2 fences executed'
expect_err '^BARRACUDA: with fences: all: '
grep -q '"costs":\[{"fences":"none","warp_instructions":[0-9]*,"executed_fences":0,' cost.json || fail "no costs in the report"

# As on a GPU: the program is rewritten, runs have fresh seeds and are made where it fails most.
run "$barracuda" harden --delay-levels rewrite --iterations 8 --stable 24 --json rewritten.json --fences rewritten.fences \
  -- "$programs/handover_race"
expect_status 66 "the writer's fence is missing on a GPU, too"
expect_err "ERROR: missing fence: __threadfence\(\) behind .*handover\.cu:$data_line \(acq_rel, scope gpu\)$"
expect_err '^\| delayed stores, p = 1 \| [1-9][0-9]* \| [0-9]+ \| yes \|$'
expect_err '^\| shuffled blocks \| 0 \| [0-9]+ \|  \|$'
expect_err 'no run can be repeated exactly: all answers are of runs with fresh seeds, made with delayed stores'
expect_err '^BARRACUDA SUMMARY: 1 missing fence, 0 needed, 1 redundant; '
grep -q '"environments":\["delayed stores, p = ' rewritten.json || fail "no environments in the report"
run "$barracuda" run --device cpu --delay-levels rewrite --delay-stores 1 --fences rewritten.fences -- "$programs/handover_race"
expect_out '^result 42$'

run "$barracuda" harden -- "$programs/odd_ends" fails
expect_status 66 "a program that always fails"
expect_err '^BARRACUDA SUMMARY: fails without delays'
run "$barracuda" harden -- "$programs/odd_ends" nothing
expect_status 67 "no kernel"
run "$barracuda" harden --time 1s -- "$programs/handover_race"
expect_status 67 "the time was over"
expect_err 'the time was over after 1 s \(--time\): less fences may do$'
run "$barracuda" harden --stress -- "$programs/handover_race"
expect_status 64 "no stress on the emulated device"
expect_err 'harden: --stress: the emulated device has no hardware to stress'
if ! [ -e /dev/nvidiactl ]; then
  run "$barracuda" harden --device gpu -- "$programs/handover_race"
  expect_status 64 "no GPU"
  expect_err 'harden: there is no GPU; without --device gpu the program runs on the emulated device'
fi
run "$barracuda" harden --stable 0 -- "$programs/handover_race"
expect_status 64 "a number that is none"
run "$barracuda" harden -- ./no-such-program
expect_status 127 "no such program"
finish
