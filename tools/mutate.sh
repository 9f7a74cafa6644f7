# shellcheck shell=bash
# What mutate_detector.sh, mutate_rewriter.sh, mutate_weak.sh and mutate_weak_memory.sh share; sourced, not run. The script that sources it says
#   folder      whose files are mutated
#   built       the folders to build, that one last
#   tests       its test executables, without barracuda.test.
#   mutations   name | file in the folder | sed expression: one line each
#   judge       prints "caught", and by what, or SURVIVED: what the tests say of the tree that was built

# passes TEST
passes() {
  timeout 600 "$build/bin/barracuda.test.$1" >"$scratch/$1.log" 2>&1
}

make() {
  ninja -C "$build" "${tests[@]/#/barracuda.test.}" >"$scratch/make.log" 2>&1
}

# A copy of the tree in $scratch, built, whose tests pass.
prepare() {
  local file
  copy=$scratch/tree build=$scratch/build
  rm -rf "${copy:?}"
  mkdir -p "$copy"
  git -C "$tree" ls-files -z | tar -C "$tree" --null --files-from - -c | tar -C "$copy" -x
  rm -rf "$scratch/pristine"
  cp -r "$copy/$folder" "$scratch/pristine"
  # An earlier run may have left objects of mutated files, newer than the files of the tree.
  while IFS='|' read -r _ file _; do touch "$copy/$folder/$file"; done <<<"$mutations"
  cmake -S "$copy" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo "-DBARRACUDA_FOLDERS=$built" >"$scratch/cmake.log"
  make
  if [ "$(judge)" != SURVIVED ]; then
    echo "the tests fail without any mutation"
    return 1
  fi
}

# mutate [SCRATCH [WORDS]]: a line for each mutation with these words; fails if one is not caught.
mutate() {
  local name file expression target result survivors=0
  tree=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
  scratch=${1:-$(mktemp -d)}
  prepare || return 1  # where a caller looks at the status, nothing else would stop here
  while IFS='|' read -r name file expression; do
    target=$copy/$folder/$file
    sed -i "$expression" "$target"
    if cmp -s "$target" "$scratch/pristine/$file"; then
      result="DOES NOT APPLY"
    elif ! make; then
      result="DOES NOT COMPILE"
    else
      result=$(judge)
    fi
    case $result in caught*) ;; *) survivors=$((survivors + 1)) ;; esac
    printf '%-52s %-34s %s\n' "$name" "$file" "$result"
    cp "$scratch/pristine/$file" "$target"
  done < <(grep -F "${2:-}" <<<"$mutations")
  ((survivors == 0))
}
