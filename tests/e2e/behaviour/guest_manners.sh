# The tool is a guest in the process: programs without CUDA stay as they are, children are checked,
# signals and forks behave, reports go where they are asked to go.
. "$(dirname "$0")/expect.sh"

run env LD_PRELOAD="$library" sh -c 'echo hello; exit 7'
expect_status 7 "a program without CUDA keeps its status"
expect_out '^hello$'
[ ! -s "$folder/err" ] || fail "a program without CUDA is not silent"

run env LD_PRELOAD="$library" "$programs/lifecycle" fork
expect_out 'child 0 parent ok'

run "$barracuda" run --device cpu -- "$programs/lifecycle" abort
expect_status 134 "abort"
expect_err 'BARRACUDA SUMMARY:'

run "$barracuda" run --device cpu -- "$programs/lifecycle" exit
expect_err 'BARRACUDA SUMMARY:'

run "$barracuda" run --device cpu -- "$programs/lifecycle" reset
expect_status 0 "cudaDeviceReset in mid-run"
expect_err 'BARRACUDA SUMMARY: 0 races, kernels 1/1 instrumented, coverage complete'

# PTX allows it, and it is raised to what the logger needs.
sed -E 's/^\.(version|target) .*/&\n&/' "$programs/driver_api_race.ptx" >"$folder/twice.ptx"
run "$barracuda" run --device cpu -- "$programs/driver_api" "$folder/twice.ptx"
expect_status 66 ".version and .target stand twice"
expect_err 'coverage complete'

run "$barracuda" run --device cpu --json "$folder/report.jsonl" --log-file "$folder/report.txt" -- "$programs/histogram_race"
expect_status 66 "reports in files"
grep -q '"type":"summary"' "$folder/report.jsonl" || fail "no summary in the JSON report"
grep -q 'BARRACUDA SUMMARY' "$folder/report.txt" || fail "no summary in the log file"
expect_no_err 'RACE|race \('

run "$barracuda" run --device cpu --json /dev/full -- "$programs/histogram_race"
expect_status 70 "a full disk"

run "$barracuda" run --device cpu --json "$folder/no/such/folder/x" -- "$programs/histogram_race"
expect_status 70 "an unwritable report"
expect_err 'no/such/folder'
finish
