# Machine code that a child made of PTX: ptxas in all ways in which it is called, found again in the same run, in
# later ones, in fat binaries and in Triton's cache; and ptxas itself, which must not notice.
. "$(dirname "$0")/expect.sh"
ptxas=${PTXAS:-ptxas}
if ! command -v "$ptxas" >/dev/null; then
  echo "there is no ptxas"
  exit 77
fi
export XDG_CACHE_HOME=$folder/cache
cd "$folder" || exit 1
cp "$programs/driver_api_race.ptx" race.ptx
cp "$programs/driver_api_fixed.ptx" fixed.ptx
load=$programs/load_code
under() { run "$barracuda" run --device cpu "$@"; }
race_at='driver_api_race\.cu:[0-9]+'

# As Triton does it; then the same file in a later run, without ptxas.
under -- sh -c "$ptxas -arch=sm_90 race.ptx -o race.cubin && rm race.ptx && $load race.cubin"
expect_status 66 "ptxas as a child"
expect_err "$race_at"
expect_out '^counted$'
cp "$programs/driver_api_race.ptx" race.ptx
under -- "$load" race.cubin
expect_status 66 "the same code in a later run"
expect_err "$race_at"
under -- sh -c "$ptxas -arch=sm_90 fixed.ptx -o fixed.cubin && $load fixed.cubin race.cubin fixed.cubin"
expect_status 66 "two of them"
expect_err 'kernels 1/1 instrumented, coverage complete'
under -- "$load" fixed.cubin
expect_status 0 "the one without a race"
expect_err 'coverage complete'

# Every way to give it its input.
way() {  # what, the command, of which $out is the output
  rm -f ./*.out
  # The folder of the run alone: an earlier run's entry would do for all of them.
  under --jit-cache none -- sh -c "$2 && $load code.out"
  expect_status 66 "$1"
  expect_err "$race_at"
}
way "an option with =" "$ptxas -arch=sm_90 --output-file=code.out race.ptx"
way "a file as standard input" "$ptxas -arch=sm_90 - -o code.out <race.ptx"
way "a pipe" "cat race.ptx | $ptxas -arch=sm_90 - -o code.out"
way "a pipe by name" "cat race.ptx | $ptxas -arch=sm_90 /dev/stdin -o code.out"
way "text in the command line" "$ptxas -arch sm_90 -ias \"\$(cat race.ptx)\" -o code.out"
echo "-arch=sm_90 race.ptx -o code.out" >options
way "an options file" "$ptxas -optf options"
way "the default output" "$ptxas -arch=sm_90 race.ptx && mv elf.o code.out"
way "the output of before" "echo old >code.out; $ptxas -arch=sm_90 race.ptx -o code.out"
if command -v fatbinary >/dev/null; then
  way "a fat binary" "$ptxas -arch=sm_90 race.ptx -o race.cubin &&
    fatbinary --create=code.out -64 --image3=kind=elf,sm=90,file=race.cubin"
  way "a fat binary, compressed" "$ptxas -arch=sm_90 race.ptx -o race.cubin &&
    fatbinary --create=code.out -64 --compress=true --compress-all --image3=kind=elf,sm=90,file=race.cubin"
fi

# What nobody was seen to make is said to be so.
"$ptxas" -arch=sm_86 race.ptx -o unseen.cubin
under -- "$load" unseen.cubin
expect_status 67 "made without the tool"
expect_err 'neither NVRTC or nvJitLink in this process nor ptxas below it was seen to make'
mkdir -p triton/ABCDEF
cp unseen.cubin triton/ABCDEF/count.cubin
cp race.ptx triton/ABCDEF/count.ptx
export TRITON_CACHE_DIR=$folder/triton
under --program-caches theirs -- "$load" unseen.cubin
expect_status 66 "Triton's cache, filled before"
expect_err "$race_at"
"$ptxas" -arch=sm_80 race.ptx -o triton/ABCDEF/count.cubin
chmod o+w triton/ABCDEF/count.ptx
under --program-caches theirs -- "$load" triton/ABCDEF/count.cubin
expect_status 67 "PTX that others may write is not believed"
unset TRITON_CACHE_DIR

# Origins: damaged, of a folder that others may write, none.
for entry in "$XDG_CACHE_HOME"/barracuda/origins/*.entry; do
  printf 'x' | dd of="$entry" bs=1 seek=60 conv=notrunc 2>/dev/null
done
under -- "$load" race.cubin
expect_status 67 "damaged entries"
under -- sh -c "$ptxas -arch=sm_90 race.ptx -o race.cubin && $load race.cubin"
expect_status 66 "made anew"
chmod o+w "$XDG_CACHE_HOME/barracuda/origins"
under -- "$load" race.cubin
expect_status 67 "a folder that others may write"
chmod o-w "$XDG_CACHE_HOME/barracuda/origins"
under -- "$load" race.cubin
expect_status 66 "a folder of one's own"
under --jit-cache none -- "$load" race.cubin
expect_status 67 "nothing kept"

# Where the libraries keep compiled kernels is said once, and left to them on demand.
under --log cli/info -- sh -c 'echo "$TRITON_CACHE_DIR $CUPY_CACHE_DIR"'
expect_out "^$XDG_CACHE_HOME/barracuda/origins/programs/triton $XDG_CACHE_HOME/barracuda/origins/programs/cupy\$"
expect_err 'program-caches=own sets .*NUMBA_CACHE_DIR='
under --log cli/info --program-caches theirs -- sh -c 'echo "at $TRITON_CACHE_DIR."'
expect_out '^at \.$'
expect_no_err 'program-caches'

# ptxas notices nothing: bytes, output and status, whatever becomes of the entry.
echo 'not PTX' >bad.ptx
mkdir plain under
same() {  # what, the arguments
  rm -f plain/* under/*
  "$ptxas" "${@:2}" -o plain/code >plain/out 2>plain/err
  echo $? >plain/status
  env LD_PRELOAD="$library" "$ptxas" "${@:2}" -o under/code >under/out 2>under/err
  echo $? >under/status
  sed -i -E 's/[0-9.]+ ms/ ms/' plain/err under/err
  for part in out err status; do
    cmp -s "plain/$part" "under/$part" || fail "ptxas's $part is another one: $1"
  done
  if [ -e plain/code ] || [ -e under/code ]; then
    cmp -s plain/code under/code || fail "ptxas's code is another one: $1"
  fi
}
same "verbose" -v -arch=sm_90 race.ptx
same "damaged input" -arch=sm_90 bad.ptx
same "no input" -arch=sm_90
same "no such input" -arch=sm_90 nothing.ptx
same "help" --help
same "relocatable" -c -arch=sm_90 race.ptx
XDG_CACHE_HOME=/proc/nowhere same "no cache" -arch=sm_90 race.ptx
XDG_CACHE_HOME= HOME= same "no home" -arch=sm_90 race.ptx

# Many at once, each of its own text, all found.
for i in $(seq 24); do
  cp race.ptx "many$i.ptx"
  printf '.visible .global .align 4 .u32 padding_%s;\n' "$i" >>"many$i.ptx"
done
under -- sh -c "for i in \$(seq 24); do $ptxas -arch=sm_90 many\$i.ptx -o many\$i.cubin & done; wait
  exec $load many*.cubin"
expect_status 66 "many at once"
expect_err 'kernels 1/1 instrumented, coverage complete'
finish
