#include "host_detector/races/access_check.h"

#include <algorithm>
#include <bit>

#include "host_detector/races/access.h"
#include "host_detector/races/explanation.h"
#include "host_detector/races/lane_run.h"
#include "host_detector/races/observation.h"

namespace barracuda::detector {

namespace {

wire::Scope distance_between(CtaKey other, const Actor& actor) {
  if (other == actor.cta.key) {
    return wire::Scope::kCta;
  }
  const LaunchState& launch = actor.cta.launch;
  const bool is_of_cluster =
      launch.has_clusters() &&
      static_cast<std::uint64_t>(other) >> 32 == index_of(launch.info.id) &&
      launch.cluster_of(static_cast<std::uint32_t>(static_cast<std::uint64_t>(other))) ==
          actor.cta.cluster;
  return is_of_cluster ? wire::Scope::kCluster : wire::Scope::kGpu;
}

// Somebody may be nearer to both `superseder` and `actor` than to `older`.
bool leaves_gap(CtaKey superseder, CtaKey older, const Actor& actor) {
  return superseder == actor.cta.key ||
         (distance_between(superseder, actor) == wire::Scope::kCluster &&
          distance_between(older, actor) == wire::Scope::kGpu);
}

bool lanes_agree(const WarpOperation& operation, std::uint32_t lanes) {
  if (operation.lanes_agree) {
    return true;
  }
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    if ((operation.lanes[first_lane(rest)].flags & wire::kLaneAgrees) != 0) {
      return true;
    }
  }
  return false;
}

bool has_one_stack(const WarpState& warp, std::uint32_t lanes) {
  if (warp.has_one_stack()) {
    return true;
  }
  const std::uint32_t stack = warp.stack(first_lane(lanes));
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    if (warp.stack(first_lane(rest)) != stack) {
      return false;
    }
  }
  return true;
}

}  // namespace

Side AccessCheck::side_of(const Cell& cell) const {
  const wire::SiteInfo& site = engine_.site(cell.site);
  const bool is_constant = site.stores_constant && site.operation == wire::Operation::kWrite;
  return {.site = &site,
          .writes = cell.writes(),
          .has_value = is_constant || (cell.flags & Cell::kUniform) != 0,
          .value = is_constant ? site.constant : cell.value,
          .agrees = cell.agrees(),
          .is_of_mbarrier = cell.is_of_mbarrier()};
}

bool AccessCheck::is_all_before(const Access& access, const Cell& older, const Cell& cell) const {
  const WarpState& warp = access.actor.warp;
  if (older.is_asynchronous()) {
    return is_completion_before(access, older, cell);
  }
  if (older.cta == access.actor.cta.key && older.warp == warp.warp() &&
      older.maps_lanes_like(cell)) {
    return true;
  }
  if (older.launch() != access.actor.launch() &&
      engine_.order.is_before(older.launch(), access.actor.launch())) {
    return true;
  }
  if (warp.is_uniform()) {
    return warp.state(0).clock.floor(older.cta, older.warp) >= older.time;
  }
  bool all = true;
  warp.for_each_state(access.lanes, [&](std::uint32_t, const ThreadState& state) {
    all = all && state.clock.floor(older.cta, older.warp) >= older.time;
  });
  return all;
}

bool AccessCheck::was_observed(const Access& access, const Cell& older, std::uint32_t byte,
                               std::uint32_t lane) const {
  return detector::was_observed(engine_, locations_of(engine_, access.place), older,
                                access.block_start + byte, [&](const Observation& observation) {
                                  return happens_before(engine_, observation.thread,
                                                        observation.time, access.actor, lane);
                                });
}

std::optional<Verdict> AccessCheck::worth_of(const Access& access, const Cell& older,
                                             const Cell& cell, bool& defies) const {
  Pair pair{.first = side_of(older), .second = side_of(cell)};
  pair.distance = distance_between(older.cta, access.actor);
  pair.same_launch = older.launch() == cell.launch();
  pair.same_instruction = older.cta == cell.cta && older.warp == cell.warp &&
                          older.time == cell.time && older.site == cell.site;
  defies = defies_order(pair);
  return verdict_of(pair, engine_.options.report_same_value);
}

