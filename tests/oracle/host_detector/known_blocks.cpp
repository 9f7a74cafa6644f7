#include "tests/oracle/host_detector/known_blocks.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "device_logger/memory_order.h"

namespace barracuda::oracle {
namespace {

using detector::WarpOperation;
using wire::Operation;
using wire::RecordKind;

// Whether barriers of its warps may be counted, as the rewriter knows from the code: all threads
// come to all barriers of the block, and what waits for a warp waits until all of it has come.
class CountableBlock {
 public:
  void take(const WarpOperation& operation, const wire::SiteInfo& site) {
    const bool leaves = site.operation == Operation::kExit;
    Warp& warp = warps_[operation.warp];
    if (leaves && !has_begun_) {  // lanes that there are not
      warp.alive &= ~operation.mask;
      return;
    }
    has_begun_ = true;
    const bool is_barrier =
        site.operation == Operation::kBarrier || site.operation == Operation::kBarrierArrive;
    copies_ = copies_ || is_of_copies(operation, site);
    is_by_barriers_ =
        is_by_barriers_ && (leaves || is_plain_record(operation) || is_of_copies(operation, site) ||
                            is_block_barrier(operation, site));
    has_whole_barriers_ = has_whole_barriers_ && (!is_barrier || is_block_barrier(operation, site));
    is_countable_ = is_countable_ && (warp.waiting & operation.mask) == 0 && has_whole_barriers_ &&
                    (!leaves || warp.waiting == 0);
    for (std::uint32_t lane = 0; lane < wire::kWarpLanes; ++lane) {
      if ((operation.mask >> lane & 1) != 0) {
        barriers_[operation.warp * wire::kWarpLanes + lane] += is_barrier ? 1 : 0;
      }
    }
    warp.alive &= leaves ? ~operation.mask : ~0U;
    warp.waiting |= is_warp_barrier(operation, site) ? operation.mask : 0;
    warp.waiting = (warp.alive & ~warp.waiting) == 0 ? 0 : warp.waiting;
  }

  // What the block copies asynchronously has no states unless barriers alone order its threads.
  [[nodiscard]] bool is_logged_whole() const {
    return copies_ && !(is_by_barriers_ && is_countable());
  }

  [[nodiscard]] bool has_whole_barriers() const { return has_whole_barriers_; }

  [[nodiscard]] bool counts_warps() const { return !copies_ && is_countable(); }

  [[nodiscard]] bool is_countable() const {
    return is_countable_ && std::ranges::all_of(barriers_, [&](const auto& thread) {
             return thread.second == barriers_.begin()->second;
           });
  }

 private:
  struct Warp {
    std::uint32_t alive = ~0U, waiting = 0;
  };

