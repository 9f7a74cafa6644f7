// Copies of boxes of tensors: as bulk copies, but that the map says which bytes of global memory.
#include "base/strong_id.h"
#include "host_detector/happens_before/async_copy_rules.h"

namespace barracuda::detector {
namespace {

constexpr std::uint32_t kMapBytes = wire::kMapWords * sizeof(std::uint64_t);

}  // namespace

void AsyncCopyRules::note_maps(const Actor& actor, const WarpOperation& operation) {
  const WarpOperation each = operation.has_all_lanes ? operation : operation.with_all_lanes();
  for (const std::uint32_t lane : SetBits(each.mask)) {
    actor.warp.completions().map_read(lane) = {
        .tagged = each.lanes[lane].address, .site = each.site, .is_there = true};
  }
}

bool AsyncCopyRules::read_map(const Actor& actor, const WarpOperation& operation,
                              std::uint32_t lane, const PackedCompletion& completion, Time time) {
  const MapRead read = actor.warp.completions().map_read(lane);
  const Time group = actor.warp.completions().groups(Completion::kBulkReads, lane).now();
  WarpOperation of_map = operation;
  of_map.site = read.site;
  return accesses_.check_range(actor, of_map, std::uint32_t{1} << lane,
                               {.tagged = read.tagged,
                                .bytes = kMapBytes,
                                .flags = Cell::kReads | Cell::kAsynchronous,
                                .completion = completion.packed(),
                                .time = time,
                                .map_group = group});
}

bool AsyncCopyRules::tensor_copy(const Actor& actor, const WarpOperation& operation) {
  const wire::SiteInfo& site = engine_.site(static_cast<std::uint32_t>(operation.site));
  const std::uint32_t lane = first_lane(operation.mask);
  const LaneAccess& access = operation.lanes[lane];
  const TensorMap* map = engine_.tensor_maps.find(access.value_read);
  if (map == nullptr) {
    engine_.log.add_unknown_map(operation.site);
  }
  const bool loads = site.asynchrony == wire::Asynchrony::kMbarrier;
  const TensorBox box = map == nullptr ? TensorBox{}
                                       : box_of(*map, operation.coordinates, access.address,
                                                SharedShadow::kLimit, operation.offsets);
  if ((map != nullptr && box.bytes == 0) ||
      (!loads && site.asynchrony != wire::Asynchrony::kBulkGroup)) {
    return false;
  }
  Transfer copied{.target = loads ? access.address : wire::kNoOperand,
                  .source = loads ? wire::kNoOperand : access.address,
                  .bytes = box.bytes,
                  .box = &box,
                  .reads_map = actor.warp.completions().map_read(lane).is_there};
  bool is_possible = true;
  if (!loads) {
    in_group(actor, lane, copied);
    is_possible =
        !copied.reads_map || read_map(actor, operation, lane, copied.read_completion, copied.time);
    is_possible = (map == nullptr || transfer(actor, operation, lane, copied)) && is_possible;
  } else {
    is_possible = access.flags != 0
                      ? multicast(actor, operation, lane, copied)
                      : copy_to_mbarrier(actor, operation, lane, copied, access.value_written);
  }
  for (std::uint32_t rest = operation.mask; rest != 0; rest &= rest - 1) {
    actor.warp.completions().map_read(first_lane(rest)).is_there = false;
  }
  return is_possible;
}

bool AsyncCopyRules::transfer_box(const Actor& actor, const WarpOperation& operation,
                                  std::uint32_t lane, const Transfer& transfer) {
  const wire::SiteInfo& site = engine_.site(static_cast<std::uint32_t>(operation.site));
  constexpr std::uint8_t kReads = Cell::kReads | Cell::kAsynchronous;
  const bool is_reduction = site.order != wire::MemoryOrder::kWeak;
  const auto writes = static_cast<std::uint8_t>(Cell::kWrites | Cell::kAsynchronous |
                                                (is_reduction ? Cell::kReads : 0));
  const auto touch = [&](const ByteRange& range, std::uint64_t base, bool is_write) {
    const PackedCompletion& by = is_write ? transfer.write_completion : transfer.read_completion;
    return accesses_.check_range(actor, operation, std::uint32_t{1} << lane,
                                 {.tagged = base + range.address,
                                  .bytes = range.bytes,
                                  .flags = is_write ? writes : kReads,
                                  .completion = by.packed(),
                                  .time = transfer.time});
  };
  const bool loads = transfer.source == wire::kNoOperand;
  bool is_possible = true;
  const auto touch_rows = [&] {
    for (const ByteRange& row : transfer.box->rows) {
      is_possible = touch(row, 0, !loads) && is_possible;
    }
  };
  if (loads) {
    touch_rows();
  }
  for (const ByteRange& piece : transfer.box->pieces) {
    is_possible = touch(piece, loads ? transfer.target : transfer.source, loads) && is_possible;
  }
  if (!loads) {
    touch_rows();
  }
  return is_possible;
}

}  // namespace barracuda::detector
