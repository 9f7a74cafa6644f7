#!/usr/bin/env bash
# Runs programs on a machine with an NVIDIA GPU with jit-cache off, twice with a fresh jit-cache, and once
# with a damaged one: status and findings must agree, the second run must compile nothing. Then two
# processes at once on one fresh folder. The driver's own cache is fresh for each program; the column
# "driver again" is a run that finds it full. Needs a built tree in build/ (or BUILD=folder). Prints a
# table of seconds, what was wrong on standard error, and `N passed, N failed`.
#   tools/verify_jit_on_gpu.sh [PATTERN]     only programs whose name matches the pattern
set -u
cd "$(dirname "$0")/.."
pattern=${1:-.}
build=${BUILD:-build}
programs=$build/programs
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0 failed=0

# The findings' kinds and places, in an order of their own.
summary() {
  python3 - "$1" <<'PYTHON'
import json, os, sys
found = set()
if os.path.exists(sys.argv[1]):
    for line in open(sys.argv[1], encoding="utf-8"):
        finding = json.loads(line)
        places = sorted("%s:%s" % (os.path.basename(a.get("file") or "?"), a.get("line"))
                        for a in finding.get("accesses", []))
        if places:
            for variant in [finding] + finding["variants"]:
                found.add(" ".join([finding["type"], variant.get("kind") or ""] + places))
print("\n".join(sorted(found)))
PYTHON
}

# run NAME RUN CACHE COMMAND...: leaves RUN.seconds, RUN.verdict and RUN.log in the scratch folder.
run() {
  local out=$scratch/$1.$2 cache=$3 begin end status
  shift 3
  begin=$(date +%s.%N)
  CUDA_CACHE_PATH=$scratch/driver timeout "${SECONDS_EACH:-60}" "$build/bin/barracuda" run --device gpu --log preload/info \
    --jit-cache "$cache" --json "$out.json" -- "$@" >"$out.out" 2>"$out.log"
  status=$?
  end=$(date +%s.%N)
  echo "$end $begin" | awk '{ printf "%.2f", $1 - $2 }' >"$out.seconds"
  { echo "status $status"; summary "$out.json"; } >"$out.verdict"
}

complain() { printf '%s: %s\n' "$1" "$2" >&2; wrong=1; }

# The verdict of a run is that of the run without jit-cache.
agree() {
  diff "$scratch/$1.off.verdict" "$scratch/$1.$2.verdict" >&2 || complain "$1" "$2: another verdict than without jit-cache"
}

compiled() { grep -c 'a module was compiled' "$scratch/$1.$2.log"; }
found() { grep -c 'a module was found in jit-cache' "$scratch/$1.$2.log"; }

