# One bug is one finding with a fingerprint that stays: over schedules, processes and edited sources.
. "$(dirname "$0")/expect.sh"
examples=$(dirname "$0")/../../../examples
nvcc=${NVCC:-nvcc}

expect_equal() { [ "$1" = "$2" ] || fail "$3: '$1' is not '$2'"; }
fingerprints() { sed -n 's/.*"fingerprint":"\([0-9a-f]*\)".*/\1/p' "$1" | sort | tr '\n' ' '; }

# Schedules.
for seed in 1 2 3 4; do
  run "$barracuda" run --device cpu --seed $seed --json "$folder/$seed.json" -- "$programs/shared_sum_race"
  expect_status 66 "seed $seed"
  expect_equal "$(fingerprints "$folder/$seed.json")" "$(fingerprints "$folder/1.json")" "seed $seed"
done

# Two variables on one line, two instances of a template, races of every distance: two bugs.
cat >"$folder/pair.cu" <<'CUDA'
#include <cuda_runtime.h>

template <typename T>
__global__ void add(T* a, T* b) {
  a[0] += T(threadIdx.x); b[0] += T(threadIdx.x);
}

int main() {
  int* cells;
  cudaMalloc(&cells, 64);
  add<int><<<2, 64>>>(cells, cells + 1);
  add<float><<<2, 64>>>((float*)cells + 2, (float*)cells + 3);
  return cudaDeviceSynchronize() != cudaSuccess;
}
CUDA
build() { "$nvcc" -std=c++17 -lineinfo -cudart shared "$folder/pair.cu" -o "$folder/pair" "$@" >"$folder/out" 2>"$folder/err" || fail "nvcc"; }
build
run "$barracuda" run --device cpu --json "$folder/pair.json" -- "$folder/pair"
expect_status 66 "two variables"
expect_err 'BARRACUDA SUMMARY: 2 races .*, kernels 2/2 instrumented'
expect_err '^  Also: .* in void add<float>\(float\*, float\*\)'
before=$(fingerprints "$folder/pair.json")
expect_equal "$(echo $before | wc -w)" 2 "bugs"

# Ten lines more above, and another architecture.
{ yes '// a line' | head -n 10; cat "$folder/pair.cu"; } >"$folder/longer.cu"
mv "$folder/longer.cu" "$folder/pair.cu"
build -arch=sm_90
run "$barracuda" run --device cpu --json "$folder/pair.json" -- "$folder/pair"
expect_equal "$(fingerprints "$folder/pair.json")" "$before" "ten lines above"

# Without the sources: the instructions stand for the text, and still nothing moves.
mv "$folder/pair.cu" "$folder/pair.kept"
run "$barracuda" run --device cpu --json "$folder/pair.json" -- "$folder/pair"
without=$(fingerprints "$folder/pair.json")
expect_equal "$(echo $without | wc -w)" 2 "bugs without the sources"
run "$barracuda" run --device cpu --seed 5 --json "$folder/pair.json" -- "$folder/pair"
expect_equal "$(fingerprints "$folder/pair.json")" "$without" "without the sources, another schedule"

# A recorded run.
run "$barracuda" run --device cpu --record "$folder/trace" --json "$folder/live.json" -- "$programs/shared_sum_race"
run "$barracuda" replay --json "$folder/again.json" "$folder/trace"
cmp -s "$folder/live.json" "$folder/again.json" || fail "a replay's JSON differs"

# Version 1 is still there.
run "$barracuda" run --device cpu --json-schema 1 --json "$folder/old.json" -- "$programs/shared_sum_race"
head -n 1 "$folder/old.json" | grep -q '^{"schema":1,"type":"race","severity":' || fail "schema 1"

# A baseline.
run "$barracuda" run --device cpu --baseline "$folder/known.json" -- "$programs/shared_sum_race"
expect_status 64 "a baseline that is not there"
run "$barracuda" run --device cpu --baseline "$folder/known.json" --update-baseline -- "$programs/shared_sum_race"
expect_status 0 "update-baseline"
run "$barracuda" run --device cpu --baseline "$folder/known.json" --seed 3 --json "$folder/new.json" -- "$programs/shared_sum_race"
expect_status 0 "known bugs"
expect_err '1 finding known from the baseline'
expect_err 'BARRACUDA SUMMARY: 0 races'
expect_equal "$(fingerprints "$folder/new.json")" "" "known bugs in JSON"
run "$barracuda" run --device cpu --baseline "$folder/known.json" -- "$programs/histogram_race"
expect_status 66 "a bug that is new"

# Suppressions.
run "$barracuda" run --device cpu --generate-suppressions "$folder/rules" -- "$programs/shared_sum_race"
expect_status 66 "generate-suppressions"
printf "kernel:no_such_kernel\nrace:nobody\n" >>"$folder/rules"
run "$barracuda" run --device cpu --suppressions "$folder/rules" -- "$programs/shared_sum_race"
expect_status 0 "generated suppressions"
expect_err 'suppressed by fingerprint:[0-9a-f]{32}$'
expect_err 'suppression not used: kernel:no_such_kernel$'

# Processes: one run, and the reports of each rank merged, say the same.
run "$barracuda" run --device cpu --seed 1 --json "$folder/run.json" -- \
  sh -c "RANK=0 $programs/shared_sum_race; RANK=1 $programs/shared_sum_race"
expect_status 66 "two ranks in one run"
expect_err '^  Seen in: ranks 0-1 of shared_sum_race$'
expect_err 'BARRACUDA SUMMARY: 1 race \(.*, kernels 1/1 instrumented'
cp "$folder/err" "$folder/run.err"
for rank in 1 0; do
  run env RANK=$rank "$barracuda" run --device cpu --seed 1 --json "$folder/rank.%q{RANK}" -- "$programs/shared_sum_race"
done
run "$barracuda" merge --json "$folder/merged.json" "$folder/rank.1" "$folder/rank.0"
expect_status 66 "merge"
cmp -s "$folder/err" "$folder/run.err" || { fail "merged and run as one differ"; diff "$folder/err" "$folder/run.err"; }
expect_equal "$(sed 's/"pid":[0-9]*//g' "$folder/merged.json")" "$(sed 's/"pid":[0-9]*//g' "$folder/run.json")" "JSON"
finish
