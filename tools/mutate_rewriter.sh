#!/usr/bin/env bash
# Like mutate_detector.sh, of the passes that say what a load reads and what is a flag: breaks one rule at a
# time, in a copy of the tree, and runs the unit tests of ptx. Usage: tools/mutate_rewriter.sh [FOLDER [WORDS]]
set -euo pipefail
source "$(dirname "$0")/mutate.sh"

folder=ptx
built="base;device_logger;ptx"
tests=(ptx)

judge() {
  if passes ptx; then
    echo SURVIVED
  else
    echo caught
  fi
}

# name | file in ptx | sed expression: one line each
mutations=$(cat <<'LIST'
bytes: a volatile load is read in part|passes/useful_reads.cpp|s/^         site.info.order == wire::MemoryOrder::kWeak \&\&$//
bytes: a poll is read in part|passes/useful_reads.cpp|s/ \&\& site.hook == HookKind::kAccess \&\&/ \&\&/
bytes: pieces are one|passes/useful_reads.cpp|s/std::countr_one(live_bytes >> begin)/32 - std::countl_zero(live_bytes) - static_cast<int>(begin)/
bytes: a piece begins where the whole does|passes/useful_reads.cpp|s/^  site.offset = piece.begin;//
bytes: a load of nothing is not logged|passes/useful_reads.cpp|s/^      sites.push_back(std::move(site));\n      return;/      return;/;/compilers leave no such load/{n;s/.*//}
bytes: what is logged in part stands for all|passes/reduce_in_block.cpp|s/offset + std::int64_t{site.info.element_bytes} \* site.info.element_count/offset + 8 * std::int64_t{site.info.element_bytes}/
bytes: the first use is the only one|analysis/demanded_bits.cpp|s/^    if (bits == kAll) {/    if (bits != 0) {/
bytes: an and keeps all|analysis/demanded_bits.cpp|s/flip = opcode == kAnd ? 0 : kAll/flip = opcode == kAnd ? kAll : 0/
bytes: a shift right is one left|analysis/demanded_bits.cpp|s/^  if (instruction.opcode == Opcode::kShl) {/  if (instruction.opcode == Opcode::kShr) {/
bytes: signs are not copied|analysis/demanded_bits.cpp|s/const bool wants_sign = is_signed(type) \&\& /const bool wants_sign = width == 0 \&\& /
bytes: a permutation takes from the other word|analysis/demanded_bits.cpp|s/(source < 4) == (operand == 1)/(source < 4) != (operand == 1)/
registers: a wait is for all groups|analysis/async_registers.cpp|s/each.groups > left/each.groups > 0 * left/
registers: no constant is written|analysis/async_registers.cpp|s/!(each.is_computed \&\& state.is_fenced)/!each.is_computed/
registers: of two products the older counts|analysis/async_registers.cpp|s/^  if (age(from) < age(into)) {/  if (age(into) < age(from)) {/
registers: products of all shapes follow each other|analysis/async_registers.cpp|s/one->depth == two->depth \&\&/true \&\&/
registers: a move is a write|analysis/async_registers.cpp|s/^    } else if (is_move(instruction)) {$/    } else if (false) {/
lanes: a select takes either|analysis/use_condition.cpp|s/return predicate_of(operands\[3\], n == 2);/return predicate_of(operands[3], false);/
lanes: an or lets through what is true|analysis/use_condition.cpp|s/return predicate_of(other, opcode == kOr);/return predicate_of(other, false);/
lanes: exclusive or masks|analysis/use_condition.cpp|s/(opcode != kAnd \&\& opcode != kOr)/(opcode != kAnd \&\& opcode != kOr \&\& opcode != kXor)/
lanes: what was read decides about itself|analysis/use_condition.cpp|s/ \&\& !is_from_load(mask->name)) {/) {/
lanes: a branch decides though all ways lead there|analysis/implied_literals.cpp|s/^  if (target.predecessors.size() != 1) {/  if (target.predecessors.empty()) {/
lanes: the other way of a branch|analysis/implied_literals.cpp|s/branch.predicate_negated != is_fall_through/branch.predicate_negated == is_fall_through/
lanes: registers never change|analysis/values_at_load.cpp|s/^  return is_in_turn;/  return true;/
lanes: registers are written once|analysis/values_at_load.cpp|s/^  if (found == nullptr || !found->is_written_once()) {/  if (found == nullptr) {/
lanes: a select and its opposite|analysis/use_terms.cpp|s/return has_all_of(opposite, other) \&\& has(other, opposite\[n\]);/return false;/
lanes: logging waits past anything|analysis/use_condition.cpp|s/^    is_kept = may_be_passed(between, program_.effects\[i\]);/    is_kept = true;/
lanes: logging waits though the address changes|analysis/use_condition.cpp|s/is_kept = is_kept \&\& base.name != written.name;/is_kept = is_kept \&\& !base.name.empty();/
lanes: one that logs stands for those that do not|passes/reduce_in_block.cpp|s/ \&\& site.use_condition.empty() \&\&/ \&\&/
flags: a fence on one way is enough|analysis/fence_paths.cpp|s/behind\[next\] = std::min(behind\[next\], here);/behind[next] = behind[next] == kNowhere ? here : std::max(behind[next], here);/;s/changes = changes || here < behind\[next\];/changes = changes || behind[next] == kNowhere;/
flags: an access between does not count|analysis/fence_paths.cpp|/case Event::Kind::kAccess:/{n;s/return kNothing;/return behind;/}
flags: unknown functions do nothing|analysis/fence_paths.cpp|/bodies_\[event.callee\].flow == nullptr) {/{n;s/return kNothing;/return behind;/}
flags: one call is enough|analysis/fence_paths.cpp|s/least = std::min(least, found == before_call_.end() ? kNothing : found->second);/least = found == before_call_.end() ? kNothing : found->second; break;/
flags: an address that is taken is not called|analysis/fence_paths.cpp|s/ || program_.functions\[function\].is_address_taken ||/ ||/
flags: the widest fence is the scope|analysis/fence_paths.cpp|s/return behind == kStart ? fence : std::max(behind, fence);/return std::max<Behind>(fence, kStart - 1);/
polls: what is returned decides nothing|passes/sync_idioms.cpp|s/reach == Reach::kResult \&\&/reach == Reach::kNothing \&\&/
polls: nothing is ahead behind a return|analysis/fence_paths.cpp|s/^  if (goes_on || from.leaves) {/  if (false) {/
waiting: the address may change|passes/waiting_loops.cpp|s/ \&\& !writes(statement.instruction, kept);/;/
waiting: a store between does not count|passes/waiting_loops.cpp|s/keeps = keeps \&\& is_harmless(program_.effects\[i\]) \&\& /keeps = keeps \&\& /
waiting: one of two loads is enough|passes/waiting_loops.cpp|s/if (loads \&\& load == nullptr) {/if (loads) {/
waiting: a guard is none|passes/waiting_loops.cpp|s/bool keeps = instruction.predicate.empty();/bool keeps = true;/
waiting: fences stay in the loop|passes/insert_hooks.cpp|s/site.hook == HookKind::kAcquire ? i : site.logged_behind + 1/i/
collectives: a pair has one result|passes/warp_collectives.cpp|s/^  read.has_predicate_result = .*/  read.has_predicate_result = !read.has_value;/
collectives: a vote forgets its negation|passes/warp_collectives.cpp|s/source.negated ? "0, 1" : "1, 0"/"1, 0"/
collectives: a guard is the other way round|passes/warp_collectives.cpp|s/instruction.predicate_negated ? "" : "!"/instruction.predicate_negated ? "!" : ""/
collectives: all matches are of 32 bits|passes/warp_collectives.cpp|s/read.first_bits = 64;/read.first_bits = 32;/
places: what is declared later is told|passes/shared_places.cpp|s/declared_at = i + 1/declared_at = entry.body_begin + 1/
places: those of other kernels are told|passes/shared_places.cpp|s/is_programs(variable) \&\& reaches(program, facts, variable.name)/(reaches(program, facts, variable.name) || is_programs(variable))/
places: every warp tells|passes/shared_places.cpp|s/shr.u32 %__barracuda_l, %__barracuda_l, 5;/shr.u32 %__barracuda_l, %__barracuda_l, 10;/
alignment: no kernel needs all of its memory|passes/shared_alignment.cpp|s/> kStaticSharedBytes) {/> 2 * kStaticSharedBytes) {/
alignment: copies of tensors need no more|passes/shared_alignment.cpp|s/copies_tensors ? kOfTensorCopies/false ? kOfTensorCopies/
alignment: numbers are aligned as arrays|passes/shared_alignment.cpp|s/std::min(std::bit_floor(std::max<std::uint64_t>(variable.size(), 1)), most)/most/
places: the first is told first|passes/shared_places.cpp|s/number = list.size(); number-- != 0;/number = 0; number < list.size(); ++number/
lanes: a combined predicate says nothing|analysis/implied_literals.cpp|s/^  implied.insert(implied.end(), of_parts.begin(), of_parts.end());//
lanes: what is combined by or holds as well|analysis/implied_literals.cpp|s/is_copy || (writer.opcode == Opcode::kAnd) != is_negated/true/
lanes: setp.or lets both through|analysis/implied_literals.cpp|s/(is_negated ? is_or : is_and)/(is_or || is_and)/
lanes: what is computed each round never changes|analysis/values_at_load.cpp|s/^  if (depth == kDeepest ||/  if (depth < kDeepest) {\n    return true;\n  }\n  if (depth == kDeepest ||/
lanes: a load does not end what was loaded before|analysis/register_uses.cpp|s/effect.opcode_class == OpcodeClass::kLoad ||/false ||/
registers: nested blocks share the function's names|rename_registers.cpp|s/^    if (!declarations_.have_shared()) {/    if (!declarations_.have_shared() || true) {/
registers: nested blocks share each other's names|rename_registers.cpp|s/return times_.at(name) > 1 ||/return/
registers: a number of a range is no name of it|rename_registers.cpp|s/has_single_of(name) : is_of_range(name));/has_single_of(name) : false);/
polls: of two words the last one alone is polled|passes/sync_idioms.cpp|s/          if (effect.opcode_class != OpcodeClass::kLoad ||/          if (true ||/
polls: another poll ends the way to the fence|analysis/fence_paths.cpp|s/^  if (event.kind == Event::Kind::kLook) {/  if (false) {/
narrow: a fence for the device is one of the block|passes/narrow_kernels.cpp|s/return !wire::includes(wire::Scope::kCta, effect.scope);/return false;/
narrow: releases do not count|passes/narrow_kernels.cpp|s/wire::has_acquire(effect.order) || wire::has_release(effect.order)/wire::has_acquire(effect.order)/
narrow: acquires do not count|passes/narrow_kernels.cpp|s/wire::has_acquire(effect.order) || wire::has_release(effect.order)/wire::has_release(effect.order)/
narrow: what is called does not count|passes/narrow_kernels.cpp|s/!std::ranges::all_of(facts.reachable, is_of_no_account)/false/
exchange: who takes need not give|passes/updates.cpp|s/std::ranges::find(other.stored, own) != other.stored.end()) {/true) {/
packed: two halves are one number|mnemonic.cpp|s/type == ScalarType::kF16x2 || //
lanes: what is written in part is written|analysis/reached_uses.cpp|s/is_result \&\& named.component.empty()/is_result/
lanes: a value reaches what is not on its way|analysis/use_condition.cpp|s/if (followed.reached \&\& !followed.reached->contains(each.statement)) {/if (false) {/
lanes: the first select is enough|analysis/use_condition.cpp|s/if (!goes_on || is_full(path)) {/if (!goes_on || !path.known.empty()) {/
lanes: what comes from another round is of this one|analysis/use_condition.cpp|s/ \&\& (path.is_in_turn || !other.is_in_turn) \&\&/ \&\&/
lanes: logging waits for what masks in the next round|analysis/use_condition.cpp|s/return masked.is_in_turn \&\& flow_/return flow_/
lanes: what decided long ago does so now|analysis/use_condition.cpp|s/is_in_turn \&\& !implied.is_of_past)/is_in_turn)/
lanes: any constant is what is not asked for|analysis/implied_literals.cpp|s/return zero \&\& \*zero != literal.is_negated;/return zero.has_value();/
lanes: one of several that write decides for all|analysis/implied_literals.cpp|s/^      keep_common(\*of_all, of_one);/      of_one.clear();/
lanes: one condition is made for each of its uses|analysis/values_at_load.cpp|s/return other.type == clone.type \&\& /return false \&\& other.type == clone.type \&\& /
LIST
)

mutate "$@"
