#!/usr/bin/env bash
# Breaks one rule of the engine at a time, in a copy of the tree, and runs the tests that should notice:
# the oracle first, then the unit tests. Prints a line for each mutation; fails if one survives or no
# longer applies. Usage: tools/mutate_detector.sh [FOLDER [WORDS]]   (FOLDER: scratch space, kept between
# runs; WORDS: only the mutations with these words in their line)
set -euo pipefail

tree=$(cd "$(dirname "$0")/.." && pwd)
scratch=${1:-$(mktemp -d)}
words=${2:-}
copy=$scratch/tree build=$scratch/build
export RC_PARAMS=${RC_PARAMS:-max_success=1500 max_size=200}

# name | file in host_detector | sed expression: one line each
mutations=$(cat <<'LIST'
release fence publishes nothing of wider levels|sync/synchroniser.cpp|s/has_release(site.order) \&\& level <= widest; ++level/has_release(site.order) \&\& level < widest; ++level/
acquire fence takes nothing|sync/synchroniser.cpp|s/after.clock.join(before.fences->pending\[level\]);/static_cast<void>(level);/
relaxed write publishes its clock|sync/synchroniser.cpp|s/(releases ? fill_all : fill_fenced)/(true ? fill_all : fill_fenced)/
relaxed read acquires at once|sync/synchroniser.cpp|s/has_acquire(site.order) || engine_.options.acquire_relaxed_spin/true/
publishing overwrites|sync/location.cpp|s/place.device\[index\].join(publication/place.device[index] = (publication/
atomics hand nothing on|sync/location.cpp|s/from.after.push_back(written);/return;/
unknown values are taken for none|sync/location.cpp|s/^    takes_all_ = true;/    takes_all_ = false;/
a barrier gives its clocks but not its fences|sync/barrier.cpp|s/^    add_fences(warp, group, state);/    static_cast<void>(group);/
a warp does not tick at a barrier|sync/barrier.cpp|s/^      warps\[warp\].tick();//
a barrier opens before the last thread came|sync/barrier.cpp|s/waiting_ >= live_threads/waiting_ + 1 >= live_threads/
same warp is ordered without a barrier|rules/access_check.cpp|s/older.warp == warp.warp() \&\&$/older.warp == warp.warp() || older.warp == warp.warp() \&\&/
a strong access replaces a plain one|rules/verdict.cpp|s/(strength <= strength_of(\*older.site) \&\& /(/
a read replaces a write|rules/verdict.cpp|s/if (older.writes \&\& !newer.writes) {/if (false) {/
a narrow scope counts as wide|rules/verdict.cpp|s/std::min(first.scope, second.scope) >= pair.distance/std::max(first.scope, second.scope) >= pair.distance/
sizes of atomics do not matter|rules/verdict.cpp|s/if (width(pair.first) != width(pair.second)) {/if (false) {/
an observed write orders nothing|rules/access_check.cpp|s/was_observed(access, older, byte, lane))))/false)))/
an acquire passes too early|queue/order_counters.h|s/(done_\[stamp.counter\] - stamp.number) >= 0/(done_[stamp.counter] - stamp.number) >= -1/
what is parked is not in order|queue/ordering.cpp|s/group.records.push_front(record);/group.records.push_back(record);/
async: the issuer is ordered after its copies|rules/access_check.cpp|s/older.warp == entry.warp \&\& !older.is_asynchronous();/older.warp == entry.warp;/
async: a copy stands for what its issuer knew|rules/async_access.cpp|s/return !entry.is_asynchronous() ||/return true ||/
async: no proxy fence is needed|rules/async_access.cpp|s/^  if (!is_between_proxies(access, older)) {/  if (older_lane < 32) {/
async: a wait leaves no group pending|clock/async_lines.h|s/ends_\[ends_.size() - 1 - left\]/ends_.back()/
async: a barrier does not tell what was waited for|sync/barrier.cpp|s/^  warp.add_waited(lanes, ticks_);//
async: a .read wait is for the target as well|sync/asynchroniser.cpp|s/if (!is_bulk || !site.reads_only) {/if (lanes != 0) {/
async: a copy arrives for later copies as well|sync/asynchroniser.cpp|s/^    groups.divide();//
async: a proxy fence leaves out its own thread|sync/asynchroniser.cpp|s/^    after.clock.raise(fenced_key(actor.cta.key), {&own, 1});//
async: an arrival of block scope gives to another block|sync/asynchroniser.cpp|s/const bool reaches = !operand.is_remote || /const bool reaches = lanes != 0 || /
async: a wait takes the newest phase of any parity|sync/mbarrier.cpp|s/return is_newest ? newest_ : before_;/return is_newest || true ? newest_ : before_;/
async: bytes to come hold no phase back|sync/mbarrier.cpp|s/if (pending_ != 0 || bytes_ != 0) {/if (pending_ != 0) {/
async: a relaxed arrival gives all to a cluster|sync/cluster_barrier.cpp|s/^  if (!is_relaxed) {/  if (!is_relaxed || lanes != 0) {/
async: a cluster barrier gives its clocks but not its fences|sync/cluster_barrier.cpp|s/^  both.fences = joined(own.fences, taken.fences);//
LIST
)

mkdir -p "$copy"
for part in CMakeLists.txt cmake base device_logger host_detector tests; do
  rm -rf "${copy:?}/$part"
  cp -r --preserve=timestamps "$tree/$part" "$copy/"
done
rm -rf "$scratch/pristine"
cp -r "$copy/host_detector" "$scratch/pristine"
# An earlier run may have left objects of mutated files, newer than the files of the tree.
while IFS='|' read -r _ file _; do touch "$copy/host_detector/$file"; done <<<"$mutations"

make() {
  ninja -C "$build" barracuda.test.host_detector.oracle barracuda.test.host_detector
}

passes() {
  timeout 600 "$build/bin/barracuda.test.host_detector.$1" >"$scratch/$1.log" 2>&1
}

cmake -S "$copy" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo \
  "-DBARRACUDA_FOLDERS=base;host_detector" >"$scratch/cmake.log"
make >"$scratch/make.log"
ln -sf barracuda.test.host_detector "$build/bin/barracuda.test.host_detector.unit"
passes oracle && passes unit || { echo "the tests fail without any mutation"; exit 1; }

survivors=0
while IFS='|' read -r name file expression; do
  target=$copy/host_detector/$file
  sed -i "$expression" "$target"
  if cmp -s "$target" "$scratch/pristine/$file"; then
    result="DOES NOT APPLY"
  elif ! make >"$scratch/make.log" 2>&1; then
    result="DOES NOT COMPILE"
  elif ! passes oracle; then
    result="caught by the oracle"
  elif ! passes unit; then
    result="caught by a unit test"
  else
    result="SURVIVED"
  fi
  case $result in caught*) ;; *) survivors=$((survivors + 1)) ;; esac
  printf '%-48s %-28s %s\n' "$name" "$file" "$result"
  cp "$scratch/pristine/$file" "$target"
done < <(grep -F "$words" <<<"$mutations")
((survivors == 0))
