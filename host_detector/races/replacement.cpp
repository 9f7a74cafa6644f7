#include "host_detector/races/replacement.h"

#include "device_logger/scope_order.h"
#include "host_detector/races/cell_order.h"
#include "host_detector/races/conflict.h"

namespace barracuda::detector {
namespace {

Cell without(const Cell& older, const Bytes& bytes) {
  Cell left = older;
  left.bytes = left.bytes & ~bytes;
  return left;
}

// Somebody may be nearer to both `superseder` and `actor` than to `older`.
bool leaves_gap(CtaKey superseder, CtaKey older, const Actor& actor) {
  return superseder == actor.cta.key ||
         (distance_between(superseder, actor) == wire::Scope::kCluster &&
          distance_between(older, actor) == wire::Scope::kGpu);
}

// A thread that waits for an asynchronous access learns of it and of those before it on its
// completion, but not of what its issuer knew.
bool may_stand_for(const EngineState& engine, const Cell& newer, const Cell& older) {
  if (engine.site(older.site).proxy == wire::Proxy::kSurface && older.cta != newer.cta &&
      older.launch() == newer.launch()) {
    return false;  // against the newer one's block nothing would be left of it
  }
  return !newer.is_asynchronous() || is_of_one_map_reader(engine, older, newer) ||
         (older.is_asynchronous() && older.value == newer.value &&
          (!newer.has_own_completion() || (older.cta == newer.cta && older.warp == newer.warp)) &&
          engine.site(older.site).proxy == engine.site(newer.site).proxy);
}

// `newer`, of a known value, stands for `older` but against stores of that value; with one of
// another value that did before, against all. What comes later and is not ordered after `older` is
// not ordered after either of the two, nor after what has replaced one of them meanwhile. So a
// chain of stores of known values keeps the newest and, mostly, one before it, whatever their
// number. Miss: none; but two values of one mark (1 in 31) keep `older` until the next.
Cell outdated(const EngineState& engine, const Cell& older, const Cell& newer) {
  const std::uint8_t mark = value_mark(side_of(engine, newer));
  if (older.outdated_by != 0) {
    return older.outdated_by == mark ? older : without(older, newer.bytes);
  }
  Cell left = older;
  if (older.bytes.within(newer.bytes)) {
    left.outdated_by = mark & 31U;
  }
  return left;
}

// The newer access may be excused where a narrow scope suffices, against threads near it, and the
// older one not. So the older one stays until another access stands for it there.
Cell superseded(const PlacedPiece& access, const Cell& older, const Cell& newer) {
  Cell left = older;
  if (older.bytes.within(newer.bytes)) {
    if (!older.is_superseded()) {
      left.superseded_by = newer.cta;
    } else if (!leaves_gap(older.superseded_by, older.cta, access.actor())) {
      left.bytes = Bytes{};
    }
  }
  return left;
}

// Those of `lanes` of the older cell that one of `newer_lanes`, at the same bytes, stands for.
std::uint32_t lanes_before(const PlacedPiece& access, const Cell& older, std::uint32_t lanes,
                           const Cell& newer, std::uint32_t newer_lanes) {
  // What a read-only access stands for, only one of the same thread stands for after it; so it is
  // with copies of a thread's own completion.
  const bool needs_same_lane = access.engine().site(older.site).proxy == wire::Proxy::kReadOnly ||
                               (newer.is_asynchronous() && newer.has_own_completion());
  const bool is_same_warp = older.cta == newer.cta && older.warp == newer.warp;
  return lanes_where(lanes, [&](std::uint32_t lane) {
    for (const std::uint32_t later : SetBits(newer_lanes)) {
      if ((!needs_same_lane || (is_same_warp && lane == later)) &&
          is_before(access, older, lane, later)) {
        return true;
      }
    }
    return false;
  });
}

}  // namespace

Cell left_after(const PlacedPiece& access, const Cell& older, const Cell& newer) {
  const EngineState& engine = access.engine();
  const bool is_alike = older.site == newer.site && older.flags == newer.flags &&
                        !access.site().stores_constant && (older.flags & Cell::kUniform) == 0;
  const bool stands_alone = is_alike || may_replace(side_of(engine, newer), side_of(engine, older));
  if ((!stands_alone && !stands_for(side_of(engine, newer), side_of(engine, older))) ||
      !may_stand_for(engine, newer, older)) {
    return older;
  }
  if (older.cta == newer.cta || !is_judged_by_distance(access.site()) ||
      engine.order.is_before(older.launch(), newer.launch())) {
    return stands_alone ? without(older, newer.bytes) : outdated(engine, older, newer);
  }
  return stands_alone ? superseded(access, older, newer) : older;
}

Cell left_lane_by_lane(const PlacedPiece& access, const Cell& older, const Cell& newer) {
  const EngineState& engine = access.engine();
  if ((older.cta != newer.cta && is_judged_by_distance(access.site())) ||
      !may_stand_for(engine, newer, older) ||
      !may_replace(side_of(engine, newer), side_of(engine, older))) {
    return older;
  }
  std::uint32_t everywhere = older.bytes.within(newer.bytes) ? kAllLanes : 0;
  Bytes gone;
  for_each_pairing(
      older, newer, [&](const Bytes& bytes, std::uint32_t lanes, std::uint32_t newer_lanes) {
        const std::uint32_t before = lanes_before(access, older, lanes, newer, newer_lanes);
        everywhere &= before;
        if (before == lanes) {
          gone = gone | bytes;
        }
      });
  Cell left = without(older, gone);
  if ((older.lanes & ~everywhere) != 0) {
    left.lanes = older.lanes & ~everywhere;
  }
  return left;
}

Cell left_in_set(const EngineState& engine, const Cell& older, const Cell& newer) {
  if (newer.is_asynchronous() || older.is_asynchronous() || engine.options.keeps_everything ||
      !may_replace(side_of(engine, newer), side_of(engine, older))) {
    return older;
  }
  Cell left = older;
  if (newer.lanes != 0 && older.lanes != 0 && older.bytes.within(newer.bytes)) {
    if ((older.lanes & ~newer.lanes) != 0) {
      left.lanes = older.lanes & ~newer.lanes;
    } else {
      left.bytes = Bytes{};
    }
  } else if (newer.maps_lanes_like(older)) {
    left.bytes = older.bytes & ~newer.bytes;
  }
  return left;
}

}  // namespace barracuda::detector
