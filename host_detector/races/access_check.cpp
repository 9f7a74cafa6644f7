#include "host_detector/races/access_check.h"

#include <algorithm>

#include "device_logger/copy_states.h"
#include "host_detector/operation_traits.h"
#include "host_detector/races/piece_check.h"
#include "host_detector/races/shared_sets.h"
#include "host_detector/races/use_after_exit.h"

namespace barracuda::detector {
namespace {

// Compares all pieces of a block before it records them. Other threads cannot come between, as the
// block is held until another is taken.
bool take_block_by_block(PieceCheck& check, const Footprint& footprint) {
  const auto block_of = [](const Piece& piece) { return piece.tagged / kBlockBytes; };
  bool are_addresses_possible = true;
  for (auto first = footprint.begin(); first != footprint.end();) {
    const auto past = std::find_if(first, footprint.end(), [&](const Piece& piece) {
      return block_of(piece) != block_of(*first);
    });
    for (const Pass pass : {Pass::kCompare, Pass::kRecord}) {
      std::for_each(first, past,
                    [&](const Piece& piece) { are_addresses_possible &= check.take(piece, pass); });
    }
    first = past;
  }
  return are_addresses_possible;
}

// Lanes that share no cell and lie in a word each are taken without a piece.
bool take_scattered(PieceCheck& check, const LaneAccesses& access, const WarpOperation& operation,
                    const Piece& pattern) {
  Footprint footprint;
  const std::uint32_t apart = access.add_runs(footprint, pattern);
  const std::uint32_t in_words = lanes_where(apart, [&](std::uint32_t lane) {
    return access.lies_in_word(lane) && (operation.lanes[lane].flags & wire::kLaneAgrees) == 0;
  });
  access.add_lanes(footprint, pattern, apart & ~in_words);
  bool are_addresses_possible = check.take_lanes(pattern, operation, in_words);
  for (const Piece& piece : footprint) {
    are_addresses_possible &= check.take(piece, Pass::kCompareAndRecord);
  }
  return are_addresses_possible;
}

// What all pieces of the access have in common.
inline Piece pattern_of(const Actor& actor, const WarpOperation& operation,
                        const wire::SiteInfo& site, std::uint32_t lanes,
                        const AccessCheck::Stamp& stamp) {
  Piece pattern;
  Cell& cell = pattern.cell;
  cell.cta = actor.cta.key;
  cell.value = stamp.completion;
  cell.site = static_cast<std::uint32_t>(operation.site);
  cell.stack = actor.warp.stack(first_lane(lanes));
  cell.warp = static_cast<std::uint8_t>(actor.warp.warp());
  cell.flags = stamp.flags;
  cell.time = cell.is_asynchronous() ? stamp.time
              : operation.is_settled ? Cell::kSettledTime
              : operation.is_earlier
                  ? actor.warp.time_of_kept(operation.interval, site.is_before_publications)
                  : actor.warp.now();
  pattern.kind = shared_access_kind(site, cell);
  pattern.is_late = stamp.is_late;
  return pattern;
}

}  // namespace

bool AccessCheck::check(const Actor& actor, const WarpOperation& operation, std::uint32_t lanes,
                        std::uint8_t flags) {
  if (lanes == 0) {
    return true;
  }
  const wire::SiteInfo& site = engine_.site(static_cast<std::uint32_t>(operation.site));
  if (site.asynchrony == wire::Asynchrony::kUnwaited) {
    const PackedCompletion completion{
        .cta = actor.cta.index, .slot = completion_slot(Completion::kUnwaited, actor.warp.warp())};
    return check_alike(actor, operation, site, lanes,
                       {.flags = static_cast<std::uint8_t>(flags | Cell::kAsynchronous),
                        .completion = completion.packed(),
                        .time = actor.warp.now()});
  }
  const bool is_kept = operation.is_earlier && !operation.is_settled;
  if (site.asynchrony != wire::Asynchrony::kNone) {
    return is_kept ? check_kept_copy(actor, operation, site, flags)
                   : check_copies(actor, operation, site, lanes, flags);
  }
  return check_alike(actor, operation, site, lanes, {.flags = flags, .is_late = is_kept});
}

// Its block may be handled by another thread of the host, or be over. What that block knew of
// others is what all blocks knew at first, and of its own it is not asked.
bool AccessCheck::check_settled(LaunchState& launch, const WarpOperation& operation,
                                std::uint8_t flags) {
  if (operation.settled_cta >= launch.info.grid.volume() ||
      operation.warp >= launch.warps_per_cta) {
    return false;
  }
  CtaState cta(launch, operation.settled_cta);
  const Actor actor{.cta = cta, .warp = cta.warps[operation.warp]};
  if ((operation.mask & ~actor.warp.alive()) != 0) {
    return false;
  }
  if (!check(actor, operation, operation.mask, flags)) {
    ++launch.astray;
  }
  return true;
}

bool AccessCheck::check_alike(const Actor& actor, const WarpOperation& operation,
                              const wire::SiteInfo& site, std::uint32_t lanes, const Stamp& stamp) {
  const bool is_asynchronous = (stamp.flags & Cell::kAsynchronous) != 0;
  const LaneAccesses access(operation, site, actor.warp, lanes, is_asynchronous);
  if (access.layout() == LaneLayout::kUnknown) {
    return check_alike(actor, operation.with_all_lanes(), site, lanes, stamp);
  }
  const bool agrees = access.layout() == LaneLayout::kLanesByBlock;
  if (agrees) {
    actor.warp.advance();  // the stamp is this instruction's alone
  }
  actor.warp.touch(lanes);
  Piece pattern = pattern_of(actor, operation, site, lanes, stamp);
  if (agrees && operation.lanes_agree) {
    pattern.cell.flags |= Cell::kAgrees;
  }
  if (operation.has_uniform_value && site.operation == wire::Operation::kWrite &&
      !is_asynchronous) {
    pattern.cell.flags |= Cell::kUniform;
    pattern.cell.value = operation.uniform_value;
  }
  if (operation.kind == wire::RecordKind::kRelease && pattern.cell.writes()) {
    pattern.cell.sequence = engine_.release_records;
  }
  ShadowMemory::Visitor global(engine_.global);
  PieceCheck check(engine_, actor, site, global);
  if (access.layout() == LaneLayout::kRuns && !is_asynchronous) {
    return take_scattered(check, access, operation, pattern);
  }
  const Footprint footprint = access.footprint(pattern);
  if (agrees) {
    const bool are_addresses_possible = take_block_by_block(check, footprint);
    actor.warp.advance();
    return are_addresses_possible;
  }
  bool are_addresses_possible = true;
  for (const Piece& piece : footprint) {
    are_addresses_possible &= check.take(piece, Pass::kCompareAndRecord);
  }
  return are_addresses_possible;
}

bool AccessCheck::can_gather(const Actor& actor, const WarpOperation& operation,
                             const wire::SiteInfo& site) const {
  const bool is_plain_record =
      operation.kind == wire::RecordKind::kAffine || operation.kind == wire::RecordKind::kScattered;
  if (!is_plain_record || !operation.has_all_lanes || operation.is_earlier ||
      traits_of(site.operation).is_plain || kind_of_atomic(site) == SharedAccessKind::kNone ||
      site.asynchrony != wire::Asynchrony::kNone || site.element_count != 1 ||
      site.element_bytes > WordLists::kWordBytes) {
    return false;
  }
  return actor.warp.has_one_stack() && !actor.cta.launch.may_race_with_copies &&
         !engine_.options.keeps_everything &&
         lanes_where(operation.mask, [&](std::uint32_t lane) {
           return (operation.lanes[lane].address & (site.element_bytes - 1U)) != 0;
         }) == 0;
}

void AccessCheck::gather(const Actor& actor, const WarpOperation& operation,
                         GatheredAtomics& atomics) {
  actor.warp.touch(operation.mask);
  GatheredAtomic atomic{.time = actor.warp.now(),
                        .site = static_cast<std::uint32_t>(operation.site),
                        .stack = actor.warp.stack(first_lane(operation.mask)),
                        .warp = actor.warp.warp()};
  for (std::uint32_t rest = operation.mask; rest != 0;) {
    atomic.tagged = operation.lanes[first_lane(rest)].address;
    atomic.lanes = first_same_address(operation, rest);
    rest &= ~atomic.lanes;
    atomics.add(actor.cta, atomic);
  }
}

void AccessCheck::take_gathered(GatheredAtomics& atomics) {
  CtaState& cta = *atomics.cta();
  ShadowMemory::Visitor global(engine_.global);
  atomics.take([&](const GatheredAtomic& atomic) {
    const Actor actor{.cta = cta, .warp = cta.warps[atomic.warp]};
    const wire::SiteInfo& site = engine_.site(atomic.site);
    Piece pattern;
    pattern.cell.cta = cta.key;
    pattern.cell.site = atomic.site;
    pattern.cell.stack = atomic.stack;
    pattern.cell.warp = static_cast<std::uint8_t>(atomic.warp);
    pattern.cell.flags = Cell::kReads | Cell::kWrites;
    pattern.cell.time = atomic.time;
    pattern.kind = kind_of_atomic(site);
    PieceCheck check(engine_, actor, site, global);
    if (!check.take_word(pattern, atomic.tagged, atomic.lanes)) {
      ++cta.launch.astray;
    }
  });
}

bool AccessCheck::check_copies(const Actor& actor, const WarpOperation& operation,
                               const wire::SiteInfo& site, std::uint32_t lanes,
                               std::uint8_t flags) {
  if (!operation.has_all_lanes) {
    return check_copies(actor, operation.with_all_lanes(), site, lanes, flags);
  }
  Completions& completions = actor.warp.completions();
  bool are_addresses_possible = true;
  while (lanes != 0) {
    const Time now = completions.groups(Completion::kThreadGroup, first_lane(lanes)).now();
    const std::uint32_t same = lanes_where(lanes, [&](std::uint32_t lane) {
      return completions.groups(Completion::kThreadGroup, lane).now() == now;
    });
    const PackedCompletion completion{
        .cta = actor.cta.index,
        .slot = completion_slot(Completion::kThreadGroup, actor.warp.warp())};
    are_addresses_possible =
        check_alike(actor, operation, site, same,
                    {.flags = static_cast<std::uint8_t>(flags | Cell::kAsynchronous),
                     .completion = completion.packed(),
                     .time = now}) &&
        are_addresses_possible;
    lanes &= ~same;
  }
  return are_addresses_possible;
}

// Of one lane. A copy that was kept is logged in each interval in which something conflicts with
// it, until its thread has waited for it and the block has met. So its stamp need not last: at the
// next barrier of the block all know it, and if it is still under way it has another one then.
bool AccessCheck::check_kept_copy(const Actor& actor, const WarpOperation& operation,
                                  const wire::SiteInfo& site, std::uint8_t flags) {
  Completions& completions = actor.warp.completions();
  const std::uint32_t lane = first_lane(operation.mask);
  const auto record = wire::CopyRecord::unpacked(operation.uniform_value);
  if (record.waited != 0) {
    completions.end_kept(lane, record.waited);
  }
  if (operation.interval == wire::kCopyOver) {
    completions.end_kept(lane, record.group);
  }
  const PackedCompletion completion{.cta = actor.cta.index,
                                    .slot = completion_slot(Completion::kKept, actor.warp.warp())};
  const Time time = completions.kept_copy(lane, record.group);
  // Its record may come late: its thread has waited for it meanwhile, and gone on.
  return check_alike(actor, operation, site, operation.mask,
                     {.flags = static_cast<std::uint8_t>(flags | Cell::kAsynchronous),
                      .completion = completion.packed(),
                      .time = time,
                      .is_late = completions.waited(Completion::kKept, lane) >= time});
}

bool AccessCheck::check_range(const Actor& actor, const WarpOperation& operation,
                              std::uint32_t lanes, const Range& range) {
  if (range.bytes == 0) {
    return true;
  }
  if (wire::space_of(range.tagged) == wire::AddressSpace::kGlobal
          ? wire::address_of(range.tagged) + range.bytes > std::uint64_t{1} << wire::kSpaceShift
          : !place_of(range.tagged, actor, range.bytes)) {
    return lanes != 0 && report_use_after_exit(engine_, actor, operation.site, first_lane(lanes),
                                               range.tagged, range.bytes);
  }
  const wire::SiteInfo& site = engine_.site(static_cast<std::uint32_t>(operation.site));
  actor.warp.touch(lanes);
  Piece piece =
      pattern_of(actor, operation, site, lanes,
                 {.flags = range.flags, .completion = range.completion, .time = range.time});
  piece.lanes = lanes;
  piece.cell.lanes = lanes;
  if (piece.cell.is_asynchronous()) {
    piece.cell.set_extent(range.bytes);
    piece.cell.sequence = range.map_group;
  }
  ShadowMemory::Visitor global(engine_.global);
  PieceCheck check(engine_, actor, site, global);
  bool are_addresses_possible = true;
  std::uint32_t bytes = 0;
  for (std::uint32_t done = 0; done < range.bytes; done += bytes) {
    piece.tagged = range.tagged + done;
    const auto offset = static_cast<std::uint32_t>(piece.tagged % kBlockBytes);
    bytes = std::min(range.bytes - done, kBlockBytes - offset);
    piece.cell.bytes = Bytes::range(offset, bytes);
    are_addresses_possible &= check.take(piece, Pass::kCompareAndRecord);
  }
  return are_addresses_possible;
}

}  // namespace barracuda::detector