  bool is_countable_ = true, has_begun_ = false, is_by_barriers_ = true, copies_ = false;
  bool has_whole_barriers_ = true;
  std::map<std::uint32_t, Warp> warps_;
  std::map<std::uint32_t, std::uint32_t> barriers_;  // by thread
};

bool publishes(const WarpOperation& operation, const wire::SiteInfo& site) {
  return operation.kind == RecordKind::kEvent || site.operation == Operation::kHeap ||
         wire::has_release(site.order);
}

std::map<BlockName, CountableBlock> blocks_of(const Trace& trace) {
  std::map<BlockName, CountableBlock> blocks;
  for (const Step& step : trace.steps) {
    if (const auto* const operation = std::get_if<WarpOperation>(&step)) {
      blocks[block_of(*operation)].take(*operation,
                                        trace.sites.at(static_cast<std::size_t>(operation->site)));
    }
  }
  return blocks;
}

std::set<BlockName> those(const std::map<BlockName, CountableBlock>& blocks,
                          bool (CountableBlock::*are_so)() const) {
  std::set<BlockName> found;
  for (const auto& [name, block] : blocks) {
    if ((block.*are_so)()) {
      found.insert(name);
    }
  }
  return found;
}

// Barriers of whole warps that are counted need no care.
bool tells_others(const WarpOperation& operation, const wire::SiteInfo& site,
                  const std::set<BlockName>& countable) {
  return publishes(operation, site) &&
         !(is_warp_barrier(operation, site) && countable.contains(block_of(operation)));
}

// By step: the lanes whose threads publish before they come to the next barrier of their whole
// block.
std::vector<std::uint32_t> find_publications(const Trace& trace,
                                             const std::set<BlockName>& countable) {
  std::map<std::tuple<detector::LaunchId, std::uint32_t, std::uint32_t>, bool> publishes_later;
  std::vector<std::uint32_t> lanes(trace.steps.size());
  for (std::size_t i = trace.steps.size(); i-- > 0;) {
    const auto* const operation = std::get_if<WarpOperation>(&trace.steps[i]);
    if (operation == nullptr) {
      continue;
    }
    const wire::SiteInfo& site = trace.sites.at(static_cast<std::size_t>(operation->site));
    for (std::uint32_t lane = 0; lane < wire::kWarpLanes; ++lane) {
      if ((operation->mask >> lane & 1) != 0) {
        bool& later = publishes_later[{operation->launch, operation->cta,
                                       operation->warp * wire::kWarpLanes + lane}];
        lanes[i] |= later ? std::uint32_t{1} << lane : 0;
        later = !is_block_barrier(*operation, site) && site.operation != Operation::kExit &&
                (later || tells_others(*operation, site, countable));
      }
    }
  }
  return lanes;
}

// By step: whether none of its lanes has published since the last barrier of the whole block.
std::vector<bool> find_first_steps(const Trace& trace, const std::set<BlockName>& countable) {
  std::map<std::tuple<detector::LaunchId, std::uint32_t, std::uint32_t>, bool> has_published;
  std::vector<bool> come_first(trace.steps.size(), true);
  for (std::size_t i = 0; i < trace.steps.size(); ++i) {
    const auto* const operation = std::get_if<WarpOperation>(&trace.steps[i]);
    if (operation == nullptr) {
      continue;
    }
    const wire::SiteInfo& site = trace.sites.at(static_cast<std::size_t>(operation->site));
    const bool tells = tells_others(*operation, site, countable);
    for (std::uint32_t lane = 0; lane < wire::kWarpLanes; ++lane) {
      if ((operation->mask >> lane & 1) != 0) {
        bool& has = has_published[{operation->launch, operation->cta,
                                   operation->warp * wire::kWarpLanes + lane}];
        come_first[i] = come_first[i] && !has;
        has = !is_block_barrier(*operation, site) && (has || tells);
      }
    }
  }
  return come_first;
}

// By step: whether someone of its block lets other blocks know, after it, of what it did.
std::vector<bool> find_publications_to_blocks(const Trace& trace) {
  std::map<BlockName, bool> publishes_later;
  std::vector<bool> found(trace.steps.size());
  for (std::size_t i = trace.steps.size(); i-- > 0;) {
    if (const auto* const operation = std::get_if<WarpOperation>(&trace.steps[i])) {
      const wire::SiteInfo& site = trace.sites.at(static_cast<std::size_t>(operation->site));
      bool& later = publishes_later[block_of(*operation)];
      found[i] = later;
      later = later || (publishes(*operation, site) && !is_block_barrier(*operation, site) &&
                        site.operation != Operation::kExit && site.scope != wire::Scope::kCta);
    }
  }
  return found;
}

}  // namespace

KnownBlocks::KnownBlocks(const Trace& trace) {
  const std::map<BlockName, CountableBlock> known = blocks_of(trace);
  for (const auto& [name, block] : known) {
    all.insert(name);
  }
  countable = those(known, &CountableBlock::counts_warps);
  by_whole = those(known, &CountableBlock::has_whole_barriers);
  whole = those(known, &CountableBlock::is_logged_whole);
  const std::vector<std::uint32_t> lanes = find_publications(trace, countable);
  const std::vector<bool> come_first = find_first_steps(trace, countable);
  const std::vector<bool> others = find_publications_to_blocks(trace);
  for (std::size_t i = 0; i < trace.steps.size(); ++i) {
    told.push_back(
        {.before_barrier = lanes[i], .comes_first = come_first[i], .other_blocks = others[i]});
  }
}

}  // namespace barracuda::oracle
