# What CUDA's libraries are known to do is left out, in one line that says why, unless it is asked for.
. "$(dirname "$0")/expect.sh"
program=$programs/sort_beside_race

run "$barracuda" run --device cpu --json "$folder/out.json" -- "$program"
expect_status 0 "a sort"
expect_err "^BARRACUDA: 1 finding in code of libraries or a compiler left out \(library-suppressions=0 shows it\): CUB's radix sort"
expect_err '^BARRACUDA SUMMARY: 0 races, .*coverage complete'
expect_no_err 'not used'
grep -q '"suppressed":0,"suppressions":\[{"rule":"kernel:[^"]*","count":1,"reason":"CUB' "$folder/out.json" || fail "no reason in JSON"

run "$barracuda" run --device cpu --library-suppressions=0 --record "$folder/trace" -- "$program"
expect_status 66 "a sort, all shown"
expect_no_err 'left out'
run "$barracuda" replay --library-suppressions=1 "$folder/trace"
expect_status 0 "a replay"
expect_err 'left out \(library-suppressions=0 shows it\)'

# A process that reports for itself finds the rules by the library's place, also under a relative name.
run env -C "$BUILD/lib" LD_PRELOAD=./libbarracuda.so BARRACUDA_OPTIONS=device=cpu "$program"
expect_status 0 "a bare LD_PRELOAD"
expect_err 'left out'

# The file beside the tool is what counts where there is one; one with a mistake is said to have it.
mkdir -p "$folder/tool/share/barracuda"
cp -r "$BUILD/lib" "$folder/tool/lib"
run env LD_PRELOAD="$folder/tool/lib/libbarracuda.so" BARRACUDA_OPTIONS=device=cpu "$program"
expect_status 0 "without a file"
echo '# none here' >"$folder/tool/share/barracuda/library.supp"
run env LD_PRELOAD="$folder/tool/lib/libbarracuda.so" BARRACUDA_OPTIONS=device=cpu "$program"
expect_status 66 "an empty file"
echo 'nonsense' >"$folder/tool/share/barracuda/library.supp"
run env LD_PRELOAD="$folder/tool/lib/libbarracuda.so" BARRACUDA_OPTIONS=device=cpu "$program"
expect_status 64 "a bad file"
expect_err 'option library-suppressions: .*/library.supp:1: '
finish
