# Sourced by the scripts beside it: run a command, then say what must hold. $BUILD is the build folder.
set -u
barracuda=$BUILD/bin/barracuda
library=$BUILD/lib/libbarracuda.so
programs=$BUILD/programs
folder=$(mktemp -d)
failures=0 is_finished=

# A script that ends before `finish` has not said how many of its expectations failed.
leave() {
  local status=$?
  rm -rf "$folder"
  if [ "$status" -eq 0 ] && [ -z "$is_finished" ]; then
    echo "FAILED: the script does not end with finish"
    exit 1
  fi
}
trap leave EXIT

run() {  # the command's status in $status, its output in $folder/out and $folder/err
  "$@" >"$folder/out" 2>"$folder/err"
  status=$?
}

fail() {
  failures=$((failures + 1))
  echo "FAILED: $1"
  sed 's/^/  out: /' "$folder/out"
  sed 's/^/  err: /' "$folder/err"
}

expect_status() { [ "$status" -eq "$1" ] || fail "exit status $status, expected $1 ($2)"; }
# A text in a file, also where the report folds a line of over 160 columns.
has() { grep -qE -- "$1" "$2" || tr -s ' \n' ' ' <"$2" | grep -qE -- "$1"; }
expect_err() { has "$1" "$folder/err" || fail "standard error lacks: $1"; }
expect_no_err() { ! has "$1" "$folder/err" || fail "standard error has: $1"; }
expect_out() { has "$1" "$folder/out" || fail "standard output lacks: $1"; }
finish() { is_finished=yes; [ "$failures" -eq 0 ] && echo "as expected"; exit $((failures > 0)); }
