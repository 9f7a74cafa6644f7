#include "host_detector/paper/access_rules.h"

#include <algorithm>

namespace barracuda::detector::paper {

bool happens_before(const EngineState& engine, const Epoch& earlier, const Actor& actor,
                    std::uint32_t later) {
  if (actor.warp.paths.is_before(earlier, later)) {
    return true;
  }
  const WorkId launch = earlier.cta.work();
  const WorkId own = actor.block.key.work();
  return launch != own && (engine.order.is_before(launch, own) ||
                           knows_end_of(engine.order, launch, actor.warp.paths.clock_of(later)));
}

struct AccessRules::Check {
  // Of one check, more races with reads of one site tell nothing new.
  static constexpr std::uint32_t kEnough = 64;

  const Actor& actor;
  std::uint32_t lane = 0;
  Access access{};
  Stamp stamp;
  wire::AddressSpace space{};
  // Of the current variable.
  std::uint64_t byte = 0;
  std::uint32_t races_with_reads = 0;
  // The last race reported, so that one of several variables is counted once.
  Stamp reported;
  std::uint32_t reported_lane = 0;
};

bool AccessRules::is_before(const Check& check, const Stamp& older, std::uint32_t lane) const {
  return happens_before(engine_,
                        {.cta = older.cta, .warp = older.warp, .lane = lane, .time = older.time},
                        check.actor, check.lane);
}

bool AccessRules::is_all_before(const Check& check, const Stamp& older) const {
  return lanes_where(older.lanes,
                     [&](std::uint32_t lane) { return !is_before(check, older, lane); }) == 0;
}

RaceKind AccessRules::kind_of(const Check& check, const Stamp& older) {
  const CtaKey own = check.actor.block.key;
  return older.cta.work() != own.work()                ? RaceKind::kInterKernel
         : older.cta != own                            ? RaceKind::kInterBlock
         : older.warp != check.actor.warp.paths.warp() ? RaceKind::kIntraBlock
         : older.is_same_instruction(check.stamp)      ? RaceKind::kIntraWarp
                                                       : RaceKind::kBranchOrdering;
}

void AccessRules::report(Check& check, const Stamp& older, std::uint32_t older_lane,
                         Severity severity) {
  if (check.reported.is_same_instruction(older) && check.reported_lane == older_lane &&
      check.reported.exists()) {
    return;
  }
  check.reported = older;
  check.reported_lane = older_lane;
  const auto describe = [&](const Stamp& stamp, std::uint32_t lane) {
    const std::uint32_t size = std::max<std::uint32_t>(1, engine_.site(stamp.site).element_bytes);
    return RaceAccess{.site = wire::SiteId{stamp.site},
                      .call_stack = {},
                      .thread = {.launch = stamp.cta.work(),
                                 .cta = stamp.cta.cta(),
                                 .warp = stamp.warp,
                                 .lane = static_cast<std::uint8_t>(lane)},
                      .space = check.space,
                      .address = check.byte / size * size,
                      .size = size};
  };
  RaceEvent race;
  race.kind = kind_of(check, older);
  race.severity = severity;
  race.needed_scope = race.kind == RaceKind::kInterBlock || race.kind == RaceKind::kInterKernel
                          ? wire::Scope::kGpu
                          : wire::Scope::kCta;
  if (check.actor.block.launch.runs_beside(older.cta.work())) {
    race.missing = MissingOrder::kGridWaitMissing;
  }
  race.first = describe(older, older_lane);
  race.second = describe(check.stamp, check.lane);
  if (engine_.log.count_again(race)) {
    return;
  }
  race.first.call_stack = engine_.stacks.calls(older.stack);
  race.second.call_stack = engine_.stacks.calls(check.stamp.stack);
  engine_.log.add(std::move(race));
}

// W_x ≼ C_t
void AccessRules::hold_against_write(Check& check, const Stamp& write) {
  if (!write.exists()) {
    return;
  }
  const std::uint32_t lane = first_lane(write.lanes);
  if (is_before(check, write, lane)) {
    return;
  }
  const bool is_same_value = check.access == Access::kWrite && write.agrees && check.stamp.agrees &&
                             write.is_same_instruction(check.stamp);
  if (!is_same_value) {
    report(check, write, lane, Severity::kError);
  } else if (engine_.options.report_same_value) {
    report(check, write, lane, Severity::kWarning);
  }
}

// R_x ⊑ C_t
void AccessRules::hold_against_reads(Check& check, const Reads& reads) {
  reads.for_each([&](const Stamp& read) {
    if (check.races_with_reads >= Check::kEnough) {
      return;
    }
    const std::uint32_t unordered =
        lanes_where(read.lanes, [&](std::uint32_t lane) { return !is_before(check, read, lane); });
    if (unordered != 0) {
      ++check.races_with_reads;
      report(check, read, first_lane(unordered), Severity::kError);
    }
  });
}

void AccessRules::check_against(Check& check, VariableState& state) {
  check.races_with_reads = 0;
  const auto add_to = [&](Reads& reads) {
    reads.add(check.stamp, [&](const Stamp& older) { return is_all_before(check, older); });
  };
  hold_against_write(check, state.write);
  switch (check.access) {
    case Access::kRead:
      hold_against_reads(check, state.atomics);
      add_to(state.reads);
      return;
    case Access::kRelaxedRead:
      add_to(state.relaxed_reads);
      return;
    case Access::kAtomic:
      hold_against_reads(check, state.reads);
      state.reads.clear();
      add_to(state.atomics);
      return;
    case Access::kWrite:
      for (Reads* const reads : {&state.reads, &state.atomics, &state.relaxed_reads}) {
        hold_against_reads(check, *reads);
        reads->clear();
      }
      state.write = check.stamp;
      return;
  }
}

bool AccessRules::apply(const Actor& actor, std::uint32_t lane, wire::SiteId site, Access access,
                        const Touched& touched) {
  const std::optional<MemoryPlace> place = place_of(touched.tagged, actor, touched.bytes);
  if (!place) {
    return false;
  }
  Check check{.actor = actor,
              .lane = lane,
              .access = access,
              .stamp = {.cta = actor.block.key,
                        .time = actor.warp.paths.now(),
                        .site = static_cast<std::uint32_t>(site),
                        .stack = actor.warp.stacks[lane],
                        .lanes = std::uint32_t{1} << lane,
                        .warp = static_cast<std::uint8_t>(actor.warp.paths.warp()),
                        .agrees = touched.agrees},
              .space = place->shared_of != nullptr ? wire::AddressSpace::kShared
                                                   : wire::AddressSpace::kGlobal};
  Shadow& shadow = place->shared_of != nullptr ? place->shared_of->shared : engine_.global;
  shadow.for_each(place->address, touched.bytes,
                  [&](VariableState& state, std::uint64_t byte, std::uint64_t) {
                    check.byte = byte;
                    check_against(check, state);
                  });
  return true;
}

}  // namespace barracuda::detector::paper
