#!/usr/bin/env bash
# Breaks one rule of the engine at a time, in a copy of the tree, and runs the tests that should notice:
# the oracle first, then the unit tests. Prints a line for each mutation; fails if one survives or no
# longer applies. Usage: tools/mutate_detector.sh [FOLDER [WORDS]]   (FOLDER: scratch space, kept between
# runs; WORDS: only the mutations with these words in their line)
set -euo pipefail
source "$(dirname "$0")/mutate.sh"

folder=host_detector
built="base;host_detector"
tests=(host_detector.oracle host_detector host_detector.pipeline)
export RC_PARAMS=${RC_PARAMS:-max_success=1500 max_size=200}

judge() {
  if ! passes host_detector.oracle; then
    echo "caught by the oracle"
  elif ! passes host_detector || ! passes host_detector.pipeline; then
    echo "caught by a unit test"
  else
    echo SURVIVED
  fi
}

# name | file in host_detector | sed expression: one line each
mutations=$(cat <<'LIST'
release fence publishes nothing of wider levels|happens_before/sync_rules.cpp|s/has_release(site.order) \&\& level <= widest; ++level/has_release(site.order) \&\& level < widest; ++level/
acquire fence takes nothing|happens_before/sync_rules.cpp|s/after.clock.join(before.fences->pending\[level\]);/static_cast<void>(level);/
relaxed write publishes its clock|happens_before/sync_rules.cpp|s/(releases ? fill_all : fill_fenced)/(true ? fill_all : fill_fenced)/
relaxed read acquires at once|happens_before/sync_rules.cpp|s/has_acquire(site.order) || engine_.options.acquire_relaxed_spin/true/
publishing overwrites|sync/value_graph.cpp|s/    all.join(clock);/    all = clock.without_home();/
clocks: any version of a snapshot is as good|clock/clock.h|s/ \&\& version >= other.version//
clocks: what is learnt besides is of the snapshot|clock/clock.cpp|s/^      snapshot_ = {};//
clocks: two that are joined are of the snapshot|clock/clock.cpp|s/} else if (both != others_) {/} else if (false) {/
clocks: a snapshot has the home of its reader|clock/clock.cpp|s/    home_ = joined(home_, CtaClockPointer(of_home));//
atomics hand nothing on|sync/location.cpp|s/^    graph_.link(from, to);//
kept stores: they were made last|clock/warp_state.h|s/return is_before_publications$/return is_before_publications \&\& last == 0/
kept stores: a barrier of the warp is no bound|clock/warp_state.h|s/std::max(counted_barriers.begin_of(interval), std::min(last, published_))/std::min(last, published_)/
kept stores: intervals of the block are one|clock/warp_state.h|s/void begin_interval() { published_ = kNever; }/void begin_interval() {}/
kept stores: nobody has learnt of one that is told late|races/conflict.cpp|s/may_come_after(access, older, older_lane, cell, lane)));/(cell.time == 0 \&\& may_come_after(access, older, older_lane, cell, lane))));/
kept stores: told late they stand for what came after|races/piece_check.cpp|s/return access.piece.is_late \&\& access/return access.piece.is_late \&\& false \&\& access/
kept stores: the newest time of a warp is behind a barrier of it|races/piece_check.cpp|s/access.actor().warp.counted_barriers.has_between(cell.time, older.time);/(true || access.actor().warp.counted_barriers.has_between(cell.time, older.time));/
kept stores: a fence publishes nothing|happens_before/sync_rules.cpp|0,/  actor.warp.publish();/s///
a poll for a change takes what it read|happens_before/sync_rules.cpp|s/value \&\& site.waits_for_change ?/false ?/
a poll for a change goes back beyond a store|sync/location.cpp|s/if (has_stores_ || takes_all_ ||/if (takes_all_ ||/
a poll for a change goes back beyond the change|sync/location.cpp|s/((node->before\[0\] ^ first) \& bits) != 0/false/
malloc gives old memory|warp_operation.h|s/heap.value_read != 0;/false;/
values: a forgotten one is as new when it comes again|sync/location.cpp|s/^    evicted_.insert(value);//
values: a release does not reach those behind it|sync/value_graph.cpp|s/^  mark_stale(group.after_);//
values: those of a circle do not have what all have|sync/value_graph.cpp|s/^    take_over(all, \*group);//
an older narrow release stands for a newer one|sync/value_graph.h|s/if (is_comparable \&\& until < known_until) {/if (is_comparable) {/
a poll drops what is pending of other locations|happens_before/sync_rules.cpp|s/(from != 0 \&\& from == acquired.source)/true/
a barrier takes what one thread knows for what all know|sync/barrier.cpp|s/if (!has_clock_ || !state.clock.shares_all_with(before.state->clock)) {/if (!has_clock_) {/
sets: strong accesses of narrow scopes are of one kind as well|races/shared_sets.cpp|s/ || !includes(site.scope, wire::Scope::kGpu)) {/) {/
unknown values are taken for none|sync/location.cpp|s/^    takes_all_ = true;/    takes_all_ = false;/
a barrier gives its clocks but not its fences|sync/barrier.cpp|s/^    add_fences(warp, group, state, before);/    static_cast<void>(group);/
a warp's time stands still at a barrier|sync/barrier.cpp|s/^      warps\[warp\].advance();//
a barrier opens before the last thread came|sync/barrier.cpp|s/waiting_ >= live_threads/waiting_ + 1 >= live_threads/
same warp is ordered without a barrier|races/cell_order.cpp|s/older.warp == warp.warp() \&\& older.maps_lanes_like(newer)) {/older.warp == warp.warp()) {/
settled: its block does not know of it|races/cell_order.cpp|s/older.cta == actor.cta.key \&\& older.is_settled()/false/
settled: it is compared with what its block does|races/piece_check.cpp|s/cell.is_settled() \&\& older.cta == cell.cta/false/
settled: it has a time like others|races/access_check.cpp|s/operation.is_settled ? Cell::kSettledTime/false ? Cell::kSettledTime/
a strong access replaces a plain one|races/verdict.cpp|s/(is_as_strong(strength_of(\*older.site), strength) \&\&/(true \&\&/
a read replaces a write|races/verdict.cpp|s/if (older.writes \&\& !newer.writes) {/if (false) {/
a narrow scope counts as wide|races/verdict.cpp|s/includes(narrower(first.scope, second.scope), pair.distance)/includes(wider(first.scope, second.scope), pair.distance)/
values are equal whatever they are|races/verdict.cpp|s/first.value == second.value \&\&$/true \&\&/
values of different sizes are equal|races/verdict.cpp|s/return width(first) == width(second) \&\& first/return first/
values of vectors are equal to those of scalars|races/verdict.cpp|s/ \&\& first.site->element_count == second.site->element_count;/;/
values: one store of a known value stands for an older one|races/replacement.cpp|s/return stands_alone ? without(older, newer.bytes) : outdated/return true ? without(older, newer.bytes) : outdated/
values: two stores of one known value stand for an older one|races/replacement.cpp|s/return older.outdated_by == mark ? older : without/return older.outdated_by == 0 ? older : without/
values: what outdates some bytes outdates all|races/replacement.cpp|/^Cell outdated(/,/^}/s/if (older.bytes.within(newer.bytes)) {/if (!newer.bytes.none()) {/
values: cells that one store outdated are as others|shadow/cell.h|s/           outdated_by == other.outdated_by;/           true;/
compare-and-swap: it writes what it keeps|races/footprint.cpp|s/piece.cell.flags = Cell::kReads;/piece.cell.flags = whole.cell.flags;/
compare-and-swap: it does not touch what it keeps|races/footprint.cpp|s/^    piece.cell.bytes = /    if (!piece.cell.writes()) footprint.pop_back(); else piece.cell.bytes = /
compare-and-swap: any atomic keeps bytes|races/footprint.cpp|s/^      wire::kLaneCompares | wire::kLaneHasRead/      wire::kLaneHasRead/
a speculated load is an error|races/verdict.cpp|s/^  if (is_speculated(pair)) {/  if (is_speculated(pair) \&\& false) {/
a speculated load stands for a plain one|races/verdict.cpp|s/if (newer.site->speculated \&\& !older.site->speculated) {/if (false) {/
lanes of one instruction need not agree|races/verdict.cpp|s/pair.same_instruction \&\& pair.first.agrees \&\& pair.second.agrees/pair.same_instruction/
a flag and a poll of another size are a pair|races/verdict.cpp|s/ \&\& width(store) == width(poll) / /
sizes of atomics do not matter|races/verdict.cpp|s/if (width(pair.first) != width(pair.second)) {/if (false) {/
an observed write orders nothing|races/conflict.cpp|s/was_observed(access, older, byte, lane) ||/false ||/
an acquire passes too early|queue/order_counters.h|s/(done_\[stamp.counter\] - stamp.number) >= 0/(done_[stamp.counter] - stamp.number) >= -1/
a release passes what its cluster waits with|queue/ordering.cpp|s/^  ClusterQueue\* queue = ParkedRecords::find(launch, cluster);/  ClusterQueue* queue = header_of(record).kind == wire::RecordKind::kRelease ? nullptr : ParkedRecords::find(launch, cluster);/
surfaces: a barrier orders blocks|races/verdict.cpp|s/(first.proxy != second.proxy || !same_block)/(first.proxy != second.proxy || (false \&\& !same_block))/
surfaces: accesses by another way are ordered as well|races/verdict.cpp|s/(first.proxy != second.proxy || !same_block)/(!same_block)/
surfaces: one of another block stands for one|races/replacement.cpp|s/proxy == wire::Proxy::kSurface \&\& older.cta/proxy == wire::Proxy::kAsync \&\& older.cta/
surfaces: another access stands for one|races/verdict.cpp|s/(is_of_surface(\*older.site) \&\& !is_of_surface(\*newer.site))/false/
async: the issuer is ordered after its copies|races/conflict.cpp|s/(!older.is_asynchronous() || is_own_kept_copy(access, older, cell))/true/
kept copies: the same one races with itself|races/conflict.cpp|s/return (is_same || access.piece.is_late)/return access.piece.is_late/
kept copies: a barrier does not tell of them|happens_before/sync_rules.cpp|s/^      warp.end_kept_copies();//
kept copies: an interval has the stamps of the one before|clock/completions.h|s/^        kept_\[lane\].end_interval();//
kept copies: one that is over is under way|races/access_check.cpp|s/if (operation.interval == wire::kCopyOver) {/if (false) {/
kept copies: what a thread has waited for is not told|races/access_check.cpp|s/if (record.waited != 0) {/if (false) {/
kept copies: a late one races with what came behind it|races/access_check.cpp|s/.is_late = completions.waited(Completion::kKept, lane) >= time/.is_late = false/
kept copies: a thread knows of its own|races/access_check.cpp|s/time = completions.kept_copy(lane, record.group);/time = 1;/
kept copies: what was before one races with it|races/access_check.cpp|s/.is_late = is_kept/.is_late = false/
async: a copy stands for what its issuer knew|races/replacement.cpp|s/return !newer.is_asynchronous() ||/return true ||/
async: no proxy fence is needed|races/cell_order.cpp|s/^  if (!is_between_proxies(access, older)) {/  if (older_lane < 32) {/
clocks: a join is any join of its first clock|clock/clock_tree.cpp|s/joins.of(a, b);/joins.of(a, a);/;s/if (join.a != a || join.b != b) {/if (join.a != a) {/
async: a wait leaves no group pending|clock/completions.h|s/ends_\[ends_.size() - 1 - left\]/ends_.back()/
async: a barrier does not tell what was waited for|sync/barrier.cpp|s/^  warp.add_waited(lanes, times_);//
async: a .read wait is for the target as well|happens_before/async_copy_rules.cpp|s/if (!is_bulk || !site.reads_only) {/if (lanes != 0) {/
async: a copy arrives for later copies as well|happens_before/async_copy_rules.cpp|s/^    groups.divide();//
async: a proxy fence leaves out its own thread|happens_before/async_copy_rules.cpp|s/^    after.clock.raise(actor.cta.key.fenced(), {&own, 1});//
async: no fence of tensor maps is needed|races/cell_order.cpp|s/^    return older.writes() \&\& older.launch()/    return false \&\& older.launch()/
async: a map is read by each load for itself|races/cell_order.cpp|s/^  return engine.site(newer.site).proxy == wire::Proxy::kTensorMap \&\&/  return false \&\&/
async: a store that nothing waits for is its thread's|races/access_check.cpp|s/^  if (site.asynchrony == wire::Asynchrony::kUnwaited) {/  if (lanes == 0) {/
async: nobody is asked when a block ends|races/use_after_exit.cpp|s/^    if (!use) {/    if (true) {/
async: a box is of no bytes of its tensor|happens_before/tensor_copy_rules.cpp|s/^    touch_rows();/    static_cast<void>(touch_rows);/
async: an arrival of block scope gives to another block|happens_before/async_copy_rules.cpp|s/is_remote || is_unscoped || includes/is_remote || lanes != 0 || includes/
async: a wait takes the newest phase of any parity|sync/mbarrier.cpp|s/return is_newest ? newest_ : before_;/return is_newest || true ? newest_ : before_;/
async: bytes that nobody knows hold a phase back|sync/mbarrier.cpp|s/^  counts_bytes_ = false;//
async: a copy is of the phase that is not complete|sync/mbarrier.cpp|s/is_owed_ = std::exchange(bytes_, 0) > 0;/bytes_ = 0;/
async: bytes to come hold no phase back|sync/mbarrier.cpp|s/if (pending_ != 0 || !has_its_bytes()) {/if (pending_ != 0) {/
async: a relaxed arrival gives all to a cluster|sync/cluster_barrier.cpp|s/^  if (!is_relaxed) {/  if (!is_relaxed || lanes != 0) {/
async: a cluster barrier gives its clocks but not its fences|sync/cluster_barrier.cpp|s/both.fences = joined(own.fences, taken.fences);/both.fences = joined(own.fences, own.fences);/
copies: only two writes race|races/copy_check.cpp|s/if (!cell.writes() \&\& !rows.is_written) {/if (!cell.writes() || !rows.is_written) {/
copies: what launches before it learnt is lost|races/copy_check.cpp|s/.clock = engine_.finals.of(copy.ordered_after)};/.clock = {}};/
copies: what it knows is not handed on|races/copy_check.cpp|s/^  engine_.finals.add(copy.id, std::move(comer.clock));//
copies: an observed write orders nothing|races/observation.h|s/^  if (location == nullptr) {/  if (location == nullptr || byte != 0) {/
copies: an observer that it learnt of does not count|races/copy_check.cpp|s/^           comer.clock.at(observation.thread.place()) >= observation.time;/           false;/
copies: launches before those that it learnt of are forgotten|races/copy_check.cpp|s/^           comer.clock.knows_work(is_ordered);/           false;/
copies: a running launch does not look for one that comes|races/copy_check.cpp|s/launch->may_race_with_copies = is_met = true;/is_met = true;/
copies: a launch does not look for those before it|races/copy_check.cpp|s/^    launch.may_race_with_copies = true;//
copies: they race with themselves|races/copy_check.cpp|s/ || other.id == mine ||/ ||/
copies: rows lie close together|races/copy_check.cpp|s/rows.address + row \* rows.pitch/rows.address + row * rows.row_bytes/
copies: what the host has waited for is dropped though it runs beside a launch|races/copy_check.cpp|s/return is_past \&\& std::ranges::all_of/return is_past || std::ranges::all_of/
copies: asynchronous accesses are their issuer's|shadow/cell.h|s/^    if (!is_asynchronous()) {/    if (launch() != LaunchId{}) {/
copies: only lanes that touch the first byte are asked|races/race_report.cpp|s/for (Bytes rest = bytes; !rest.none(); rest = rest.after_first()) {/for (Bytes rest = bytes; !rest.none(); rest = Bytes{}) {/
copies: an ordered lane stands for all|races/race_report.cpp|s/ordered |= std::uint32_t{1} << lane;/ordered = ~std::uint32_t{0};/
copies: a later one replaces those of other streams|launches/live_copies.cpp|s/(older->id == copy->id || order.is_before(older->id, copy->id));/(older->id != CopyId{} || order.is_before(older->id, copy->id));/
copies: an allocation stands for the copies before it|launches/live_copies.cpp|s/copy->operation != HostOperation::kAllocation;/true;/
events of blocks: one warp|engines/ptx_engine.cpp|s/; warp < warps; ++warp) {/; warp < 1; ++warp) {/
events of blocks: of one lane|engines/ptx_engine.cpp|s/of_warp.mask = wire::lanes_of_warp(.*;/of_warp.mask = 1;/
copies: a read replaces a write|launches/live_copies.cpp|s/(copy->rows.is_written || !older->rows.is_written) \&\&/true \&\&/
copies: pieces are not divided|launches/live_copies.cpp|s/^  split(end);$//
copies: the newest stands for concurrent ones|launches/live_copies.cpp|s/return order.is_before(older, copy.id); });/return order.is_before(older, copy.id) || older != copy.id; });/
copies: memory that is freed keeps them|races/copy_check.cpp|s/^  engine_.copies.forget(address, bytes, engine_.order);/  static_cast<void>(address + bytes);/
copies: a free forgets what is not ordered before it|races/copy_check.cpp|s/^    Bytes over;/    Bytes over = cell.bytes;/
copies: a free forgets nothing|races/copy_check.cpp|s/^      return cell.bytes;/      return Bytes{};/
copies: a free is no access|races/copy_check.cpp|s/if (has_others \&\& copy.operation != HostOperation::kAllocation) {/if (has_others \&\& copy.operation < HostOperation::kAllocation) {/
copies: an allocation is held against those before it|races/copy_check.cpp|s/if (has_others \&\& copy.operation != HostOperation::kAllocation) {/if (has_others) {/
copies: an allocation leaves the free|races/copy_check.cpp|s/^      engine_.copies.forget_all(HostOperation::kFree, rows.address, rows.row_bytes, order);/      static_cast<void>(rows);/
copies: a free leaves the allocation|races/copy_check.cpp|s/^      engine_.copies.forget_all(HostOperation::kAllocation, rows.address, rows.row_bytes, order);/      static_cast<void>(rows);/
copies: what synchronised in memory that is used on is forgotten|races/copy_check.cpp|s/choose)) {/choose) \&\& false) {/
copies: what synchronised in memory that was freed stays|races/copy_check.cpp|s/^  engine_.global_locations.forget(range.address, range.row_bytes);//
copies: an allocation does not wait for the frees of its bytes|queue/ordering.cpp|s/: work_.not_over(copy.freed_by)) {/: std::vector<WorkId>()) {/
copies: they do not wait for the launches before them|queue/ordering.cpp|s/^  if (awaited.empty()) {/  if (awaited.size() < 1000) {/
copies: launches do not wait for copies that wait|queue/open_work.h|s/if (each.is_copy() ? copies_.contains(each.copy())/if (each.is_copy() ? copies_.size() > 1000/
copies: those that share a number lose all but the first|queue/open_work.cpp|s/^  same->second.copies.push_back(copy);//
paper: a release joins what was there|paper/sync_clocks.cpp|s/^      location.everywhere = clock;/      location.everywhere.join(clock);/
paper: a release of a block reaches all|paper/sync_clocks.cpp|s/^      location.blocks\[by.key\] = clock;/      location.everywhere = location.blocks[by.key] = clock;/
paper: a global release leaves those of blocks|paper/sync_clocks.cpp|s/^      location.blocks.clear();//
paper: a global acquire takes nothing of blocks|paper/sync_clocks.cpp|s/^      all.join(clock);$//
paper: the lanes of an instruction do not know of each other|paper/warp_paths.cpp|s/earlier.time <= path.together) ||/earlier.time < path.together) ||/
paper: paths stay apart where they meet|paper/warp_paths.cpp|s/^  paths_\[parent\].clock.join(paths_\[path\].clock);//
paper: paths know of each other|paper/warp_paths.cpp|s/(path.lanes >> earlier.lane \& 1) != 0;/path.lanes != 0;/
paper: an atomic does not race with reads|paper/access_rules.cpp|/case Access::kAtomic:/,/return;/s/^      hold_against_reads(check, state.reads);//
paper: a relaxed read is a plain one|paper/access_rules.cpp|/case Access::kRelaxedRead:/,/return;/s/^      add_to(state.relaxed_reads);/      add_to(state.reads);/
paper: the same value races|paper/access_rules.cpp|s/write.agrees \&\& check.stamp.agrees \&\&/write.agrees != check.stamp.agrees \&\&/
paper: a barrier of the block orders nothing|paper/barriers.cpp|s/^      state.paths.learn(waiting, all);//
paper: what a lane acquires its path does not learn|engines/paper_engine.cpp|s/^    actor.warp.paths.learn(operation.mask, all);/    static_cast<void>(all);/
paper: an atomic that releases replaces|engines/paper_engine.cpp|s/^    sync_of(place).add(bytes, by, site.releases, known);/    sync_of(place).release(bytes, by, site.releases, known);/
paper: copies order no launches|engines/paper_engine.cpp|s/^    engine_.order.add(copy.id, copy.ordered_after);/  engine_.order.add(copy.id, {});/
streams: copies share a number behind an event|stream_order.cpp|/^void StreamOrder::record_event/,/^}/s/^  state_->copies = {};//
streams: copies share a number behind a wait of the host|stream_order.cpp|/^void StreamOrder::synchronize_event/,/^}/s/^  state_->copies = {};//
streams: an event of the legacy stream lets blocking ones pass|stream_order.cpp|/^void StreamOrder::record_event/,/^}/s/^  state_->put(stream.*//
streams: the legacy stream waits for non-blocking ones|stream_order.cpp|s/^        if (!other.is_non_blocking) {/        if (!other.is_non_blocking || true) {/
streams: the device does not await destroyed streams|stream_order.cpp|s/^  state_->add(state_->host, state_->orphaned_non_blocking);//
last sync: of another lane|clock/sync_notes.h|s/return ((note.lanes >> lane) \& 1) != 0;/return (note.lanes >> lane) <= ~lane;/
last sync: later than the access|clock/sync_notes.h|s/return note.time < time  /return note.time != time  /
last sync: guessed where one of two came first|clock/sync_notes.h|s/if (when(note, time) == SyncWhen::kUnclear) {/if (when(note, time) == SyncWhen::kUnclear \&\& lane > 31) {/
last sync: none, where notes were dropped|clock/sync_notes.h|s/return has_all() ? std::optional(Answer{})/return !has_all() ? std::optional(Answer{})/
missing order: a wait at one mbarrier is for an arrival at another|races/explanation.cpp|s/return one \&\& other \&\& one->members == other->members;/return one \&\& other;/
missing order: a wait at one named barrier is for an arrival at another|races/explanation.cpp|s/ \&\& is_same_barrier(arrival, wait)) ||/) ||/
last sync: of a block that is over it is not kept|engines/ptx_engine.cpp|s/^    engine_.past_notes.keep(actor.cta);//
last sync: of a killed launch it is not kept|engines/ptx_engine.cpp|s/^    engine_.past_notes.keep(cta);//
last sync: what ends an epoch may have come first|clock/sync_notes.h|s/note.time == time \&\& !note.ends_epoch ?/note.time == time ?/
last sync: a barrier does not end an epoch|engines/ptx_engine.cpp|s/const bool ends_epoch = site.operation == Operation::kBarrier ||/const bool ends_epoch =/
last sync: what may be overwritten meanwhile is read|clock/sync_notes.h|s/load(count_) - seen.count_ + 1;/load(count_) - seen.count_;/
last sync: another block in the same place passes for it|state/past_notes.h|s/return block.cta == cta \&\& warp/return warp/
shared sets: atomics of a narrow scope are of them|races/shared_sets.cpp|s/!includes(site.scope, wire::Scope::kGpu)) {/false) {/
shared sets: four bytes pass for eight|races/shared_sets.cpp|s/return SharedAccessKind::kAtomics4;/return SharedAccessKind::kAtomics8;/
shared sets: who is none of them does not look|races/piece_check.cpp|s/  if (!is_one_of_them ||/  if (launch == LaunchId{} ||/
shared sets: who adds after all were before leaves that so|shadow/shared_access_set.cpp|/^void SharedAccessSet::add/,/^}/s/  all_before_.reset();//
shared sets: all are before whatever a thread knows|races/piece_check.cpp|s/snapshot.is_no_older_than(known->by);/known->by.of != 0;/
shared sets: all are before though some were not|races/piece_check.cpp|s/if (are_all_before \&\& is_news/if (is_news/
shared sets: what the first one's block did is before all|races/piece_check.cpp|s/.but_of = is_known ? CtaKey{} : own});/.but_of = CtaKey{}});/
shared sets: what one lane did again all did|races/replacement.cpp|s/if ((older.lanes \& ~newer.lanes) != 0) {/if (older.lanes == 0) {/
shared sets: other lanes at the same bytes stand for it|races/replacement.cpp|s/} else if (newer.maps_lanes_like(older)) {/} else {/
shared sets: any newer one stands for an older|races/replacement.cpp|/^Cell left_in_set(/,/^}/s/!may_replace(side_of(engine, newer), side_of(engine, older))) {/older.bytes.none()) {/
shared sets: warps of all blocks are one when compacting|shadow/shared_access_set.h|s/places\[end\].cta == places\[start\].cta/places[end].time != 0/
shared sets: warps of all blocks are one when adding|shadow/shared_access_set.h|s/member.cta == cta \&\& (/member.cta != ~0U \&\& (/
shared sets: what a launch did another did|shadow/shared_access_set.h|s/group.alike.launch() != launch) {/group.alike.launch() == LaunchId{}) {/
shared sets: warps are one member though their times differ|shadow/shared_access_set.cpp|s/member.time == cell.time \&\&/member.time != 0 \&\&/
shared sets: warps are one member though their lanes differ|shadow/shared_access_set.cpp|s/member.lanes == cell.lanes \&\&/true \&\&/
shared sets: what one warp became all of its member did|shadow/shared_access_set.cpp|s/if (is_single(member.warps) \&\&/if (member.warps != 0 \&\&/
shared sets: a changed warp stays what it was|shadow/shared_access_set.cpp|s/  member.warps \&= ~(std::uint32_t{1} << was.warp);//
shared sets: members that are gone count|shadow/shared_access_set.cpp|s/    size_ -= drop/    drop/
locations: a long map takes what came last for the first|sync/small_map.h|s/index_->emplace(key, items_.size() - 1);/index_->emplace(key, 0);/
locations: shared memory forgets at any barrier|happens_before/sync_rules.cpp|s/barrier.has_everybody(cta.warps)) {/!cta.warps.empty()) {/
block: a split block loses what is known of the whole|shadow/block.cpp|s/if (whole != nullptr \&\& whole->is_empty()) {/if (whole != nullptr) {/
block: a split block does not meet who touched all of it|shadow/block.h|s/  if (whole != nullptr) {$/  if (whole != nullptr \&\& is_whole) {/
busy words: races with one site hide those with others|races/racing_sites.h|s/return each.site == site \&\& each.whose == whose \&\& each.races >= kEnough;/return each.races >= kEnough;/
busy words: races within a warp hide those with others|races/racing_sites.h|s/return each.site == site \&\& each.whose == whose \&\& each.races >= kEnough;/return each.site == site \&\& each.races >= kEnough;/
wgmma: a wait tells nothing|happens_before/async_copy_rules.cpp|s/\.lanes = kAllLanes,/.lanes = kAllLanes - 1,/
wgmma: a wait is for its own warp alone|happens_before/async_copy_rules.cpp|s/completion_slot(Completion::kMatrixReads, warp++)/completion_slot(Completion::kMatrixReads, actor.warp.warp() + 0 * warp)/
async: an arrival without a scope at another block gives nothing|sync/mbarrier.cpp|s/^  newest_.unscoped.join(gathering_.unscoped);//
async: an unscoped wait takes what is of cluster scope|happens_before/async_copy_rules.cpp|s/Clock far = is_wide ? given.far/Clock far = is_wide || operand.site.is_unscoped ? given.far/
wgmma: A in registers is read from memory|matrix_reads.h|s/if (!shape.has_registers) {/if (shape.is_valid()) {/
wgmma: every warp reads the first rows of A|matrix_reads.h|s/rows_of_warp(operation.warp)/rows_of_warp(0)/
wgmma: of B eight columns are read|matrix_reads.h|s/shape.rows_of_b())/wire::MatrixRowRange{.first = 0, .count = 8})/
wgmma: of B a sparse product reads 32 bytes of a row|matrix_reads.h|s/shape.rows_of_b())/wire::MatrixRowRange{.first = 0, .count = shape.columns})/
tcgen05: B is not read|matrix_reads.h|s/{matrices->a, matrices->b}/{matrices->a, matrices->a}/
tcgen05: a commit is for the products of its whole warp|happens_before/async_copy_rules.cpp|s/^        .lane = lane};/        .lane = 0 * lane};/
tcgen05: a commit gives nothing of what its thread knows|happens_before/async_copy_rules.cpp|s/^    if (is_of_tensors) {/    if (is_of_tensors \&\& !is_possible) {/
tcgen05: groups of cp.async are of products too|happens_before/async_copy_rules.cpp|s/is_of_tensors ? Completion::kTensorReads : Completion::kThreadGroup/Completion::kThreadGroup/
busy words: accesses of other sites count|races/piece_check.cpp|s/    if (kept.site == cell.site) {/    if (kept.cta != CtaKey{}) {/
launches: blocks that are over come back|state/launch_state.h|s/return cta \/ kShards < finished.size() \&\& finished\[cta \/ kShards\];/return cta > ~cta \&\& finished[cta \/ kShards];/
launches: with a block those before it in its shard are over|state/launch_state.cpp|s/^  finished\[index\] = true;/  finished.assign(index + 1, true);/
shared memory: a barrier of some divides it|sync/barrier.cpp|s/return std::ranges::all_of(warps, /return std::ranges::any_of(warps, /
shared memory: a barrier orders asynchronous copies|happens_before/sync_rules.cpp|s/if (!engine_.has_asynchrony \&\& /if (/
shared memory: a barrier of a block is one of its cluster|happens_before/sync_rules.cpp|s/ \&\& !cta.launch.has_clusters()//
shared memory: what was done after a barrier goes with what was before|shadow/shadow_memory.cpp|s/^  touched.phase = phase_;//
words: who has somebody to meet joins|shadow/word_lists.cpp|s/if (own != kNone || slots_\[slot\].time != cell.time) {/if (slots_[slot].time != cell.time) {/
words: a lane is held against nobody|shadow/word_lists.h|s/meet(unpack(older, word))/static_cast<void>(meet), Meeting::kStays/
words: a lane does not keep whom it does not stand for|races/piece_check.cpp|s/^                     left_after(access, older, cell).bytes.none()/                     true/
words: lanes of different times are one|shadow/packed_cell.h|s/cta == newer.cta \&\& time == newer.time/cta == newer.cta/
words: lanes that come later are lost|shadow/packed_cell.h|s/lanes = lanes_of(\*this) | lanes_of(newer);/lanes = lanes_of(*this);/
gathered: atomics wait while their block synchronises|engines/ptx_engine.cpp|s/!leaves_order_alone(operation, site)))/false))/
gathered: atomics of different times are one|races/gathered_atomics.h|s/known.time == atomic.time/known.time != 0/
pages: what a thread found of freed memory stays found|shadow/shadow_memory.cpp|/^void ShadowMemory::forget/,/^}/s/^  generation_ = next_generation();//
programmatic: waiting for the grid tells nothing|happens_before/sync_rules.cpp|s/after.clock.join(actor.cta.launch.from_grid_wait);//
programmatic: nobody begins early|launches/prerequisites.cpp|s/order.add(launch.id, launch.ordered_after, launch.prerequisite);/order.add(launch.id, launch.ordered_after);/
programmatic: who begins early knows nothing of others|launches/prerequisites.cpp|s/at_first.join(let_begin->second);//
launches: one begins before those before it are over|queue/ordering.cpp|/^void Ordering::begin_launch/,/^}/s/if (launch->awaited.empty())/if (launch != nullptr)/;/^void Ordering::go_on_with/,/^}/s/^  begin(\*launch);//
programmatic: later launches forget its prerequisite|stream_order.cpp|s/put(stream, {fresh, id});/put(stream, {id});/
programmatic: what the host waited for may still run|stream_order.cpp|s/state_->covers(state_->host, before_it)/false/
programmatic: a prerequisite is one with what is after it|stream_order.cpp|/  void put(/,/^  }/s/stream.last_kernel = {};//
programmatic: a chain of launches goes on that was not over|launches/launch_order.cpp|s/past\[chain\] == chains_/past[chain] <= chains_/
rounds: clusters of a launch that waits are applied|queue/rounds.cpp|s/ || !launch->awaited.empty() ||/ ||/
rounds: a cluster is applied past what waits in its queue|queue/rounds.cpp|s/launch->queues.contains(records.cluster())/records.is_empty()/
rounds: what stands behind a release is lost|queue/rounds.cpp|s/^    parked_.push(\*queue, records.front());//
rounds: blocks of a cluster are apart|queue/rounds.cpp|s/launch->shape.cluster_of(cta)/cta/
rounds: records of the last round come again|queue/ring_window.cpp|s/^  batches_.clear();//
rounds: launches are not told apart|queue/ring_window.cpp|s/clusters_\[recent\].launch() == launch/clusters_[recent].cluster() == cluster/
races: a frequent one is told again and again|state/race_log.cpp|s/known.is_told.exchange(true)) {/(known.is_told.exchange(true) \&\& false)) {/;s/known.is_told.load(std::memory_order_relaxed) ||/false ||/
places: enough is known at once|state/race_log.cpp|s/place.number == 0 \&\& on_enough_/on_enough_/
places: what was told is kept again|state/race_log.cpp|s/std::ranges::find(places, place) != places.end()/false/
races: a warning is as frequent as an error|state/race_log.cpp|s/is_error ? limit_ : limit_ \* kWarningsMore/limit_/
streams: a kernel that is not checked lets blocking ones pass|stream_order.cpp|/^void StreamOrder::launch_unknown/,/^}/s/^  state_->put(stream.*//
silent: synchronisation falls silent in any kernel|engines/ptx_engine.cpp|s/site.narrow_kernel != 0 \&\& wire::is_numbered/wire::is_numbered/
silent: what others wait for falls silent|engines/ptx_engine.cpp|s/ \&\& wire::is_numbered_load_or_store(site)) {/) {/
silent: fences are logged on|engines/ptx_engine.cpp|s/site->operation == Operation::kFence || //
silent: threads of a block have no order|races/conflict.cpp|s/pair.distance == Distance::kCta || pair.first/pair.first/
silent: who saw a strong access is not behind it|races/conflict.cpp|s/^                      pair.second.site->numbered;/                      false;/;s/pair.first.site->numbered ||/false ||/
silent: launches are not told apart|races/conflict.cpp|s/return pair.same_launch \&\& may_be \&\&/return may_be \&\&/
silent: one kernel silences all|state/silent_kernels.h|s/bit_of(narrow_kernel)) != 0;/~std::uint64_t{0}) != 0;/
a flag stands for every thread of its block|races/explanation.cpp|s/writer.thread.cta == earlier.thread.cta \&\& !is_own/false \&\& !is_own/
barriers: who arrives again gives to those before|sync/barrier.cpp|s/^  if ((arrivals_\[warp.warp()\].lanes \& lanes) != 0) {/  if (false) {/
barriers: who arrives again is forgotten|sync/barrier.cpp|s/given_ = std::exchange(given_early_, {});/given_early_ = {};/
LIST
)

mutate "$@"
