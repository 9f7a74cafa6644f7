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

# A daemon closes what it has not opened, and the numbers go to files of its own.
run "$barracuda" run --device cpu --json "$folder/daemon.jsonl" -- "$programs/ends" daemon "$folder/own"
expect_status 66 "a program that closes all files"
expect_err 'BARRACUDA SUMMARY: 3 races'
printf 'own\nwent on\n' | cmp -s - "$folder/own" || fail "a program's own file has: $(head -c 300 "$folder/own")"
run env BARRACUDA_OPTIONS="device=cpu:json=$folder/bare.jsonl:log-file=$folder/bare.txt" LD_PRELOAD="$library" \
  "$programs/ends" daemon "$folder/own_bare"
expect_status 66 "a program that closes all files, under LD_PRELOAD"
[ "$(grep -c '"type":"race"' "$folder/bare.jsonl")" -eq 3 ] || fail "races in the JSON report"
grep -q 'BARRACUDA SUMMARY: 3 races' "$folder/bare.txt" || fail "no summary in the log file"
printf 'own\nwent on\n' | cmp -s - "$folder/own_bare" || fail "a program's own file has: $(head -c 300 "$folder/own_bare")"

# Whoever shares standard error with the program may have made it not wait.
run python3 - "$barracuda" "$programs/ends" <<'PYTHON'
import fcntl, os, subprocess, sys, time
read_end, write_end = os.pipe()
fcntl.fcntl(write_end, fcntl.F_SETPIPE_SZ, 4096)
os.set_blocking(write_end, False)
os.write(write_end, b"x" * 4000)  # nearly full
process = subprocess.Popen([sys.argv[1], "run", "--device", "cpu", "--", sys.argv[2], "quick"], stderr=write_end)
os.close(write_end)
time.sleep(3)
text = b""
while piece := os.read(read_end, 65536):
    text += piece
    time.sleep(0.01)
print(process.wait(), len(text) > 5000, b"BARRACUDA SUMMARY" in text)
PYTHON
expect_out '^66 True True$'

run "$barracuda" run --device cpu --json /dev/full -- "$programs/histogram_race"
expect_status 70 "a full disk"

run "$barracuda" run --device cpu --json /dev/full --log-file "$folder/full.txt" -- "$programs/histogram_race"
expect_status 70 "a full disk, with the text in a file"
expect_err 'the JSON report could not be written: .*No space left'
grep -q 'BARRACUDA SUMMARY' "$folder/full.txt" || fail "no summary in the log file"

# Whoever closes standard error has it nowhere else.
run sh -c '"$@" 2>&-' sh "$barracuda" run --device cpu --json "$folder/closed.jsonl" -- "$programs/histogram_race"
python3 -c 'import json, sys; print([json.loads(line)["type"] for line in open(sys.argv[1])])' "$folder/closed.jsonl" >"$folder/out"
expect_out "'race'.*'summary'.$"

run "$barracuda" run --device cpu --json "$folder/no/such/folder/x" -- "$programs/histogram_race"
expect_status 70 "an unwritable report"
expect_err 'no/such/folder'
finish
