#include "host_detector/races/access_check.h"

#include <algorithm>

#include "host_detector/races/piece_check.h"
#include "host_detector/races/shared_sets.h"

namespace barracuda::detector {
namespace {

// Compares all pieces of a block before it records them. Nobody else comes between, as the block is
// held until another is taken.
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
  cell.time = cell.is_asynchronous() ? stamp.time : actor.warp.now();
  pattern.kind = shared_access_kind(site, cell);
  return pattern;
}

}  // namespace

bool AccessCheck::check(const Actor& actor, const WarpOperation& operation, std::uint32_t lanes,
                        std::uint8_t flags) {
  if (lanes == 0) {
    return true;
  }
  const wire::SiteInfo& site = engine_.site(static_cast<std::uint32_t>(operation.site));
  return site.asynchrony == wire::Asynchrony::kNone
             ? check_alike(actor, operation, site, lanes, {.flags = flags})
             : check_copies(actor, operation, site, lanes, flags);
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
  const Footprint footprint = access.footprint(pattern);
  PieceCheck check(engine_, actor, site);
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
        .warp = completion_warp(Completion::kThreadGroup, actor.warp.warp())};
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

bool AccessCheck::check_range(const Actor& actor, const WarpOperation& operation,
                              std::uint32_t lanes, const Range& range) {
  if (range.bytes == 0) {
    return true;
  }
  if (wire::space_of(range.tagged) == wire::AddressSpace::kGlobal
          ? wire::address_of(range.tagged) + range.bytes > std::uint64_t{1} << wire::kSpaceShift
          : !place_of(range.tagged, actor, range.bytes)) {
    return false;
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
  }
  PieceCheck check(engine_, actor, site);
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
