# Installed into a folder that is then moved, the tool works, and a project elsewhere tests with it.
. "$(dirname "$0")/expect.sh"

cmake --install "$BUILD" --prefix "$folder/first" >"$folder/out" 2>"$folder/err" || fail "cmake --install"
mv "$folder/first" "$folder/moved"
for file in LICENSE README.md docs/OPTIONS.md; do
  [ -s "$folder/moved/share/doc/barracuda/$file" ] || fail "$file is not installed"
done
run "$folder/moved/bin/barracuda" run --device cpu -- "$programs/shared_sum_race"
expect_status 66 "installed"
expect_err 'intra-block race on shared memory'

# The manual page, and what completes words in a shell.
share=$folder/moved/share
for kind in man bash zsh; do
  case $kind in
    man) file=$share/man/man1/barracuda.1 ;;
    bash) file=$share/bash-completion/completions/barracuda ;;
    zsh) file=$share/zsh/site-functions/_barracuda ;;
  esac
  [ -s "$file" ] || fail "$file is not installed"
  "$barracuda" --generate $kind | cmp -s - "$file" || fail "$file is not what --generate $kind writes"
done
if command -v man >/dev/null; then
  run man --warnings -l "$share/man/man1/barracuda.1"
  expect_status 0 "man"
  expect_out 'launch-timeout'
  [ -s "$folder/err" ] && fail "the manual page has warnings"
fi
complete_words() {  # the words so far; the last of them is completed
  bash -c 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _barracuda; echo "${COMPREPLY[*]}"' \
    bash "$share/bash-completion/completions/barracuda" "$@" >"$folder/out" 2>"$folder/err"
  [ -s "$folder/err" ] && fail "completion of $*"
}
complete_words barracuda re
expect_out '^replay report$'
complete_words barracuda run --launch-s
expect_out '^--launch-skip$'
complete_words barracuda run --device ''
expect_out '^auto gpu cpu$'
complete_words barracuda run --device = c
expect_out '^cpu$'
complete_words barracuda expose --per
expect_out '^--per-race$'
complete_words barracuda run -- ./app --launch-s
expect_out '^$'
complete_words barracuda campaign ''
expect_out '^write run status result --help$'
complete_words barracuda campaign run --r
expect_out '^--runner --retries$'
complete_words barracuda campaign run all --runner ''
expect_out '^local slurm dask$'
complete_words barracuda campaign write all --t
expect_out '^--tasks$'
complete_words barracuda campaign write all --tasks 4 -- ex
expect_out '^explore expose$'
complete_words barracuda campaign write all -- expose --per
expect_out '^--per-race$'
complete_words barracuda campaign write all -- expose -- ./app --per
expect_out '^$'
# As a person types it: an interactive shell, and the tabulator.
run python3 - "$share/bash-completion/completions/barracuda" <<'PYTHON'
import os, pty, select, sys, time

process, terminal = pty.fork()
if process == 0:
    os.execvpe("bash", ["bash", "--norc", "--noprofile", "-i"], {**os.environ, "TERM": "dumb", "PS1": "> "})
os.write(terminal, b"source '%s'\n" % sys.argv[1].encode())
printed = b""
for typed, completed in ((b"barracuda repl", b"barracuda replay "), (b"barracuda run --launch-s", b"--launch-skip "), (b"barracuda run --device=c", b"--device=cpu ")):
    os.write(terminal, typed + b"\t")
    until = time.time() + 20
    while completed not in printed and time.time() < until:
        if select.select([terminal], [], [], 0.1)[0]:
            printed += os.read(terminal, 4096)
    print("completed" if completed in printed else "not completed: %r" % printed)
    os.write(terminal, b"\x15")
    printed = b""
os.write(terminal, b"exit\n")
PYTHON
expect_out 'completed completed completed'
if command -v zsh >/dev/null; then
  run zsh -n "$share/zsh/site-functions/_barracuda"
  expect_status 0 "zsh"
fi

# What docs/CI.md says of the C library that is needed.
documented=$(sed -nE 's/.*Debian 12 needs glibc ([0-9.]+),.*/\1/p' "$(dirname "$0")/../../../docs/CI.md")
grep -q '^BARRACUDA_SYSROOT:PATH=.' "$BUILD/CMakeCache.txt" &&
  documented=$(sed -nE 's/.*`tools\/build_portable.sh` builds needs ([0-9.]+)\..*/\1/p' "$(dirname "$0")/../../../docs/CI.md")
needed=$(objdump -T "$folder"/moved/bin/* "$folder"/moved/lib/libbarracuda.so "$folder"/moved/lib/libtbb.so.12 "$folder"/moved/lib/barracuda-compiler \
  2>/dev/null | grep -oE 'GLIBC_[0-9.]+' | sort -uV | tail -1)
[ "$needed" = "GLIBC_$documented" ] || fail "what is installed needs $needed, and docs/CI.md says $documented"

mkdir "$folder/project"
cat >"$folder/project/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.20)
project(elsewhere NONE)
enable_testing()
find_package(barracuda 0.1 REQUIRED)
barracuda_add_test(NAME racy COMMAND ${PROGRAMS}/shared_sum_race SEEDS 3 OPTIONS device=cpu)
barracuda_add_test(NAME fixed COMMAND ${PROGRAMS}/shared_sum_fixed SEEDS 3 OPTIONS device=cpu)
barracuda_add_test(NAME known COMMAND ${PROGRAMS}/shared_sum_race SUPPRESSIONS known.supp SEVERITY error OPTIONS device=cpu)
CMAKE
echo 'function:block_sum' >"$folder/project/known.supp"
run cmake -S "$folder/project" -B "$folder/project/build" -D "PROGRAMS=$programs" -D "CMAKE_PREFIX_PATH=$folder/moved"
expect_status 0 "find_package"
run ctest --test-dir "$folder/project/build"
expect_status 8 "ctest of the project"
expect_out '1/3 Test .*racy .*\*\*\*Failed'
expect_out '2/3 Test .*fixed .*Passed'
expect_out '3/3 Test .*known .*Passed'
finish