// The first pair of lanes at `byte` that nothing orders.
bool AccessCheck::find_unordered(Access& access, const Cell& older, const Cell& cell,
                                 std::uint32_t byte, bool defies) const {
  const bool is_same_warp =
      older.cta == cell.cta && older.warp == cell.warp && !older.is_asynchronous();
  for (std::uint32_t of_older = older.lanes_at(byte); of_older != 0; of_older &= of_older - 1) {
    const std::uint32_t older_lane = first_lane(of_older);
    for (std::uint32_t rest = cell.lanes_at(byte); rest != 0; rest &= rest - 1) {
      const std::uint32_t lane = first_lane(rest);
      const bool is_ordered = (is_same_warp && older_lane == lane) ||
                              (!defies && (is_before(access, older, older_lane, lane) ||
                                           was_observed(access, older, byte, lane)));
      if (is_ordered && !lacks_proxy_fence(access, older, older_lane, lane)) {
        continue;
      }
      access.unordered = {
          .older_lane = older_lane, .lane = lane, .byte = byte, .is_ordered = is_ordered};
      return true;
    }
  }
  return false;
}

// The lanes of the older cell at `byte` that this one stands for from now on.
std::uint32_t AccessCheck::replaced_lanes(const Access& access, const Cell& older, const Cell& cell,
                                          std::uint32_t byte) const {
  // What a read-only access stands for, only one of the same thread stands for after it; so it is
  // with copies of a thread's own completion.
  const bool needs_same_lane = engine_.site(older.site).proxy == wire::Proxy::kReadOnly ||
                               (cell.is_asynchronous() && cell.has_own_completion());
  const bool is_same_warp = older.cta == cell.cta && older.warp == cell.warp;
  std::uint32_t replaced = 0;
  for (std::uint32_t rest = older.lanes_at(byte); rest != 0; rest &= rest - 1) {
    const std::uint32_t lane = first_lane(rest);
    for (std::uint32_t mine = cell.lanes_at(byte); mine != 0; mine &= mine - 1) {
      if ((!needs_same_lane || (is_same_warp && lane == first_lane(mine))) &&
          is_before(access, older, lane, first_lane(mine))) {
        replaced |= std::uint32_t{1} << lane;
        break;
      }
    }
  }
  return replaced;
}

// Lanes of the two are ordered in part at most: byte by byte, lane by lane. True if some are not,
// and that is a race.
bool AccessCheck::compare_lanes(Access& access, Cell& older, const Cell& cell) {
  const Bytes both = older.bytes & cell.bytes;
  bool defies = false;
  const std::optional<Verdict> worth = worth_of(access, older, cell, defies);
  const bool can_replace = access.mode != Mode::kCheckOnly &&
                           (older.cta == cell.cta || !is_judged_by_distance(access.site)) &&
                           may_stand_for(cell, older) && may_replace(side_of(cell), side_of(older));
  std::uint32_t replaced_everywhere = older.bytes.within(cell.bytes) ? kAllLanes : 0;
  Bytes replaced;
  std::uint64_t races = 0, places = 0;
  const bool is_one_piece = older.lanes != 0 && cell.lanes != 0;  // the same lanes at every byte
  std::uint32_t last_older = 0, last = 0, later = 0;              // of the byte before
  for (Bytes rest = both; !rest.none(); rest = rest.after_first()) {
    const std::uint32_t byte = rest.first();
    if (older.lanes_at(byte) != last_older || cell.lanes_at(byte) != last) {
      last_older = older.lanes_at(byte);
      last = cell.lanes_at(byte);
      ++places;
      const Access::Unordered first = access.unordered;
      if (worth && find_unordered(access, older, cell, byte, defies) && races++ != 0) {
        access.unordered = first;
      }
      later = can_replace ? replaced_lanes(access, older, cell, byte) : 0;
    }
    replaced_everywhere &= later;
    if (later == last_older) {
      replaced = replaced | (is_one_piece ? both : Bytes::range(byte, 1));
    }
    if (is_one_piece) {
      break;
    }
  }
  if (races != 0) {
    access.verdict = *worth;
    access.races = races;
    access.is_race_everywhere = races == places && cell.bytes.within(older.bytes);
  }
  if (can_replace) {
    if (older.lanes != 0 && (older.lanes & ~replaced_everywhere) != 0) {
      older.lanes &= ~replaced_everywhere;
    }
    older.bytes = older.bytes & ~replaced;
  }
  return races != 0;
}

