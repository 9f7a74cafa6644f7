# `barracuda fix` and `harden` as a stranger uses them: what cannot be done is one clear sentence and the right status, and no
# file is half written.
. "$(dirname "$0")/../behaviour/expect.sh"
nvcc=${NVCC:-nvcc}
handover=$(cd "$(dirname "$0")/../expose" && pwd)/handover.cu
cd "$folder" || exit 1
fix=("$barracuda" fix --seeds 2 --per-race 0)
build() { "$nvcc" -std=c++17 -lineinfo -cudart shared -DREADER_FENCE app.cu -o app >out 2>err || fail "nvcc"; }
unchanged() { cmp -s "$handover" app.cu || fail "the source has changed: $1"; }

cp "$handover" app.cu
build

# A file that nobody may write stays as it is, and so does one that is not what was compiled.
chmod a-w app.cu
run "${fix[@]}" --write -- ./app
expect_status 66 "the race is there all the same"
expect_err 'no file was changed, for .*app\.cu: is read-only'
unchanged "it is read-only"
chmod u+w app.cu
touch -d '+1 minute' app.cu
run "${fix[@]}" --write --diff app.patch -- ./app
expect_status 66 "a source that is newer than the program"
expect_err 'app\.cu is newer than the program: .* Build it and try again'
expect_err 'no file was changed, for .*app\.cu is newer than the program'
unchanged "it is newer than the program"
[ -s app.patch ] || fail "there is no diff"

# Where it may, it changes the source, and the source that it makes is right.
touch -d '-1 minute' app.cu
run "${fix[@]}" --write -- ./app
expect_status 66 "the program that was run has the race"
expect_err 'write: .*app\.cu was changed'
build
run "${fix[@]}" --write -- ./app
expect_err 'BARRACUDA SUMMARY: 1 race, 0 repaired|BARRACUDA SUMMARY: no race in 2 schedules, nothing to fix'
[ "$(grep -c '__threadfence();' app.cu)" -eq "$(($(grep -c '__threadfence();' "$handover") + 1))" ] || fail "not one fence more"

# ^C ends it with what is known, and the source is left alone.
cp "$handover" app.cu
touch -d '-1 minute' app.cu
build
run timeout --preserve-status -s INT 3 "$barracuda" fix --seeds 1000 --write --ptx ptx -- ./app
expect_status 67 "it was interrupted"
expect_err 'INCOMPLETE$'
unchanged "it was interrupted"
run timeout --preserve-status -s INT 3 "$barracuda" harden --stable 100000 --fences app.fences -- ./app
expect_status 67 "harden was interrupted"
expect_err 'an interruption kept .* from being made'

# What needs an algorithm is named with what it needs.
run "${fix[@]}" --write -- "$programs/histogram_race"
expect_status 66 "a counter without atomics"
expect_err 'not repaired: race of .*: it needs atomics, not a fence'
expect_no_err 'was changed'

# Files that cannot be written are said before anything runs.
for flag in --diff --json --log-file; do
  run "${fix[@]}" $flag /no/such/folder/file -- ./app
  expect_status 70 "$flag cannot be written"
  expect_err 'no/such/folder/file cannot be written: No such file or directory'
  expect_no_err 'SUMMARY'
done
run "$barracuda" harden --fences "$folder" -- ./app
expect_status 70 "--fences is a folder"
expect_err 'cannot be written: Is a directory'
run "${fix[@]}" --check ./no-such-check -- ./app
expect_status 64 "the check is not there"
expect_err '^barracuda: --check=./no-such-check: there is no such command$'
expect_no_err 'FIX'
run "${fix[@]}" --edits 3 -- ./app
expect_status 64 "no such option"
expect_err "unknown option '--edits'|--edits"
finish
