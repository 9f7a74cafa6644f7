# What was not checked is said, and is not status 0: filters that leave nothing, programs that the device cannot
# run, options that are not understood. What the user left out on purpose is no gap.
. "$(dirname "$0")/expect.sh"
race=$programs/shared_sum_race

# A filter that matches nothing, for whatever reason.
for filter in "--kernel-name kns=hist" "--kernel-name kne=block_su" "--kernel-name-exclude kns=block" \
    "--launch-skip 100"; do
  # shellcheck disable=SC2086
  run "$barracuda" run --device cpu --json "$folder/json" $filter -- "$race"
  expect_status 67 "$filter"
  expect_err 'left out by kernel-name.*: block_sum\(int const\*, int\*\)$'
  expect_err 'BARRACUDA SUMMARY: no kernel was checked'
  grep -q '"coverage":"incomplete",.*"not_covered":\["no kernel was checked; left out by .*block_sum' \
    "$folder/json" || fail "the JSON report of $filter"
done

for filter in "--kernel-name kns=block_s" "--kernel-name kne=block_sum" "--kernel-name block_sum" \
    "--kernel-name-exclude kns=hist"; do
  # shellcheck disable=SC2086
  run "$barracuda" run --device cpu $filter -- "$race"
  expect_status 66 "$filter"
done
run "$barracuda" run --device cpu --kernel-name knx=hist -- "$race"
expect_status 64 "a key that there is not"

run "$barracuda" run --device cpu --strict --kernel-name-exclude kns=short -- "$programs/many_modules"
expect_status 0 "strict, with a filter"
expect_err 'left out by kernel-name'
expect_err 'coverage complete'

run "$barracuda" run --device cpu --json "$folder/json" -- true
expect_status 67 "no kernel at all"
grep -q '"coverage":"incomplete",.*"not_covered":\["no kernel was launched"\]' "$folder/json" ||
  fail "the JSON report without a kernel"

# A kernel without PTX has a name and a number.
run "$barracuda" run --device cpu -- "$programs/no_ptx"
expect_status 67 "a kernel without PTX"
expect_err 'not covered: kernel fill\(int\*\): its module could not be loaded.*\(1 launch\)'
expect_err 'kernels 0/1 instrumented, coverage incomplete'

# Options: what is left in the environment, paths, and a blank in place of a colon.
bare() { run env BARRACUDA_OPTIONS="device=cpu:$1" LD_PRELOAD="$library" "${@:2}"; }
bare help=1 "$programs/shared_sum_fixed"
expect_status 0 "help=1 swallows no program"
expect_err '^ *kernel-name='
expect_err 'BARRACUDA SUMMARY: 0 races, kernels 1/1 instrumented, coverage complete'
bare "json=x log-file=y" "$programs/shared_sum_fixed"
expect_status 64 "a blank in place of a colon"
expect_err 'separated by colons'

mkdir "$folder/here" "$folder/there"
cd "$folder/here" || exit 1
bare json=report.jsonl:log-file=report.txt "$programs/launcher" --chdir ../there
expect_status 0 "a program that changes its folder"
[ -s report.jsonl ] && [ -s report.txt ] || fail "the reports are not where the program was started"
bare json=child.jsonl sh -c "cd ../there && $programs/shared_sum_fixed"
[ -s child.jsonl ] || fail "the child's report is not where its parent was started"
[ -z "$(ls -A ../there)" ] || fail "a report lies in the program's folder: $(ls -A ../there)"

# A launcher that uses no CUDA has nothing to say, and leaves its children's report alone.
bare json=both.jsonl "$programs/launcher" "$race"
expect_status 5 "a launcher keeps its status"
expect_err 'BARRACUDA SUMMARY: [1-9]'
expect_no_err 'no kernel was launched'
grep -q '"type":"race"' both.jsonl || fail "the launcher has overwritten its child's report"

# Another version of the runtime, which the emulated device does not stand in for.
if ! [ -e /dev/nvidiactl ] && ! [ -e /dev/nvidia0 ]; then
  echo 'int cuda_runtime_of_10() { return 0; }' >runtime.c
  echo 'int cuda_runtime_of_10(); int main() { return cuda_runtime_of_10(); }' >program.c
  cc -shared -fPIC -Wl,-soname,libcudart.so.10.2 runtime.c -o libcudart.so.10.2
  cc program.c -o program ./libcudart.so.10.2 -Wl,-rpath,"$PWD"
  bare "" ./program
  expect_status 67 "libcudart.so.10.2 under bare LD_PRELOAD"
  expect_err 'is linked with libcudart.so.10.2'
  run "$barracuda" run -- ./program
  expect_status 67 "libcudart.so.10.2"
  expect_err 'is linked with libcudart.so.10.2'
fi
finish