// `cell` happens after all of `older`.
void AccessCheck::replace(const Access& access, Cell& older, const Cell& cell) const {
  const bool is_alike = older.site == cell.site && older.flags == cell.flags &&
                        !access.site.stores_constant && (older.flags & Cell::kUniform) == 0;
  const bool stands_alone = is_alike || may_replace(side_of(cell), side_of(older));
  if ((!stands_alone && !stands_for(side_of(cell), side_of(older))) ||
      !may_stand_for(cell, older)) {
    return;
  }
  if (older.cta == cell.cta || !is_judged_by_distance(access.site) ||
      engine_.order.is_before(older.launch(), cell.launch())) {
    if (stands_alone) {
      older.bytes = older.bytes & ~cell.bytes;
    } else {
      outdate(older, cell);
    }
    return;
  }
  if (!stands_alone) {
    return;
  }
  // A narrow scope would excuse the newer access against somebody near it, and not the older one.
  // So that stays until another access stands for it there.
  if (!older.bytes.within(cell.bytes)) {
    return;
  }
  if (!older.is_superseded()) {
    older.superseded_by = cell.cta;
  } else if (!leaves_gap(older.superseded_by, older.cta, access.actor)) {
    older.bytes = Bytes{};
  }
}

// `cell`, of a known value, stands for `older` but against stores of that value; with one of
// another value that did before, against all. What comes later and is not ordered after `older` is
// not ordered after either of the two, nor after what has replaced one of them meanwhile. So a
// chain of stores of known values keeps the newest and, mostly, one before it, whatever their
// number. Miss: none; but two values of one mark (1 in 31) keep `older` until the next.
void AccessCheck::outdate(Cell& older, const Cell& cell) const {
  const std::uint8_t mark = value_mark(side_of(cell));
  if (older.outdated_by == 0) {
    if (older.bytes.within(cell.bytes)) {
      older.outdated_by = mark & 31U;
    }
  } else if (older.outdated_by != mark) {
    older.bytes = older.bytes & ~cell.bytes;
  }
}

void AccessCheck::check_against_cell(Access& access, Cell& older, const Cell& cell) {
  if (access.racing_sites.has_enough_of(older.site)) {
    return;
  }
  if (older.is_superseded() &&
      (!is_judged_by_distance(access.site) || distance_between(older.superseded_by, access.actor) >=
                                                  distance_between(older.cta, access.actor))) {
    // Who superseded it stands for it.
    if (access.mode != Mode::kCheckOnly && is_all_before(access, older, cell)) {
      replace(access, older, cell);
    }
    return;
  }
  if (access.mode == Mode::kRecord && !older.is_same_moment(cell)) {
    // Checked before; only the replacement is left.
    if (is_all_before(access, older, cell)) {
      replace(access, older, cell);
    }
    return;
  }
  const bool is_conflict =
      (older.writes() || cell.writes()) && !is_of_shared_set(access, older, cell);
  const bool is_far = older.cta != cell.cta || (cell.writes() && older.warp != cell.warp);
  if (!is_conflict && is_far && older.launch() == cell.launch()) {
    return;  // mostly nothing orders them, and nobody needs to know; see passes_by()
  }
  const bool defies = (engine_.site(older.site).proxy == wire::Proxy::kReadOnly ||
                       access.site.proxy == wire::Proxy::kReadOnly) &&
                      older.launch() == cell.launch();
  if (!defies && is_all_before(access, older, cell) && !is_between_proxies(access, older)) {
    if (access.mode != Mode::kCheckOnly) {
      replace(access, older, cell);
    }
    return;
  }
  if (is_conflict && compare_lanes(access, older, cell)) {
    access.racing_sites.count(older.site, access.is_race_everywhere);
    report(access, older, cell);
  }
}