count() {
  if [ "$wrong" -eq 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
}

check() {  # name, then the program
  local name=$1 wrong=0 cache=$scratch/cache
  shift
  [[ $name =~ $pattern ]] || return 0
  rm -rf "$cache" "$scratch/driver"
  run "$name" off none "$@"
  run "$name" again none "$@"
  rm -rf "$scratch/driver"
  run "$name" first "$cache" "$@"
  run "$name" second "$cache" "$@"
  for each in again first second; do agree "$name" $each; done
  [ "$(compiled "$name" first)" -gt 0 ] || complain "$name" "the first run compiled nothing: $(grep preload "$scratch/$name.first.log" | head -n 3)"
  [ "$(compiled "$name" second)" -eq 0 ] || complain "$name" "the second run compiled again"
  [ "$(found "$name" second)" -gt 0 ] || complain "$name" "the second run found nothing"
  grep -hE 'refused|optimisation|driver.s to compile' "$scratch/$name.first.log" "$scratch/$name.second.log" | sort -u | cut -c1-300 >&2
  for entry in "$cache"/*.entry; do printf 'damage' | dd of="$entry" bs=1 seek=200 conv=notrunc status=none; done
  run "$name" damaged "$cache" "$@"
  agree "$name" damaged
  [ "$(compiled "$name" damaged)" -gt 0 ] || complain "$name" "nothing was compiled after damage"
  count
  printf '| %-34s | %6s | %6s | %6s | %6s | %7s | %5s kB | %-9s |\n' "$name" \
    "$(cat "$scratch/$name.off.seconds")" "$(cat "$scratch/$name.again.seconds")" \
    "$(cat "$scratch/$name.first.seconds")" "$(cat "$scratch/$name.second.seconds")" \
    "$(cat "$scratch/$name.damaged.seconds")" "$(du -sk "$cache" | cut -f1)" "$([ "$wrong" -eq 0 ] && echo 'as before' || echo WRONG)"
}

at_once() {  # name, then the program, in several processes with one fresh folder
  local name=$1 wrong=0 cache=$scratch/shared
  shift
  [[ $name =~ $pattern ]] || return 0
  rm -rf "$cache" "$scratch/driver"
  run "$name" off none "$@"
  for process in 1 2 3; do run "$name" "$process" "$cache" "$@" & done
  wait
  for process in 1 2 3; do agree "$name" "$process"; done
  run "$name" last "$cache" "$@"
  agree "$name" last
  [ "$(compiled "$name" last)" -eq 0 ] || complain "$name" "compiled after three runs"
  count
  printf '| %-34s | %s\n' "$name" "three processes at once: $([ "$wrong" -eq 0 ] && echo 'as before' || echo WRONG)"
}

# What threads within one module are worth: the kernels of CUB's sorts, not optimised, for their optimised
# form is refused.
time_threads() {
  local ptx
  "$build/bin/barracuda" extract "$programs/bench_cub_device_sort_runs" -o "$scratch/ptx" >/dev/null
  ptx=$(ls "$scratch"/ptx/*.ptx | head -n 1)
  "$build/bin/barracuda" instrument "$ptx" -o "$scratch/instrumented.ptx"
  for threads in 1 2 4 0; do
    local begin end
    begin=$(date +%s.%N)
    "$build/lib/barracuda-compiler" --gpu-name=sm_90 --opt-level=0 --split-compile=$threads <"$scratch/instrumented.ptx" >"$scratch/code"
    end=$(date +%s.%N)
    echo "$end $begin $threads $(stat -c %s "$scratch/code")" |
      awk '{ printf "compiler with %s threads (0: one for each core): %.2f s, %d bytes\n", $3, $1 - $2, $4 }'
  done
}

nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
printf '| %-34s | driver | driver again | first | second | damaged | cache | verdict |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n' program
for name in shared_sum_race spin_lock_fixed function_pointer_race; do
  for cudart in "" .static; do
    for loading in LAZY EAGER; do
      CUDA_MODULE_LOADING=$loading check "$name$cudart.$loading" "$programs/$name$cudart"
    done
  done
done
check rdc_race "$programs/rdc_race"
check rdc_fixed.static "$programs/rdc_fixed.static"
check nvrtc_race "$programs/nvrtc" race
check nvrtc_machine_code_fixed "$programs/nvrtc" fixed machine-code
check driver_api_race "$programs/driver_api" "$programs/driver_api_race.ptx"
for loading in LAZY EAGER; do
  CUDA_MODULE_LOADING=$loading check "many_modules.$loading" "$programs/many_modules"
done
# 301 kernels, of which four are launched: as a whole, and kernel by kernel.
for least in 0 8; do
  BARRACUDA_OPTIONS=split-modules=$least check "many_kernels.split-modules=$least" "$programs/many_kernels"
done
check bench_thrust_sort "$programs/bench_thrust_sort"
check bench_cub_device_sort_runs "$programs/bench_cub_device_sort_runs"
at_once at_once_shared_sum_race "$programs/shared_sum_race"
at_once at_once_nvrtc_fixed "$programs/nvrtc" fixed
[[ threads =~ $pattern ]] && time_threads
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
