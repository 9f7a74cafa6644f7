#include "host_detector/races/conflict.h"

#include "host_detector/races/cell_order.h"

namespace barracuda::detector {
namespace {

Pair pair_of(const PlacedPiece& access, const Cell& older, const Cell& newer) {
  return {.first = side_of(access.engine(), older),
          .second = side_of(access.engine(), newer),
          .distance = distance_between(older.cta, access.actor()),
          .same_instruction = older.cta == newer.cta && older.warp == newer.warp &&
                              older.time == newer.time && older.site == newer.site,
          .same_launch = older.launch() == newer.launch()};
}

// Whether a thread may have been ordered by what its kernel does not log any more: behind one of
// its block, or behind the strong access that it saw. Nothing else in such a kernel is.
bool may_be_ordered_silently(const EngineState& engine, const Pair& pair) {
  const bool may_be =
      pair.distance == Distance::kCta || pair.first.site->numbered || pair.second.site->numbered;
  return pair.same_launch && may_be && engine.silent.have(pair.second.site->narrow_kernel);
}

// Of a copy that the device has kept, whether its lane's later access is not one that it may race
// with. The same copy may be logged several times: those of a lane have one stamp (KeptCopies).
bool is_own_kept_copy(const PlacedPiece& access, const Cell& older, const Cell& newer) {
  const bool is_same = newer.is_asynchronous() && older.value == newer.value &&
                       older.time == newer.time && older.site == newer.site;
  return (is_same || access.piece.is_late) &&
         PackedCompletion::of(older.value).slot == completion_slot(Completion::kKept, older.warp);
}

// Two lanes of the cells that nothing orders.
struct Unordered {
  std::uint32_t older_lane = 0, lane = 0;
  bool is_ordered = false;  // as Conflict::is_ordered
};

// The older access may have happened after one that is logged late (kEarlier): its thread had
// learnt of that one from what was published, and was first to log. The miss: a thread that raced
// with the late access, logged in that short time, and learnt of it only then.
bool may_come_after(const PlacedPiece& access, const Cell& older, std::uint32_t older_lane,
                    const Cell& cell, std::uint32_t lane) {
  if (!access.piece.is_late || cell.is_asynchronous() || older.is_asynchronous() ||
      older.is_settled() || older.cta != cell.cta) {
    return false;
  }
  CtaState& cta = access.actor().cta;
  const Actor actor{.cta = cta, .warp = cta.warps[older.warp]};
  const bool has_left = (actor.warp.alive() >> older_lane & 1) == 0;
  return has_left
             ? access.actor().warp.has_published()  // what it knew is forgotten
             : happens_before(access.engine(), cell.place_of(lane), cell.time, actor, older_lane);
}

// The first at `byte`, which these lanes touch. `defies`: no order helps.
std::optional<Unordered> find_unordered(const PlacedPiece& access, const Cell& older,
                                        const Cell& cell, std::uint32_t byte, bool defies) {
  const bool is_same_warp = older.cta == cell.cta && older.warp == cell.warp &&
                            (!older.is_asynchronous() || is_own_kept_copy(access, older, cell));
  for (const std::uint32_t older_lane : SetBits(older.lanes_at(byte))) {
    for (const std::uint32_t lane : SetBits(cell.lanes_at(byte))) {
      const bool is_ordered = (is_same_warp && older_lane == lane) ||
                              (!defies && (is_before(access, older, older_lane, lane) ||
                                           was_observed(access, older, byte, lane) ||
                                           may_come_after(access, older, older_lane, cell, lane)));
      if (!is_ordered || lacks_proxy_fence(access, older, older_lane, lane)) {
        return Unordered{.older_lane = older_lane, .lane = lane, .is_ordered = is_ordered};
      }
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<Conflict> find_conflict(const PlacedPiece& access, const Cell& older,
                                      const Cell& newer) {
  const Pair pair = pair_of(access, older, newer);
  const std::optional<Verdict> verdict =
      verdict_of(pair, access.engine().options.report_same_value);
  if (!verdict || may_be_ordered_silently(access.engine(), pair)) {
    return std::nullopt;
  }
  const bool defies = defies_order(pair);
  Conflict conflict{.races = 0, .verdict = *verdict};
  std::uint64_t places = 0;
  for_each_pairing(older, newer, [&](const Bytes& bytes, std::uint32_t, std::uint32_t) {
    ++places;
    const std::uint32_t byte = bytes.first();
    const std::optional<Unordered> unordered = find_unordered(access, older, newer, byte, defies);
    if (unordered && conflict.races++ == 0) {
      conflict.older_lane = unordered->older_lane;
      conflict.lane = unordered->lane;
      conflict.byte = byte;
      conflict.is_ordered = unordered->is_ordered;
    }
  });
  if (conflict.races == 0) {
    return std::nullopt;
  }
  conflict.is_everywhere = conflict.races == places && newer.bytes.within(older.bytes);
  return conflict;
}

}  // namespace barracuda::detector