// Holds `cell` against `older` and drops what it replaces. True if it is one with some cell
// there.
bool AccessCheck::check_against_cells(Access& access, Cells& older, const Cell& cell,
                                      bool may_merge) {
  bool is_merged = false;
  std::size_t kept = 0;
  for (std::size_t index = 0; index < older.size(); ++index) {
    Cell& each = older[index];
    if (!(each.bytes & cell.bytes).none()) {
      check_against_cell(access, each, cell);
    }
    if (each.bytes.none()) {
      continue;
    }
    is_merged = is_merged || (may_merge && each.merge(cell));
    if (kept != index) {
      older[kept] = each;
    }
    ++kept;
  }
  older.erase(older.begin() + static_cast<std::ptrdiff_t>(kept), older.end());
  return is_merged;
}

void AccessCheck::check_against_history(Access& access, AccessHistory& history, const Cell& cell,
                                        bool records) {
  records = records && access.mode != Mode::kCheckOnly;
  bool is_recorded = check_against_cells(access, history.cells, cell, records);
  if (access.mode == Mode::kCheckOnly && access.racing_sites.has_enough_everywhere_of(cell.site)) {
    access.saturated_lanes |= cell.lanes;
  }
  if (!history.shared_sets.empty()) {
    for (SharedAccessSet& shared_set : history.shared_sets) {
      is_recorded =
          check_against_set(access, shared_set, cell, records && !is_recorded) || is_recorded;
    }
    std::erase_if(history.shared_sets,
                  [](const SharedAccessSet& shared_set) { return shared_set.is_empty(); });
  }
  if (records && !is_recorded && !is_one_too_many(access, history, cell)) {
    history.cells.push_back(cell);
    if (history.cells.size() > AccessHistory::kGatherAt) {
      gather_set(history);
    }
  }
}

void AccessCheck::record(Access& access, const Cell& cell, std::uint64_t tagged,
                         std::uint32_t bytes) {
  MemoryPlace& place = access.place;
  if (wire::space_of(tagged) == wire::AddressSpace::kGlobal) {  // most, member by member
    place.shared_of = nullptr;
    place.address = wire::address_of(tagged);
    place.is_cta_local = false;
  } else if (const std::optional<MemoryPlace> shared = place_of(tagged, access.actor, bytes)) {
    place = *shared;
  } else {
    access.are_addresses_possible = false;
    return;
  }
  access.block_start = place.address & ~std::uint64_t{kBlockBytes - 1};
  access.racing_sites.move_to(access.block_start, cell.bytes);
  if (access.actor.cta.launch.may_race_with_copies && place.shared_of == nullptr) {
    check_against_copies(access, cell);
  }
  Block& block = place.shared_of != nullptr ? place.shared_of->shared.block(place.address)
                                            : access.shadow.block(place.address);
  const Block::Shortcuts shortcuts{.is_recorded = access.mode != Mode::kCheckOnly,
                                   .passes_by = passes_by(access.kind)};
  block.for_each_history(cell, shortcuts,
                         [&](AccessHistory& history, const Cell& part, bool records) {
                           check_against_history(access, history, part, records);
                         });
}

bool AccessCheck::check(const Actor& actor, const WarpOperation& operation, std::uint32_t lanes,
                        std::uint8_t flags) {
  if (lanes == 0) {
    return true;
  }
  const wire::SiteInfo& site = engine_.site(static_cast<std::uint32_t>(operation.site));
  if (site.asynchrony == wire::Asynchrony::kNone) {
    return check_alike(actor, operation, lanes, {.flags = flags});
  }
  return operation.has_all_lanes ? check_copies(actor, operation, lanes, flags)
                                 : check_copies(actor, operation.with_all_lanes(), lanes, flags);
}

