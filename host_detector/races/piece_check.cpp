#include "host_detector/races/piece_check.h"

#include <algorithm>
#include <array>
#include <optional>

#include "device_logger/scope_order.h"
#include "host_detector/races/cell_order.h"
#include "host_detector/races/conflict.h"
#include "host_detector/races/race_report.h"
#include "host_detector/races/replacement.h"
#include "host_detector/races/shared_sets.h"
#include "host_detector/races/use_after_exit.h"

namespace barracuda::detector {
namespace {

// What an older cell is to an access of some of its bytes.
enum class Relation : std::uint8_t {
  kUnrelated,  // it stays as it is, ordered or not
  kBefore,     // all of it happens before all of the access
  kUnordered,  // some of it may not, and the two conflict
};

// A store that is logged after accesses that came after it: it replaces nothing.
bool is_past(const PlacedPiece& access) {
  return access.piece.is_late && access.site().is_before_publications;
}

Relation before_or_unrelated(const PlacedPiece& access, bool is_before) {
  return is_before && !is_past(access) ? Relation::kBefore : Relation::kUnrelated;
}

// A warp's time never goes back, but a kEarlier record has one that is past. What the warp has
// logged behind a barrier of it since comes after that.
bool is_told_late(const PlacedPiece& access, const Cell& older, const Cell& cell) {
  return older.cta == cell.cta && older.warp == cell.warp && cell.time < older.time &&
         !older.is_asynchronous() && !older.is_settled() && !cell.is_asynchronous() &&
         access.actor().warp.counted_barriers.has_between(cell.time, older.time);
}

Relation relation_of(const PlacedPiece& access, Pass pass, const Cell& older, const Cell& cell) {
  if ((cell.is_settled() && older.cta == cell.cta) || is_told_late(access, older, cell)) {
    return Relation::kUnrelated;  // it was made before what its block has logged since
  }
  if (older.is_superseded() && (!is_judged_by_distance(access.site()) ||
                                includes(distance_between(older.superseded_by, access.actor()),
                                         distance_between(older.cta, access.actor())))) {
    // The access that superseded it stands for it.
    return before_or_unrelated(access,
                               pass != Pass::kCompare && is_all_before(access, older, cell));
  }
  if (pass == Pass::kRecord && !older.is_same_moment(cell)) {
    return before_or_unrelated(access, is_all_before(access, older, cell));  // compared already
  }
  if (is_of_one_map_reader(access.engine(), older, cell)) {
    return Relation::kBefore;
  }
  const bool is_conflict = (older.writes() || cell.writes()) && !is_of_one_set(access, older, cell);
  const bool is_far = older.cta != cell.cta || (cell.writes() && older.warp != cell.warp);
  if (!is_conflict && is_far && older.launch() == cell.launch()) {
    return Relation::kUnrelated;  // mostly nothing orders them, and nobody asks; see passes_by()
  }
  const bool defies =
      lacks_order(access.engine().site(older.site), access.site(), older.cta == cell.cta) &&
      older.launch() == cell.launch();
  if (!defies && is_all_before(access, older, cell) && !is_between_proxies(access, older)) {
    return before_or_unrelated(access, true);
  }
  return is_conflict ? Relation::kUnordered : Relation::kUnrelated;
}

// What other CTAs did is before all threads alike that know the same of them: a plain read, by
// lanes that know the same.
bool depends_on_knowledge_alone(const PlacedPiece& access, Pass pass, const Cell& cell) {
  const Actor& actor = access.actor();
  return pass == Pass::kCompareAndRecord && !cell.writes() && !cell.is_asynchronous() &&
         !access.piece.is_late && access.site().proxy == wire::Proxy::kGeneric &&
         actor.warp.is_uniform() && actor.warp.state(0).clock.home() == actor.cta.key;
}

}  // namespace

bool PieceCheck::take_cell(const PlacedPiece& access, Pass pass, Cell& older, const Cell& cell) {
  const RacingSites::Of whose = RacingSites::whose(older, cell);
  if (racing_sites_.has_enough_of(older.site, whose)) {
    return false;
  }
  const bool keeps_everything = access.engine().options.keeps_everything;
  const Relation relation = relation_of(access, pass, older, cell);
  if (relation == Relation::kUnordered) {
    if (const std::optional<Conflict> conflict = find_conflict(access, older, cell)) {
      if (!keeps_everything) {
        racing_sites_.count(older.site, whose, conflict->is_everywhere);
      }
      report(access, older, cell, *conflict);
    }
  }
  // That the newer read of a map stands for the older is a rule, not what an engine may forget.
  const bool may_go =
      (!keeps_everything && !is_past(access)) || is_of_one_map_reader(access.engine(), older, cell);
  if (relation != Relation::kUnrelated && pass != Pass::kCompare && may_go) {
    older = relation == Relation::kBefore ? left_after(access, older, cell)
                                          : left_lane_by_lane(access, older, cell);
  }
  return relation == Relation::kBefore;
}

bool PieceCheck::take_cells(const PlacedPiece& access, Pass pass, Cells& older, const Cell& cell,
                            bool may_merge) {
  bool is_merged = false;
  std::size_t kept = 0;
  for (std::size_t index = 0; index < older.size(); ++index) {
    Cell& each = older[index];
    if (!(each.bytes & cell.bytes).none()) {
      take_cell(access, pass, each, cell);
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

// Behind a barrier of the grid all threads read what all blocks have added to: the first looks at
// each member, one of another CTA at those of the first one's, and the others at none.
void PieceCheck::take_members(const PlacedPiece& access, Pass pass, SharedAccessSet& shared_set,
                              const Cell& cell) {
  const CtaKey own = by_.actor.cta.key;
  const Snapshot snapshot = depends_on_knowledge_alone(access, pass, cell)
                                ? by_.actor.warp.state(0).clock.snapshot()
                                : Snapshot{};
  const std::optional<SharedAccessSet::AllBefore> known = shared_set.all_before();
  const bool is_known = known && known->bytes == cell.bytes && known->launch == cell.launch() &&
                        snapshot.is_no_older_than(known->by);
  bool are_all_before = true;
  const auto take = [&](Cell& older) {
    if (!(older.bytes & cell.bytes).none()) {
      const Cell was = older;
      are_all_before = take_cell(access, pass, older, cell) && older == was && are_all_before;
    }
  };
  if (!is_known) {
    shared_set.update(take);
  } else if (known->but_of != CtaKey{}) {
    shared_set.update_of([&](CtaKey cta) { return cta == known->but_of; }, take);
  }
  const bool is_news = !is_known || (known->but_of != CtaKey{} && known->but_of != own);
  if (are_all_before && is_news && snapshot.of != 0) {
    shared_set.set_all_before({.bytes = cell.bytes,
                               .launch = cell.launch(),
                               .by = snapshot,
                               .but_of = is_known ? CtaKey{} : own});
  }
}

bool PieceCheck::take_set(const PlacedPiece& access, Pass pass, SharedAccessSet& shared_set,
                          const Cell& cell, bool records) {
  const LaunchId launch = by_.actor.launch();
  const bool is_one_of_them = shared_set.kind() == access.piece.kind;
  if (!is_one_of_them ||
      (shared_set.launch() != launch && by_.engine.order.is_before(shared_set.launch(), launch))) {
    shared_set.set_launch(launch);
    take_members(access, pass, shared_set, cell);
  }
  if (records && is_one_of_them) {
    add_to_set(by_.engine, shared_set, cell);
  }
  return records && is_one_of_them;
}

// Of accesses of one site that all race with each other, more tell nothing new: a word that is
// written without order again and again must not keep one of each thread.
bool PieceCheck::is_one_too_many(Pass pass, const AccessHistory& history, const Cell& cell) const {
  const bool races_everywhere = pass == Pass::kRecord
                                    ? racing_sites_.is_saturated(cell)
                                    : racing_sites_.has_enough_everywhere_of(cell.site);
  if (!races_everywhere) {
    return false;
  }
  std::uint32_t of_site = 0, of_warp = 0;
  for (const Cell& kept : history.cells) {
    if (kept.site == cell.site) {
      ++of_site;
      of_warp += kept.cta == cell.cta && kept.warp == cell.warp ? 1 : 0;
    }
  }
  return of_site >= kMostOfSite || of_warp >= kMostOfWarp;
}

void PieceCheck::take_history(const PlacedPiece& access, Pass pass, AccessHistory& history,
                              const Cell& cell, bool records) {
  records = records && pass != Pass::kCompare;
  bool is_recorded = take_cells(access, pass, history.cells, cell, records);
  if (pass == Pass::kCompare && racing_sites_.has_enough_everywhere_of(cell.site)) {
    racing_sites_.saturate(cell);
  }
  if (!history.shared_sets.empty()) {
    for (SharedAccessSet& shared_set : history.shared_sets) {
      is_recorded =
          take_set(access, pass, shared_set, cell, records && !is_recorded) || is_recorded;
    }
    std::erase_if(history.shared_sets,
                  [](const SharedAccessSet& shared_set) { return shared_set.is_empty(); });
  }
  if (records && !is_recorded && !is_one_too_many(pass, history, cell)) {
    history.cells.push_back(cell);
    if (history.cells.size() > AccessHistory::kGatherAt) {
      gather_set(by_.engine, history);
    }
  }
}

inline std::optional<MemoryPlace> PieceCheck::find_place(std::uint64_t tagged) const {
  if (wire::space_of(tagged) == wire::AddressSpace::kGlobal) {  // most
    return MemoryPlace{.shared_of = nullptr, .address = wire::address_of(tagged)};
  }
  return place_of(tagged, by_.actor, 1);
}

bool PieceCheck::is_of_ended(const Piece& piece, std::uint64_t tagged, std::uint32_t lanes) const {
  return lanes != 0 && report_use_after_exit(by_.engine, by_.actor, wire::SiteId{piece.cell.site},
                                             first_lane(lanes), tagged, by_.site.element_bytes);
}

inline Block& PieceCheck::block_of(const MemoryPlace& place) {
  return place.shared_of != nullptr ? place.shared_of->shared.block(place.address)
                                    : global_.block(place.address);
}

bool PieceCheck::take(const Piece& piece, Pass pass) {
  const std::optional<MemoryPlace> found = find_place(piece.tagged);
  if (!found) {
    return is_of_ended(piece, piece.tagged, piece.lanes);
  }
  const MemoryPlace& place = *found;
  racing_sites_.move_to(block_start_of(place), piece.cell.bytes);
  if (by_.actor.cta.launch.may_race_with_copies && place.shared_of == nullptr &&
      pass != Pass::kRecord) {
    report_races_with_copies({.by = by_, .piece = piece, .place = place});
  }
  const Block::Shortcuts shortcuts{.is_recorded = pass != Pass::kCompare,
                                   .passes_by = passes_by(piece.kind)};
  block_of(place).for_each_history(
      piece.cell, shortcuts, [&](AccessHistory& history, const Cell& part, bool records) {
        const PlacedPiece access{.by = by_, .piece = piece, .place = place};
        take_history(access, pass, history, part, records);
      });
  return true;
}

Meeting PieceCheck::meet(const PlacedPiece& access, const Cell& older) const {
  const Cell& cell = access.piece.cell;
  if ((older.bytes & cell.bytes).none()) {
    return Meeting::kStays;
  }
  switch (relation_of(access, Pass::kCompareAndRecord, older, cell)) {
    case Relation::kUnrelated:
      return Meeting::kStays;
    case Relation::kBefore:
      return !access.engine().options.keeps_everything &&
                     left_after(access, older, cell).bytes.none()
                 ? Meeting::kGoes
                 : Meeting::kIsToBeVisited;
    case Relation::kUnordered:
      return Meeting::kIsToBeVisited;
  }
  return Meeting::kIsToBeVisited;
}

Piece PieceCheck::Scattered::piece(std::uint64_t tagged, std::uint32_t lanes) const {
  Piece piece = pattern;
  piece.tagged = tagged;
  piece.lanes = lanes;
  piece.cell.lanes = lanes;
  piece.cell.bytes = Bytes::range(static_cast<std::uint32_t>(tagged % kBlockBytes), width);
  return piece;
}

PieceCheck::Scattered PieceCheck::scatter(const Piece& pattern) const {
  Scattered scattered{.pattern = pattern,
                      .width = std::uint32_t{by_.site.element_bytes} * by_.site.element_count};
  scattered.pattern.cell.lanes = 1;
  if (!by_.actor.cta.launch.may_race_with_copies) {
    scattered.alike = WordLists::Alike::of(scattered.pattern.cell, passes_by(pattern.kind));
  }
  return scattered;
}

bool PieceCheck::take_word(const Piece& pattern, std::uint64_t tagged, std::uint32_t lanes) {
  Scattered scattered = scatter(pattern);
  return take_word(scattered, tagged, lanes);
}

bool PieceCheck::take_word(Scattered& scattered, std::uint64_t tagged, std::uint32_t lanes) {
  if (scattered.alike) {
    const std::optional<MemoryPlace> place = find_place(tagged);
    if (!place) {
      return is_of_ended(scattered.pattern, tagged, lanes);
    }
    const WordLists::LanesOfWord of_word(lanes, static_cast<std::uint32_t>(tagged % kBlockBytes),
                                         scattered.width);
    const auto cell = [&] { return scattered.piece(tagged, lanes).cell; };
    const auto meets = [&](const Cell& older) {
      const Piece piece = scattered.piece(tagged, lanes);
      return meet({.by = by_, .piece = piece, .place = *place}, older);
    };
    if (block_of(*place).record(of_word, *scattered.alike, cell, meets)) {
      return true;
    }
  }
  scattered.taken = scattered.piece(tagged, lanes);
  return take(scattered.taken, Pass::kCompareAndRecord);
}

// Lanes that cannot conflict with each other come block by block, so that a block is mostly locked
// once for all of them.
bool PieceCheck::take_lanes(const Piece& pattern, const WarpOperation& operation,
                            std::uint32_t lanes) {
  if (lanes == 0) {
    return true;
  }
  Scattered scattered = scatter(pattern);
  bool are_addresses_possible = true;
  const auto take_all = [&](std::uint32_t some) {
    for (; some != 0; some &= some - 1) {
      const std::uint32_t lane = first_lane(some);
      are_addresses_possible &=
          take_word(scattered, operation.lanes[lane].address, std::uint32_t{1} << lane);
    }
  };
  if (pattern.kind == SharedAccessKind::kNone) {
    take_all(lanes);
    return are_addresses_possible;
  }
  std::array<std::uint32_t, 16> by_block{};
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const std::uint32_t lane = first_lane(rest);
    by_block[operation.lanes[lane].address / kBlockBytes % by_block.size()] |= rest & (~rest + 1);
  }
  std::ranges::for_each(by_block, take_all);
  return are_addresses_possible;
}

}  // namespace barracuda::detector
