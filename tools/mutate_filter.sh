#!/usr/bin/env bash
# Breaks one rule of what stays unlogged at a time (docs/decisions/device-filter.md), in a copy of the tree, and
# runs the tests that should notice: first the random programs against the reference detector, then the unit
# tests of the session, of the code's analysis and of the logger. Prints a line for each mutation; fails if one
# survives or no longer applies. Usage: tools/mutate_filter.sh [FOLDER [WORDS]]   (as tools/mutate_detector.sh)
set -euo pipefail
source "$(dirname "$0")/mutate.sh"

built="base;device_logger;fatbin;ptx;host_detector;report;trace;emulator;session"
tests=(session.oracle session ptx native_logger)
export RC_PARAMS=${RC_PARAMS:-max_success=1000 max_size=100}

judge() {
  if ! passes session.oracle; then
    echo "caught by the oracle"
  elif ! passes session || ! passes ptx || ! passes native_logger; then
    echo "caught by a unit test"
  else
    echo SURVIVED
  fi
}

# name | file in session | sed expression: one line each
of_session=$(cat <<'LIST'
filter: a word is an address|launch_arguments.h|s/return is_number \&\& /return !is_number \&\& /
filter: negative words are addresses|launch_arguments.h|s/word >> 32 == 0 || word >> 63 != 0;/word >> 32 == 0;/
filter: a number beside what was loaded leads nowhere|launch_arguments.h|s/ \&\& !leads.has_loaded_index;/ \&\& (true || leads.has_loaded_index);/
filter: what comes before does not matter|unlogged_accesses.cpp|s/ || !(is_after_all || is_apart)) {/) {/
filter: what comes later does not matter|unlogged_accesses.cpp|s/^  hold_against(launch.id, touched, launch.*;//
filter: copies that come later do not matter|unlogged_accesses.cpp|s/^    hold_against(copy.id, touched);//
filter: an allocation comes later than what was there|unlogged_accesses.cpp|s/^  if (copy.operation != detector::HostOperation::kAllocation) {/  {/
graphs: a node waits for no event|stream_tracker.cpp|s/^      order_.wait_event(own, EventKey{index_of(steps\[i\].waits_for)});//
graphs: a node records no event|stream_tracker.cpp|s/^      order_.record_event(EventKey{index_of(steps\[i\].records)}, own);//
beside: copies are beside nothing|unlogged_accesses.cpp|s/^  beside_.add(copy.id, touched);//
beside: launches are beside nothing|works_beside.cpp|s/    if (!is_before(other.id, work)) {/    if (false) {/
beside: who writes what the other reads is apart|works_beside.cpp|s/return writes_into(\*this, other) || writes_into(other, \*this);/return writes_into(*this, other);/
beside: unknown works touch nothing|works_beside.cpp|s/return !writer.written || may_overlap/return writer.written \&\& may_overlap/
beside: the newest of two streams stands for both|works_beside.cpp|s/return is_before(other.id, work) \&\& other.touched.has_same(touched);/return other.touched.has_same(touched);/
beside: what was not asked touched nothing|works_beside.cpp|s/(anything_ == WorkId{} || is_before(anything_, work))/true/
beside: what was lost touched nothing|works_beside.cpp|s/^    has_lost_some_ = true;//
beside: one work is long enough|works_beside.cpp|s/kLongApart = 32/kLongApart = 1/
beside: the newest launch stands for those beside it|unlogged_accesses.cpp|s/return unlogged.has_same(kept) \&\& is_before(unlogged);/return unlogged.has_same(kept);/
ranges: what is written lies between none|unlogged_accesses.cpp|s/ \&\& !overlap({hull(at->part, at\[1\].part)}, others)) {/) {/
reach: a loop does not repeat|launch_reach.cpp|s/ ||$/ || false ||/;s/^      addresses.values\[\*access.form\]->step_count != 0) {/      false) {/
reach: factors are positive|launch_reach.cpp|s/way < 0 ? first : last/last/
reach: blocks do not count|launch_reach.cpp|s/part < address.factors.size()/part < 3/
reach: an access is one byte|launch_reach.cpp|s/static_cast<std::uint64_t>(last) + access.bytes/static_cast<std::uint64_t>(last) + 1/
filter: launches of graphs do not matter|unlogged_accesses.cpp|s/^    hold_against(id, {});//
filter: what nobody knows to be written is not|memory_ranges.h|s/return !some.empty() \&\& (!others || overlap(some, \*others));/return others \&\& overlap(some, *others);/
filter: unknown stores write nothing|unlogged_accesses.cpp|s/if (!writes.is_known || launch.arguments.empty()) {/if (launch.arguments.empty()) {/
filter: a pointer into no allocation writes nothing|unlogged_accesses.cpp|/if (!behind \&\& !before) {/,/^    }/s/return std::nullopt;/continue;/
filter: an end is the beginning of what follows|unlogged_accesses.cpp|s/allocation_with(pointer - 1)/allocation_with(pointer)/
filter: an array is written with the one before it|unlogged_accesses.cpp|s/leave_out(launch, written->likely,/leave_out(launch, written->maybe,/
filter: what is written may stay unlogged|unlogged_accesses.cpp|s/!overlap({\*range}, written) \&\& //
programmatic: one that waited is enough|unlogged_accesses.cpp|s/waited_first_ >= kOftenEnough/waited_first_ >= 1/
programmatic: who does not wait is forgotten|unlogged_accesses.cpp|s/launch.may_begin_early ? 0 : waited_first_/false ? 0 : waited_first_/
programmatic: nobody is beside who lets it begin|unlogged_accesses.cpp|s/(may_begin_early \&\& !unlogged.lets_dependents_begin) ||/may_begin_early ||/
programmatic: all may be beside who begins early|unlogged_accesses.cpp|s/(may_begin_early \&\& !unlogged.lets_dependents_begin) ||/(may_begin_early \&\& false) ||/
programmatic: a kernel lets others begin as the one before it did|stream_tracker.cpp|s/^  if (next) {/  if (before || (next \&\& !next)) {/
filter: programmatic launches wait|unlogged_accesses.cpp|s/ || launch.may_begin_early || !(is/ || !(is/
filter: the oldest reader is forgotten|unlogged_accesses.cpp|s/^    add_missing(kept.read, oldest->read);//
filter: what it says it goes on doing|unlogged_accesses.cpp|s/^  is_given_up_ = true;//
filter: a write that was met is not told|unlogged_accesses.cpp|s/if (unlogged.written != 0 \&\& is_on()) {/if (false) {/
filter: recordings leave out|unlogged_accesses.cpp|s/ \&\& options.record.empty()//
filter: the rules of the paper leave out|unlogged_accesses.cpp|s/options.model != "paper";/true;/
filter: auto is on|unlogged_accesses.cpp|s/foresees_(options.filter == "auto")/foresees_(false)/
filter: non-blocking streams wait|stream_tracker.cpp|s/^    return !has_non_blocking_;/    return true;/
filter: two streams wait for each other|stream_tracker.cpp|s/is_only_one = numbers_.size() == 1 \&\& left_behind_ == 0/is_only_one = true/
filter: kernels of a graph are a chain|stream_tracker.cpp|s/order.is_chain = order.is_chain \&\& .*/order.is_chain = true;/
filter: works beside each other are a sequence|stream_tracker.h|s/order_.is_after_all(work) ? in_sequence_ + 1 : 0/in_sequence_ + 1/
filter: new streams are not used|stream_tracker.cpp|s/^  in_sequence_ = 0;//
filter: a stream waits for the legacy one|stream_tracker.cpp|s/is_only_one \&\& !(has_non_blocking_ \&\& uses_legacy_)/is_only_one/
states: of a warp all lanes replicate one value|native_states.cpp|s/are_alike || (step.access.is_replicated \&\& values.are_known);/are_alike;/
events: what was kept is not logged|native_states.cpp|s/if (step.outcome == wire::GatherStep::Outcome::kSingly) {/if (false) {/
events: any is the last that is counted|native_states.cpp|s/if (with_these != threads_) {/if (with_these == 0) {/
events: what was logged before a barrier is so behind it|native_states.cpp|s/= wire::kLoggedEver;/= wire::kLoggedEver | wire::kLoggedSinceBarrier;/
events: no barrier has something to order|native_states.cpp|s/wire::kLoggedSinceBarrier) != 0;/wire::kLoggedSinceBarrier) > 1;/
intervals: no states are states|native_logger.cpp|s/std::uint64_t next = wire::kFrozen;/std::uint64_t next = interval;/
events: what is logged does not tell its block|native_queue.cpp|s/^    tell_block();//
events: a barrier of warps is logged though it orders nothing|native_states.cpp|s/if (is_logged() \&\& !log_barrier(event, queue)) {/if (!log_barrier(event, queue)) {/
events: the block's is the warp's|native_states.cpp|s/event.kind = wire::RecordKind::kBlockEvent;//
owned: who reads it beside does not matter|unlogged_accesses.cpp|s/!may_overlap(unlogged.owned, touched.accessed)/true/
owned: copies read nothing|unlogged_accesses.cpp|s/\.accessed = accessed};/.accessed = written};/
owned: launches read nothing|unlogged_accesses.cpp|s/touched.accessed = reach;/touched.accessed = MemoryRanges();/
owned: what nobody knows to be read is not|launch_reach.cpp|s/if (!accesses.are_known || launch.arguments.empty()) {/if (launch.arguments.empty()) {/
owned: what is freed stays|unlogged_accesses.cpp|s/unlogged.owned = without(unlogged.owned, range);//
owned: the oldest owner is forgotten|unlogged_accesses.cpp|s/^    add_missing(kept.owned, oldest->owned);//
owned: atomics of any size are alike|owned_memory.cpp|s/access->is_atomic \&\& access->bytes == allocation.accesses.front()->bytes/access->is_atomic/
owned: every site is of every range|unlogged_accesses.cpp|s/static_cast<std::uint16_t>(1U << i);/0xFFFF;/
owned: what leads to no allocation is nothing|owned_memory.cpp|/if (!led.allocation \&\& !leads_nowhere/{n;s/return false;/continue;/}
owned: an access of two arrays is of each|owned_memory.cpp|s/leads.size() == 1 \&\&/leads.size() != 0 \&\&/
owned: what is not written is looked at again|owned_memory.cpp|s/return overlap(range, candidate.allocation.range);/return false;/
owned: the offset of an access does not matter|owned_memory.cpp|s/footprint.address.constant = begin;//
forms: 32 bits never wrap|affine_address.cpp|s/if (interval.high - moved >= least + static_cast<__int128>(kWordRange)) {/if (false) {/
forms: any step is small|affine_address.cpp|s/return are_small ? value/return are_small || value ? value/
forms: a step is made once|affine_address.cpp|s/add_step(\*value, step.constant)/(value = sum_of(first, step, 8)).has_value()/
forms: every factor is 1|affine_address.cpp|s/wrapping_product(part, factor);/wrapping_product(part, factor == -1 ? -1 : 1);/
overlap: all is of one thread|thread_overlap.cpp|s/\.is_of_thread = true/.is_of_thread = false/
overlap: a number that does not matter is none|thread_overlap.cpp|s/if (extents.at(i) > 1 \&\& factor == 0) {/if (false) {/;s/if (extents.at(i) > 1) {/if (extents.at(i) > 1 \&\& factor != 0) {/
overlap: an access is where it begins|thread_overlap.cpp|s/\.low = apart - footprints\[i\].bytes + 1/.low = apart/
overlap: there is one round|thread_overlap.cpp|s/\.most = way \/ stride/.most = 0 * way/
overlap: rounds end where the array begins|thread_overlap.cpp|s/ascend ? end - span.low : /ascend ? begin + 0 * end - span.low : /
overlap: all go as the first does|thread_overlap.cpp|s/return footprint.address.factors == first.factors;/return !footprint.address.factors.empty();/
guards: an index is another thread's as well|thread_overlap.cpp|s/if (factor <= reach || times == 0/if (times == 0/
guards: the address may go otherwise|thread_overlap.cpp|s/ || address.factors.at(part) != times \* factor ||/ ||/
guards: indices go down|thread_overlap.cpp|s/if (factors.empty() || factors.front().first < 0) {/if (factors.empty()) {/
guards: of one access is of all|owned_memory.cpp|s/if (guards_all \&\& is_known) {/if ((guards_all || true) \&\& is_known) {/
guards: equal is less|owned_memory.cpp|s/(guard.may_be_equal ? 0 : 1)/1/
guards: a limit without a sign has one|owned_memory.cpp|s/(guard.is_signed || more->constant >= 0)/true/
overlap: steps are multiples of the smallest|thread_overlap.cpp|s/return step % smallest == 0; })/return step != 0; })/
overlap: too many choices are none|thread_overlap.cpp|/if (++choices_ > kMostChoices) {/{n;s/true/false/}
logger: acquires are not looked at|native_logger.cpp|s/^      judge_access(\*descriptor, site_of(call, lane), addresses\[lane\], wire::AccessUse::kStrongRead);//
filter: variables are allocations|allocation_table.cpp|s/ || variables_.contains(begin)//
filter: allocations have no end|allocation_table.cpp|s/if (address - begin >= record.bytes || /if (/
shortcuts: what is not written may be stored to|unlogged_accesses.cpp|s/? !shortcut.stores/? true/
shortcuts: one access is enough|unlogged_accesses.cpp|s/return are_owners(left_out.sites/return true || are_owners(left_out.sites/
shortcuts: the last bytes are as others|unlogged_accesses.cpp|s/align_down(range.address + range.bytes, wire::kMostShortcutBytes)/range.address + range.bytes/
shortcuts: what is watched is owned|unlogged_accesses.cpp|s/i < first_watched; ++i) {/i < memory.count; ++i) {/
shortcuts: any variable is the first|unlogged_accesses.cpp|s/launch.variables\[index\].address/launch.variables[0].address/
LIST
)

# The same in ptx.
of_code=$(cat <<'LIST'
code: what is loaded leads nowhere|analysis/global_writes.cpp|s/                                                      : kFromUnknown;/                                                      : 0;/;/size_of(load.last_type()) != kPointerBytes/,/^    }/s/return is_parameter ? kFromUnknown : kFromMemory;/return 0;/
code: beside a loaded word anything is an address|analysis/global_writes.cpp|s/(base \& (kWords | kFromVariables)) != 0 \&\&/true \&\&/
code: what is taken from a loaded word leads where that does|analysis/global_writes.cpp|s/: instruction.opcode == Opcode::kAdd \&\& is_indexed(second, first)/: is_indexed(second, first)/
code: an index that was loaded is not told|analysis/global_writes.cpp|s/(origins \& kHasLoadedIndex) != 0,/false,/
code: halves make no address|analysis/global_writes.cpp|/case Operand::Kind::kVector:/,/return/s/return kFromUnknown;/return 0;/
code: one source of a sum counts|analysis/global_writes.cpp|s/^    for (std::size_t i = first; i < instruction.operands.size(); ++i) {/    for (std::size_t i = first; i < first + 1; ++i) {/
code: one definition counts|analysis/global_writes.cpp|s/const Origins all = known | result(statement, element);/const Origins all = known != 0 ? known : result(statement, element);/
code: statements run as they stand|analysis/global_writes.cpp|s/^    while (read_body()) {/    read_body(); if (false) {/
code: a pointer in a structure is the first|analysis/parameter_words.cpp|s/\.offset = static_cast<std::uint32_t>(offset)/.offset = 0/
code: a vector's second is its first|analysis/global_writes.cpp|s/define(written.elements\[i\], statement, i, sizes)/define(written.elements[i], statement, 0, sizes)/
code: atomics do not write|analysis/global_writes.cpp|/case kStore:/{n;s/case kAtomic:/case kMatrixAccess:/;n;n;s/case kMatrixAccess: {/case kAtomic: return 0; {/}
code: what is called does not write|analysis/global_writes.cpp|s/program.functions\[entry\].reachable/std::vector<std::uint32_t>{entry}/
code: unknown functions do not write|analysis/global_writes.cpp|s/is_harmless_call(program.module, current.instruction) ? 0 : kFromUnknown/0/
code: copies do not write|analysis/global_writes.cpp|s/copies \&\& effect.space != StateSpace::kShared ? kFromUnknown : 0/0/
code: variables are not written|analysis/global_writes.cpp|s/\.variables = (origins \& kFromVariables) != 0/.variables = false/
code: volatile loads may stay unlogged|hooks/hook_call.cpp|s/site.info.order == wire::MemoryOrder::kWeak ? wire::kPlainRead : 0/wire::kPlainRead/
guards: one of two conditions is both|analysis/guards.cpp|s/(made.opcode == Opcode::kAnd \&\& value)/made.opcode == Opcode::kAnd/;s/(made.opcode == Opcode::kOr \&\& !value)/made.opcode == Opcode::kOr/
guards: a branch goes on as it is taken|analysis/guards.cpp|s/const bool is_taken = i != before + 1;/const bool is_taken = i == before + 1;/
guards: what is less may be more|analysis/guards.cpp|s/const bool is_less = relation->is_less == value;/const bool is_less = relation->is_less;/
guards: a comparison that fails is one of equals|analysis/guards.cpp|s/relation->may_be_equal == value,/relation->may_be_equal,/
guards: a predicate has its last value|analysis/guards.cpp|s/!found->is_written_once()/found->definitions.empty()/
guards: a block with several ways to it has the first one's guard|analysis/guards.cpp|s/if (block.predecessors.size() != 1) {/if (block.predecessors.empty()) {/
tries: what is found may be anything|analysis/failed_swap.cpp|s/(operands\[1\].text == result \&\& is_expected(operands\[2\]))/(operands[1].text == result)/
tries: an equal result has failed|analysis/failed_swap.cpp|s/return is_meant ? std::optional(!is_equal)/return is_meant ? std::optional(is_equal)/
tries: what is not known goes back|analysis/failed_swap.cpp|s/return known == known_.end() ? std::nullopt : /return known == known_.end() ? std::optional(true) : /
tries: a result stays when it is overwritten|analysis/failed_swap.cpp|s/has_result_ = has_result_ \&\& written != swap_.operands\[0\].text;//
tries: what is expected stays when it is overwritten|analysis/failed_swap.cpp|s/has_expected_ = has_expected_ \&\& written != swap_.operands\[2\].text;//
tries: a predicate stays when it is overwritten|analysis/failed_swap.cpp|s/    std::erase_if(known_, .*$//
tries: nobody sees what is done on the way|analysis/failed_swap.cpp|s/if (!touches_no_memory(program_.effects\[at_\]) ||/if ((touches_no_memory(program_.effects[at_]) \&\& false) ||/;s/        std::ranges::binary_search(sites_, at_, {}, \&PlannedSite::statement)) {/        sites_.empty()) {/
tries: floating-point numbers are bits|analysis/failed_swap.cpp|s/!compares_bits(instruction.last_type()) ||//
waits: an atomic that adds only looks|passes/waiting_loops.cpp|s/: is_zero(operands\[2\]) \&\& (/: (is_zero(operands[2]) || true) \&\& (/
waits: an atomic that clears only looks|passes/waiting_loops.cpp|s/instruction.has(Modifier::kAdd) ||/instruction.has(Modifier::kAdd) || instruction.has(Modifier::kAnd) ||/
exits: who has stored leaves nothing|passes/barrier_intervals.cpp|s/!from_access.come_before(site.statement);/true;/
exits: what comes behind a barrier was before it too|passes/barrier_intervals.cpp|s/is_access \&\& from_begin.come_before(site.statement)/is_access/;s/      begin.push_back({.statement = site.statement});/      ;/
exits: who has passed a barrier leaves nothing|hooks/interval_text.cpp|s/setp.eq.u32 %__barracuda_f, {0}, 0;/setp.ge.u32 %__barracuda_f, {0}, 0;/
forms: a guarded definition is one|analysis/address_forms.cpp|s/if (!definition.is_whole || !instruction.predicate.empty()) {/if (!definition.is_whole) {/
forms: the last definition counts|analysis/address_forms.cpp|s/= are_alike(found)  *? result_of(found.definitions\[0\])/= (are_alike(found) || true) ? result_of(found.definitions.back())/
forms: alike are other registers' sums|analysis/address_forms.cpp|s/std::ranges::equal(one.operands, other.operands, {}, \&Operand::text, \&Operand::text)/one.operands.size() == other.operands.size()/
forms: alike may be guarded|analysis/address_forms.cpp|s/other.predicate.empty() \&\& one.opcode/one.opcode/
forms: alike are of any type|analysis/address_forms.cpp|s/one.modifiers == other.modifiers \&\&/true \&\&/
forms: a counter may begin twice|analysis/address_forms.cpp|s/} else if (std::exchange(begin, \&definition) != nullptr) {/} else if (std::exchange(begin, \&definition) == \&definition) {/
forms: a counter may double|analysis/address_forms.cpp|s/if (found.state == Register::State::kBegun ||/if (found.state == Register::State::kBegun) { return constant(0, 8); } if (/
forms: strong accesses are plain|passes/global_accesses.cpp|s/^         effect.order == wire::MemoryOrder::kWeak \&\& /         /;s/ *site.info.order == wire::MemoryOrder::kWeak \&\& / /;s/^ *(site.hook == HookKind::kNone || site.hook == HookKind::kAccess) \&\&//
forms: reads are no accesses|analysis/global_writes.cpp|s/opcode_class == OpcodeClass::kLoad || opcode_class == OpcodeClass::kMatrixAccess/opcode_class == OpcodeClass::kMatrixAccess/
steady: what was loaded is the same each time|analysis/steady_kernels.cpp|s/: opcode_class == OpcodeClass::kLoad \&\& reads_own_argument(instruction);/: true;/
steady: what a predicate chose is the same each time|analysis/steady_kernels.cpp|s/if (!is_steady || has_unsteady_predicate(instruction)) {/if (!is_steady) {/
steady: an access may be made or not|analysis/steady_kernels.cpp|s/return !has_unsteady_predicate(instruction) \&\& has_steady_address/return has_steady_address/
steady: an address may be anything|analysis/steady_kernels.cpp|s/\&\& has_steady_address(instruction, effect);/;/
steady: clocks stand still|analysis/steady_kernels.cpp|s/? !is_steady_special(operand.name)/? false/
steady: which lanes use a read does not matter|analysis/steady_kernels.cpp|s/return names_unsteady(site.use_condition);/return false;/
steady: fences order nothing|analysis/steady_kernels.cpp|s/return !facts.synchronises \&\& !facts.has_fence \&\& !facts.spins \&\&/return/
forms: what it calls is not there|passes/kernel_forms.cpp|s/statement.instruction.opcode == Opcode::kCall;/false;/
forms: variables are its own|passes/kernel_forms.cpp|s/variable->second->variables.front().space != StateSpace::kShared/false/
forms: other sites need no guard|passes/kernel_forms.cpp|s/(site.shortcut.has_value() \&\& site.sub_word.word == 0)/true/
intervals: what is published before a store does not matter|passes/barrier_intervals.cpp|s/!publications.come_before(site.statement)/true/
intervals: barriers of some threads are of all|passes/barrier_intervals.cpp|s/site.publishes_later \&\& are_barriers_whole \&\&/site.publishes_later \&\& (true || are_barriers_whole) \&\&/
intervals: volatile stores come before publications|passes/barrier_intervals.cpp|s/site.info.order == wire::MemoryOrder::kWeak \&\& site.effect.space == StateSpace::kShared;/site.effect.space == StateSpace::kShared;/
intervals: a word has one state|passes/barrier_intervals.cpp|s/std::min(smallest/std::max(smallest/
intervals: partial barriers count|passes/barrier_intervals.cpp|s/site.effect.count_operand < 0 \&\&/true \&\&/
intervals: every event is a barrier|passes/barrier_intervals.cpp|s/(site.info.operation == wire::Operation::kExit || is_whole_barrier(program, site));/true;/
intervals: what is called logs nothing|analysis/program.cpp|s/return index == entry || !program.functions\[index\].may_log;/return true;/
intervals: asynchronous copies are accesses|passes/barrier_intervals.cpp|s/site.info.asynchrony == wire::Asynchrony::kNone \&\&/true \&\&/
intervals: nobody publishes|passes/barrier_intervals.cpp|s/site.hook == HookKind::kAccess \&\& publications.come_after(site.statement)/false/
intervals: a relaxed access publishes nothing, nor a release|passes/barrier_intervals.cpp|s/(site.hook == HookKind::kEvent || wire::has_release(site.info.order))/site.hook == HookKind::kEvent/
intervals: no way leads back|analysis/near_stops.cpp|s/for (bool changes = true; changes;) {/for (bool changes = true; changes; changes = false) {/
intervals: who exits does so for all|passes/barrier_intervals.cpp|s/ends ? !may_be_passed(site) :/ends ? true || may_be_passed(site) :/
intervals: other blocks never learn|passes/barrier_intervals.cpp|s/const bool is_told = publications.come_after(site.statement);/const bool is_told = false;/
intervals: where whole grids meet states are worth it|passes/barrier_intervals.cpp|s/ \&\& !has_grid_barrier(program, index);/;/
intervals: few kept stores are worth states|passes/barrier_intervals.cpp|s/kernel.keeps_owners \&\& kept_stores > 0 \&\& /kernel.keeps_owners \&\& /
intervals: who is met tells nobody|analysis/block_publications.cpp|s/ || meetings_.come_after(statement);/;/
intervals: nobody meets before the first barrier|analysis/block_publications.cpp|s/if (!is_entry(begins)) {/if (false) {/
intervals: strong accesses leave states alone|passes/barrier_intervals.cpp|s/site.logs_states = is_strong_access(site) \&\&/site.logs_states = false \&\&/
intervals: any mask is of all lanes|passes/barrier_intervals.cpp|s/sizeof(std::uint32_t)) == kAllLanes;/sizeof(std::uint32_t)) != kAllLanes - 1;/
intervals: barriers of warps need no others|passes/barrier_intervals.cpp|s/ || are_counted_elsewhere(program, sites)) {/) {/
intervals: counted barriers are not told|hooks/interval_text.cpp|s/return site.counts_warps != 0 ? write_call/return false ? write_call/
volatile: a fence behind a load is far|passes/sync_idioms.cpp|s/fences.come_after(statement)/false/
volatile: a fence before a store is far|passes/sync_idioms.cpp|s/: fences.come_before(statement)/: false/
atomics: a fence before one is far|passes/sync_idioms.cpp|s/fences.come_before(statement) || fences/fences/
atomics: a fence behind one is far|passes/sync_idioms.cpp|s/ || fences.come_after(statement) ||$/ ||/
atomics: who comes last does nothing else|passes/sync_idioms.cpp|s/^                          accesses.come_after(statement);/                          false;/
atomics: some are dropped|passes/sync_idioms.cpp|/if (orders) {/{n;s/return;/continue;/}
atomics: all are relaxed|passes/sync_idioms.cpp|s/site->info.order != wire::MemoryOrder::kRelaxed || site->info.poll/site->info.poll/
volatile: nobody waits for shared memory|passes/sync_idioms.cpp|s/ \&\& !facts.spins_on_shared//
intervals: griddepcontrol orders threads|passes/barrier_intervals.cpp|s/site.effect.opcode_class == OpcodeClass::kGridDependency ||/false ||/
intervals: few barriers of warps are counted|passes/barrier_intervals.cpp|s/: counted < wire::kFewWarpBarriers ?/: true ?/
uniform: a barrier of some answers all|analysis/uniform_blocks.cpp|s/effect.count_operand < 0 \&\&$/true \&\&/
uniform: barriers answer each for himself|analysis/uniform_blocks.cpp|s/if (!is_different \&\& !tells_all_alike(instruction, effect, where)) {/if (!is_different) {/
volatile: clusters are blocks|passes/sync_idioms.cpp|s/return effect.shared_cluster || effect.opcode_class == OpcodeClass::kClusterBarrier;/return effect.shared_cluster;/
atomics: any result decides nothing|analysis/result_use.cpp|s/^        return false;/        continue;/
atomics: fences do not matter|passes/global_accesses.cpp|s/return !has_fence_ \&\& /return /
atomics: any scope is the device's|passes/global_accesses.cpp|s/wire::includes(site.info.scope, wire::Scope::kGpu)/true/
code: surfaces are not written|analysis/global_writes.cpp|s/reads_image(current.instruction) ? 0 : kFromUnknown/reads_image(current.instruction) ? 0 : 0/
uniform: a write does not count|passes/uniform_barriers.cpp|s/keeps_reads \&\& !is_written(interval, at);/keeps_reads;/
uniform: any barrier will do|passes/uniform_barriers.cpp|s/uniform_\[flow_.block_of(barrier)\] != Uniformity::kSome \&\&/true \&\&/
uniform: who leaves has read nothing|passes/uniform_barriers.cpp|s/ \&\& !(interval.leaves \&\& interval.goes_on);/;/
uniform: copies are over at a barrier|passes/uniform_barriers.cpp|s/!copies_.come_before(barrier) \&\& //
uniform: what is not committed is waited for|passes/uniform_barriers.cpp|s/left == 0U \&\& !uncommitted.come_before(site.statement)/left == 0U/
uniform: a copy does not write|passes/uniform_barriers.cpp|s/return is_thread_copy(effect) || ((/return ((/
copies: kernels with fences keep them|passes/barrier_intervals.cpp|s/kernel.keeps_states \&\& by_barriers_alone \&\&/kernel.keeps_states \&\&/
copies: they have states of any size|passes/barrier_intervals.cpp|s/std::ranges::none_of(sites, is_too_large) \&\&//
uniform: one interval is enough|passes/uniform_barriers.cpp|s/in_read_only\[at\] \&\& !in_other\[at\];/in_read_only[at];/
uniform: generic stores are global|passes/uniform_barriers.cpp|s/effect.space != StateSpace::kGlobal)/effect.space == StateSpace::kShared)/
uniform: generic loads are shared|passes/uniform_barriers.cpp|s/site.effect.space == StateSpace::kShared/true/
uniform: who left has come to every barrier|passes/uniform_barriers.cpp|s/== Uniformity::kAll;/!= Uniformity::kSome;/
batches: an address may change before the last load|passes/load_batches.cpp|s/ || changes_address(passed)) {/) {/
batches: they go on behind a label|analysis/use_condition.cpp|s/return statement.kind == StatementKind::kLocation || statement.kind == StatementKind::kPragma;/return true;/
batches: a predicate is the same later|passes/load_batches.cpp|s/statement.instruction.predicate.empty() \&\&/(true || statement.instruction.predicate.empty()) \&\&/
batches: lanes need not meet before a matrix|hooks/batch_text.cpp|s/^    text += kMeetInWarp;.*//
batches: loads ask nothing|hooks/batch_text.cpp|s/      first.in_read_only_interval$/      true/
programmatic: who waits on some way waits on all|analysis/grid_dependency.cpp|s/\&\& waits.come_before(at);/\&\& false;/
programmatic: a wait of some lanes is one of all|analysis/grid_dependency.cpp|s/ \&\& statement.instruction.predicate.empty()) {/) {/
programmatic: reads may come before the wait|analysis/grid_dependency.cpp|s/^    case kLoad:$/    case kLoad: return true;/
uniform: a load before any barrier is steady|analysis/steady_loads.cpp|s/if (index == 0) {/if (index == ~0U) {/
uniform: who writes behind the load does not matter|analysis/steady_loads.cpp|s/return is_written ? std::vector<std::size_t>{} : barriers;/return barriers;/
uniform: an unknown address is none of the variable|analysis/shared_writes.cpp|s/ || found->second.sources.variables.empty() ||/ ||/
uniform: a loaded address is none of the variable|analysis/shared_writes.cpp|s/(found->second.sources.is_loaded || /(/
uniform: an offset that was passed is an address|analysis/shared_writes.cpp|s/instruction.opcode == Opcode::kCvta \&\&/false \&\&/
uniform: pieces of a variable never meet|analysis/shared_writes.h|s/return variable == other.variable .*;/return other.first > other.end;/
uniform: a piece has one byte|analysis/shared_writes.cpp|s/= place->offset + bytes}/= place->offset + (bytes > 0 ? 1 : 0)}/
uniform: a loaded address is the argument that it is added to|analysis/shared_writes.cpp|s/(sources->is_loaded || !sources->is_argument ||/(!sources->is_argument ||/
writes: a register is the parameter that it was last|analysis/constants.cpp|s/found->second.definitions != 1 || !reg/!reg/
uniform: extern variables lie apart|analysis/shared_writes.cpp|s/if (!variable.is_extern) {/if (true) {/
tables: any function reads tables of CUDA|passes/classify_statements.cpp|s/!function.name.starts_with(kTableReader)/false/
tables: the functions of sine and cosine read memory|passes/classify_statements.cpp|s/^  take_tables_as_constants(program);//
uniform: all global memory is constant|analysis/uniform_blocks.cpp|s/module_.statements\[at\].instruction.has(Modifier::kNc);/true;/
uniform: any barrier makes a load steady|analysis/uniform_blocks.cpp|s/return blocks_\[flow_.block_of(barrier)\] == Uniformity::kAll;/return true;/
uniform: a register is what it ever was|analysis/uniform_blocks.cpp|s/made_here_\[written.name\] = differs_now;/made_here_[written.name] = false;/
code: pieces of matrices are aligned|hooks/hook_call.cpp|s/ || may_be_unaligned(site);/;/
code: stores are not looked at|hooks/hook_call.cpp|s/kRead ? 0 : wire::kPlainWrite/kRead ? 0 : 0/
shortcuts: one of two pointers counts|passes/global_accesses.cpp|s/ \&\& leads.arguments.size() == 1;/ \&\& !leads.arguments.empty();/
shortcuts: a pointer or a variable is a pointer|passes/global_accesses.cpp|s/leads.is_known \&\& !leads.variables \&\&/leads.is_known \&\&/
shortcuts: atomics are plain|passes/global_accesses.cpp|s/access.sites != 0 \&\& !access.is_atomic \&\&/access.sites != 0 \&\&/
shortcuts: one of two variables counts|analysis/global_writes.cpp|s/origins == (named | kFromVariables)/true/
LIST
)

# The same in device_logger.
of_logger=$(cat <<'LIST'
logger: a read is where it begins|unlogged_memory.h|s/begins_inside \&\& first + bytes <= range.bytes/begins_inside/
logger: a write is where it begins|unlogged_memory.h|s/ends_inside = range.address - address < bytes;/ends_inside = false;/
logger: a write is where it ends|unlogged_memory.h|s/begins_inside = first < range.bytes;/begins_inside = (use == AccessUse::kWrite ? first + bytes - 1 : first) < range.bytes;/;s/ends_inside = range.address - address < bytes;/ends_inside = false;/
logger: one range counts|unlogged_memory.h|s/i < counts.count; ++i/i < counts.count \&\& i < 1; ++i/
states: an interval lasts|shared_states.h|s/is_over(met, interval) ? 0 : met.bits()/met.bits()/
states: intervals do not matter|shared_states.h|s/is_over(met, interval) ? 0 : met.bits()/0/
states: barriers of warps order blocks|shared_states.h|s/if (is_of_warp \&\& kUse == StateUse::kWrite/if (kUse == StateUse::kWrite/
states: barriers of warps order nothing|shared_states.h|s/!is_empty \&\& state.interval() != number$/false/
states: who reads behind a barrier of its warp hides the write|shared_states.h|s/Kind::kReadBehind, state.first(), access.by)/Kind::kRead, access.by)/
states: the writer knows the only reader|word_state.h|s/kind() == Kind::kReadBehind \&\& second().thread == thread ? other_reader()/kind() == Kind::kReadBehind \&\& thread == ~0U ? other_reader()/
states: one of several readers may write|shared_states.h|s/const bool is_alone = !is_behind || .*;/const bool is_alone = true;/
states: who reads beside reads at the same place|shared_states.h|s/if (reader.site == by.site \&\& reader.granules_log2/if (reader.granules_log2/
states: barriers of warps are counted for ever|shared_states.h|s/if (is_last_counted(interval) ||/if (false ||/
states: what was read behind a barrier was written behind it|shared_states.h|s/      which == 0 \&\& (state.kind()/      which == 2 \&\& (state.kind()/
states: strong accesses are weak|shared_states.h|s/ || !is_as_strong) {/) {/
states: an atomic hides what its warp did before|shared_states.h|s/of_reduction_behind(interval, state.first(), access.by)/of(interval, Kind::kReductions, access.by, access.by)/
states: atomics of any warp are behind a barrier|shared_states.h|s/if (is_of_warp \&\& kUse == StateUse::kReduction/if (kUse == StateUse::kReduction/
states: atomics of two warps are of one|shared_states.h|s/if (is_of_warp \&\& kind == Kind::kReductions) {/if (kind == Kind::kReductions) {/
states: atomics of any warp join|shared_states.h|s/state.second().thread \/ kWarpLanes == by.thread \/ kWarpLanes \&\&/true \&\&/
states: two atomics of one warp stand for all|shared_states.h|s/: counts_warps ? keeps_both_counted(state, by)/: false ? true/
states: few barriers of a warp are as many|word_state.h|s/(interval \& kCountsMany) == 0 ? kFewWarpBarriers/false ? kFewWarpBarriers/
states: records number intervals as they come|word_state.h|s/return (number \& ~bits) \* .* + (number \& bits);/return number;/
states: writers do not conflict|shared_states.h|s/if (!is_own) {/if (false) {/
states: a read after another's write is one among reads|shared_states.h|s/(is_first \&\& (kind == Kind::kWrite || /((kind == Kind::kWrite || /
states: what was kept is not logged|shared_states.h|s/\.kept = kept_in(state),/.kept = 0,/
states: two readers of one warp stand for all|shared_states.h|s/stays = counts_warps ? keeps_both_counted(state, by) : /stays = /
states: one reader is kept|shared_states.h|s/^      return 3;/      return 1;/
states: all sites are one|shared_states.h|s/first.site != state.second().site || .*;/true;/
states: every value is equal|shared_states.h|s/access.value_mark == state.mark() \&\&/true \&\&/
states: every store is replicated|shared_states.h|s/return access.is_replicated \&\& stores_the_same/return stores_the_same/
states: no store is replicated|shared_states.h|s/(site \& kKnownValues) != 0};/false};/
states: what another store stored is replicated|shared_states.h|s/^         access.by.site == state.first().site;/         true;/
states: atomics of any size are alike|shared_states.h|s/ || first.granules_log2 != by.granules_log2//
states: an atomic conflicts with nothing|shared_states.h|s/state.kind() != Kind::kReductions || first/first/
states: a load's hook keeps all|shared_states.h|s/(bits \& ~kPlainRead) == 0/true/
states: who is alone is weak|shared_states.h|s/? alone : alone.with_strength(access.is_strong);/? alone : alone;/
states: every size has states|shared_states.h|s/is_held ? state_use(site) : StateUse::kLogged/state_use(site)/
events: a warp in parts is whole|block_events.h|s/is_over() || !is_whole ||/is_over() ||/
events: a block does one thing|block_events.h|s/ || !is_same || / || /
events: it is never over|block_events.h|s/if (is_over() || !is_whole/if (!is_whole/
events: any warp is the last|block_events.h|s/} else if (there == all) {/} else if (there != 0) {/
events: no block is untouched|block_events.h|s/(logged \& kLoggedEver) == 0} << 32/false} << 32/
states: nobody leaves|word_state.h|s/if (left_in <= number) {/if (false) {/
states: who left did nothing|shared_states.h|s/(has_left(state.first().thread) ? 1U : 0U)/0U/
states: who stayed has left|shared_states.h|s/(has_left(state.first().thread) ? 1U : 0U)/1U/
logger: every site is an owner|unlogged_memory.h|s/return i < kMostOwnedSites \&\& (ranges_at(i) >> range \& 1) != 0;/return i < kMostOwnedSites \&\& (ranges_at(i) >> range \& 1) != 2;/
logger: a site beyond the table is an owner|unlogged_memory.h|s/return i < kMostOwnedSites \&\& (/return i >= kMostOwnedSites || (/
logger: nothing is owned|unlogged_memory.h|s/if (i >= first_owned) {/if (false) {/
logger: owned bytes may lie outside|unlogged_memory.h|s/: is_inside  *? LogDecision::kLeftOut/: begins_inside ? LogDecision::kLeftOut/
owners: a word is of any state|word_owners.h|s/return second.with(kind).bits();/return kind == Kind::kNone ? 0 : second.bits();/
owners: nobody writes what another reads|word_owners.h|s/return state.is_of(by) ? to_owner(state.with(Kind::kReadWrite), read, true) : to_logged(state);/return to_owner(state.with(Kind::kReadWrite), read, true);/
owners: readers do not conflict|word_owners.h|s/if (kind == Kind::kReads || (kind/if ((kind/
owners: any writer is the owner|word_owners.h|s/kind != Kind::kNone \&\& !is_after/false/
owners: a write that is read behind it is its reader's|word_owners.h|s/WordOwner(load_word()).first().thread/(load_word(), here.thread)/
owners: a write that is read behind it is of the read's interval|word_owners.h|s/which == 0 ? 0 : here.interval/here.interval/
owners: a read before a known value goes|word_owners.h|s/WordOwner::of(Kind::kRead, state.kept(1, load_word())), true/WordOwner(0), true/
owners: a read behind a write takes its place|word_owners.h|s/return owner_read_behind(state, by, load_word);/return to_owner(read);/
owners: of readers behind a write the first may write|word_owners.h|s/(state.is_of(access.by) \&\& kind != Kind::kReadsBehind)/state.is_of(access.by)/
owners: readers behind a write are of one size|word_owners.h|s/by.size_log2 != first.size_log2 || //
owners: readers behind a write are of one number|word_owners.h|s/ || by.interval != first.interval) {/) {/
owners: the second reader behind a write is the first|word_owners.h|s/: beside.block \& ((1U << kThreadBits) - 1);/: here.thread;/
owners: of many readers behind a write the second stays|word_owners.h|s/(first.site == state.kept(2, word).site \&\& first.site != by.site)/false/
owners: a word behind a write is of any interval|word_owners.h|s/(!is_read_behind() || beside.first().interval == first().interval)/true/
owners: a word that does not come has another place for its second reader|word_owners.h|s/return kind() == Kind::kReadsBehind ? word_of_readers(bits_, first()) : bits_;/return bits_;/
owners: other blocks read behind a write as its own does|word_owners.h|s/: state.first().block == by.block ? owner_reads_behind/: true ? owner_reads_behind/
owners: one reader stands for all|word_owners.h|s/: to_owner(state.with(Kind::kReads), read, true);/: to_owner(state);/
owners: blocks of readers do not matter|word_owners.h|s/is_new_site : is_of_one || is_behind(beside, by));/is_new_site : false);/
owners: intervals of readers do not matter|word_owners.h|s/return first.block == by.block \&\& !by.is_of_interval(first.interval)/return false/
owners: barriers of a block order others|word_owners.h|s/return first.block == by.block \&\& !by.is/return !by.is/
owners: other blocks have barriers|word_owners.h|s/if (kept.block != by.block) {/if (false) {/
owners: barriers settle nothing|word_owners.h|s/return !by.is_of_interval(kept.interval) || /return /
owners: who left is settled|word_owners.h|s/ || (is_frozen \&\& !has_left);/ || is_frozen;/
owners: numbers are told as they are kept|word_owners.h|s/told_number(kept.interval, by.counted);/kept.interval;/
owners: every value of a warp is equal|word_owners.h|s/^         load_word() == WordOwner::word_of_mark(access.value_mark);/         (load_word() != 0 || true);/
owners: what is logged is logged once|word_owners.h|s/state.kind() == WordOwner::Kind::kLogged || access/access/
copies: each is over before|copy_states.h|s/if (status == CopyStatus::kSettled) {/if (true) {/
copies: all know at once of a wait|copy_states.h|s/settled = interval() == number ? over_before() : over();/settled = over();/
copies: a second wait in an interval hides the first|copy_states.h|s/settled = interval() == number ? over_before() : this->over();/settled = this->over();/
copies: waits count from the first group|copy_states.h|s/committed > left ? committed - left : 0/left/
copies: a thread need not wait for its own|copy_states.h|s/status == CopyStatus::kOver \&\& is_own ?/is_own ?/
copies: what others did before does not matter|copy_states.h|s/          .logs = !is_own,/          .logs = false,/
copies: their state is of their interval|word_state.h|s/WordState(is_copy() ? bits_ \& ~kGoes : 0)/WordState(0)/
rounds: numbers do not begin again|word_state.h|s/(interval & kMostIntervals) == kMostIntervals - 1;/(interval \& kMostIntervals) == kMostIntervals;/
rounds: what is watched is kept in all of them|word_owners.h|s/(interval & (kFrozen | kLaterRound)) == 0/(interval \& kFrozen) == 0/
rounds: numbers of what is watched begin again|word_owners.h|s/number = (interval & kLaterRound) != 0/number = false/
quiet: no site is|quiet_sites.h|s/ \&\& (word_at(id \/ 32) >> id % 32 \& 1) != 0;/ \&\& word_at(0) == ~0U;/
quiet: so are its neighbours|quiet_sites.h|s/ >> id % 32 \& 1) != 0;/) != 0;/
logger: every access is of one byte|unlogged_memory.h|s/return 1U << size_log2_at(site);/return 1U + (site \& 0);/
LIST
)

scratch=${1:-$(mktemp -d)}
status=0
mutations=$of_session folder=session
mutate "$scratch" "${2:-}" || status=1
mutations=$of_code folder=ptx
mutate "$scratch" "${2:-}" || status=1
mutations=$of_logger folder=device_logger
mutate "$scratch" "${2:-}" || status=1
exit $status