bool AccessCheck::check_alike(const Actor& actor, const WarpOperation& operation,
                              std::uint32_t lanes, const Stamp& stamp) {
  const wire::SiteInfo& site = engine_.site(static_cast<std::uint32_t>(operation.site));
  const std::uint32_t width = std::uint32_t{site.element_bytes} * site.element_count;
  const bool is_plain_record =
      operation.kind == wire::RecordKind::kAffine || operation.kind == wire::RecordKind::kScattered;
  const bool is_one_piece = has_one_stack(actor.warp, lanes);
  const LaneRun start =
      is_plain_record && is_one_piece ? first_run(operation, lanes, width) : LaneRun{};
  if (start.lanes != lanes && !operation.has_all_lanes) {
    return check_alike(actor, operation.with_all_lanes(), lanes, stamp);
  }
  const std::uint8_t flags = stamp.flags;
  const bool is_asynchronous = (flags & Cell::kAsynchronous) != 0;
  const std::uint32_t first = first_lane(lanes);
  Access access(actor, operation, site, engine_.global);
  access.lanes = lanes;
  access.width = width;
  const bool is_one_run = start.lanes == lanes && !is_single(lanes);
  const bool agrees = !is_one_run && site.operation == wire::Operation::kWrite &&
                      !is_asynchronous && lanes_agree(operation, lanes) &&
                      !are_apart(operation, lanes, access.width);
  if (agrees) {
    actor.warp.advance();  // the stamp is this instruction's alone
  }
  actor.warp.touch(lanes);
  Cell& pattern = access.pattern;
  pattern.cta = actor.cta.key;
  pattern.time = is_asynchronous ? stamp.time : actor.warp.now();
  pattern.value = stamp.completion;
  pattern.site = static_cast<std::uint32_t>(operation.site);
  pattern.stack = actor.warp.stack(first);
  pattern.warp = static_cast<std::uint8_t>(actor.warp.warp());
  pattern.flags = flags;
  access.kind = shared_access_kind(pattern);
  if (agrees && operation.lanes_agree) {
    pattern.flags |= Cell::kAgrees;
  }
  if (operation.has_uniform_value && site.operation == wire::Operation::kWrite &&
      !is_asynchronous) {
    pattern.flags |= Cell::kUniform;
    pattern.value = operation.uniform_value;
  }
  if (is_one_run) {
    record_run(access, start.lanes, start.shift);
  } else if (operation.kind == wire::RecordKind::kAcquire && is_one_piece &&
             may_share_cell(access, lanes) && first_same_address(operation, lanes) == lanes) {
    record_same_address(access);
  } else if (agrees) {
    record_agreeing(access);
    actor.warp.advance();
  } else if (is_plain_record && is_one_piece) {
    record_per_run(access);
  } else {
    record_per_lane(access);
  }
  return access.are_addresses_possible;
}

void AccessCheck::report(Access& access, const Cell& older, const Cell& cell) {
  const RaceKind kind = older.launch() != cell.launch() ? RaceKind::kInterKernel
                        : older.cta != cell.cta         ? RaceKind::kInterBlock
                        : older.warp != cell.warp       ? RaceKind::kIntraBlock
                                                        : RaceKind::kIntraWarp;
  const wire::AddressSpace space = access.place.space();
  if (engine_.log.count_again(RaceLog::Identity::of(older.site, cell.site, kind, space),
                              access.verdict.severity, access.races)) {
    return;
  }
  const Access::Unordered& unordered = access.unordered;
  const std::uint64_t address = access.block_start + unordered.byte;
  RaceEvent race;
  race.kind = kind;
  race.first = describe_cell(engine_, older, unordered.older_lane, address, space);
  race.second = describe_cell(engine_, cell, unordered.lane, address, space);
  race.severity = access.verdict.severity;
  race.missing = access.verdict.missing;
  race.count = access.races;
  race.needed_scope = distance_between(older.cta, access.actor);
  race.first.call_stack = engine_.stacks.calls(older.stack);
  race.second.call_stack = engine_.stacks.calls(cell.stack);
  if (unordered.is_ordered && is_between_proxies(access, older)) {
    race.missing = MissingOrder::kProxyFenceMissing;
  } else if (older.is_asynchronous()) {
    explain_asynchronous(access.actor, older, race);
  } else if (access.actor.cta.launch.runs_beside(older.launch())) {
    race.missing = MissingOrder::kGridWaitMissing;
  } else if (race.missing == MissingOrder::kNoSynchronisation) {
    explain(engine_, access.actor, older.time, race);
  }
  tell_last_syncs(engine_, access.actor, older, race);
  engine_.log.add(std::move(race));
}

}  // namespace barracuda::detector
