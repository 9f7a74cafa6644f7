#include "report/race_sites.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "base/strong_id.h"
#include "report/own_frame.h"
#include "report/toolkit_path.h"

namespace barracuda::report {
namespace {

std::uint32_t line_of(const ptx::Site& site) {
  return site.frames.empty() ? 0 : site.frames.back().line;
}

// At a lock, which is tried until it is taken.
bool is_attempt(const ptx::Site& site) {
  return site.info.operation == wire::Operation::kAtomic && !site.loops.empty() &&
         site.instruction.find(".cas") != std::string::npos;
}

// As who has taken a lock gives it back: atomics of a byte are made of such attempts altogether.
bool changes_at_once(const ptx::Site& site) {
  return !is_attempt(site) && (site.info.operation == wire::Operation::kWrite ||
                               site.info.operation == wire::Operation::kAtomic ||
                               site.info.operation == wire::Operation::kReduction);
}

}  // namespace

const ptx::Site* RaceSites::find(detector::AccessSite at) const {
  return !at.is_call() && index_of(at.instruction()) < sites_.size()
             ? &sites_[index_of(at.instruction())]
             : nullptr;
}

const ptx::Site* RaceSites::about() const {
  return race_.about ? find(*race_.about) : nullptr;
}

const ptx::Site* RaceSites::narrow_fence(const wire::SiteId* id) const {
  const ptx::Site* const site = id != nullptr ? find(*id) : nullptr;
  return site != nullptr && site->info.operation == wire::Operation::kFence &&
                 !includes(site->info.scope, race_.needed_scope)
             ? site
             : nullptr;
}

bool RaceSites::is_update(detector::AccessSite id) const {
  const ptx::Site* const site = find(id);
  return site != nullptr &&
         (site->update != 0 || site->info.operation == wire::Operation::kAtomic ||
          site->info.operation == wire::Operation::kReduction);
}

bool RaceSites::is_exchange(const ptx::Site& part) const {
  return part.update != 0 && std::ranges::count_if(sites_, [&](const ptx::Site& site) {
                               return site.update == part.update &&
                                      site.function == part.function &&
                                      site.info.operation == wire::Operation::kRead;
                             }) > 1;
}

bool RaceSites::are_exchanges() const {
  const ptx::Site* const first = find(race_.first.site);
  const ptx::Site* const second = find(race_.second.site);
  return first != nullptr && second != nullptr && is_exchange(*first) && is_exchange(*second);
}

bool RaceSites::is_strong(detector::AccessSite id) const {
  const ptx::Site* const site = find(id);
  if (site == nullptr || site->info.asynchrony != wire::Asynchrony::kNone) {
    return false;
  }
  const wire::Operation operation = site->info.operation;
  const wire::MemoryOrder order = site->info.order;
  if (operation == wire::Operation::kRead && order == wire::MemoryOrder::kVolatile) {
    return !site->loops.empty() || !site->in_entry;
  }
  const bool is_access =
      operation == wire::Operation::kRead || operation == wire::Operation::kWrite;
  return operation == wire::Operation::kAtomic || operation == wire::Operation::kReduction ||
         (is_access && order != wire::MemoryOrder::kWeak && order != wire::MemoryOrder::kVolatile);
}

bool RaceSites::is_product(detector::AccessSite id) const {
  const ptx::Site* const site = find(id);
  return site != nullptr && site->info.operation == wire::Operation::kMatrixProduct;
}

bool RaceSites::is_load_of_shared(const detector::RaceAccess& access) const {
  const ptx::Site* const site = find(access.site);
  return site != nullptr && access.space != wire::AddressSpace::kGlobal &&
         site->info.asynchrony == wire::Asynchrony::kMbarrier &&
         (site->info.operation == wire::Operation::kCopy ||
          site->info.operation == wire::Operation::kTensorCopy);
}

bool RaceSites::is_flag(detector::AccessSite id) const {
  const ptx::Site* const site = find(id);
  return site != nullptr && (site->info.poll || site->info.flag_store);
}

bool RaceSites::may_be_awaited() const {
  const auto is_in_loop = [&](detector::AccessSite id) {
    const ptx::Site* const site = find(id);
    return site != nullptr && site->info.operation == wire::Operation::kRead &&
           site->info.numbered && !site->loops.empty();
  };
  return is_in_loop(race_.first.site) || is_in_loop(race_.second.site);
}

bool RaceSites::are_steps_of_warp() const {
  const auto is_straight = [&](detector::AccessSite id) {
    const ptx::Site* const site = find(id);
    return site != nullptr && site->loops.empty();
  };
  return race_.kind == detector::RaceKind::kIntraWarp && is_straight(race_.first.site) &&
         is_straight(race_.second.site);
}

bool RaceSites::are_one_statement() const {
  const ptx::Site* const first = find(race_.first.site);
  const ptx::Site* const second = find(race_.second.site);
  if (first == nullptr || second == nullptr || first->function != second->function ||
      first->frames.empty() || second->frames.empty()) {
    return false;
  }
  const ptx::SourceFrame& one = first->frames.front();
  const ptx::SourceFrame& other = second->frames.front();
  return one.line != 0 && one.line == other.line && one.column == other.column &&
         one.file == other.file;
}

bool RaceSites::is_within_statement() const {
  return are_one_statement() && is_read_first() &&
         std::ranges::equal(find(race_.first.site)->frames, find(race_.second.site)->frames,
                            are_of_one_place);
}

bool RaceSites::has_grid_barrier() const {
  const ptx::Site* const second = find(race_.second.site);
  return second != nullptr && std::ranges::any_of(sites_, [&](const ptx::Site& site) {
           return site.function == second->function && is_of_library_barrier(site, "sync_grids");
         });
}

bool RaceSites::has_arrival_of_copies() const {
  const ptx::Site* const first = find(race_.first.site);
  return first != nullptr && std::ranges::any_of(sites_, [&](const ptx::Site& site) {
           return site.function == first->function &&
                  site.info.operation == wire::Operation::kAsyncArrive;
         });
}

bool RaceSites::are_of_two_calls() const {
  const ptx::Site* const first = find(race_.first.site);
  const ptx::Site* const second = find(race_.second.site);
  return first != nullptr && second != nullptr && first->function == second->function &&
         !first->in_entry && race_.first.call_stack != race_.second.call_stack;
}

bool RaceSites::is_update_around_store() const {
  const auto is_so = [this](const detector::RaceAccess& update, const detector::RaceAccess& store) {
    const ptx::Site* const around = find(update.site);
    const ptx::Site* const stored = find(store.site);
    return around != nullptr && stored != nullptr && around->update != 0 && stored->update == 0 &&
           stored->info.operation == wire::Operation::kWrite &&
           stored->info.order == wire::MemoryOrder::kWeak && update.size > store.size &&
           update.address <= store.address &&
           store.address + store.size <= update.address + update.size;
  };
  return is_so(race_.first, race_.second) || is_so(race_.second, race_.first);
}

bool RaceSites::is_read_first() const {
  const ptx::Site* read = find(race_.first.site);
  const ptx::Site* written = find(race_.second.site);
  if (read == nullptr || written == nullptr || read->function != written->function) {
    return false;
  }
  if (read->info.operation != wire::Operation::kRead) {
    std::swap(read, written);
  }
  if (read->info.operation != wire::Operation::kRead ||
      written->info.operation == wire::Operation::kRead) {
    return false;
  }
  // What a statement stores is made of what it reads, also where an unrolled loop has it again.
  if (are_one_statement()) {
    return true;
  }
  // Lines of inlined functions cannot be compared where one of the two has lost its callers.
  const bool have_lines =
      read->frames.size() == written->frames.size() && line_of(*read) != line_of(*written);
  return have_lines ? line_of(*read) < line_of(*written) : read->ptx_line < written->ptx_line;
}

bool RaceSites::use_a_copy() const {
  return uses_result(race_.first.site, race_.second.site) ||
         uses_result(race_.second.site, race_.first.site);
}

bool RaceSites::uses_result(detector::AccessSite copy, detector::AccessSite use) const {
  const ptx::Site* const made = find(copy);
  const ptx::Site* const used = find(use);
  return made != nullptr && used != nullptr && made->function == used->function &&
         (made->info.asynchrony == wire::Asynchrony::kThreadGroup ||
          made->info.asynchrony == wire::Asynchrony::kBulkGroup) &&
         line_of(*made) < line_of(*used);
}

const ptx::Site* RaceSites::unfenced_flag() const {
  const ptx::Site* read = find(race_.first.site);
  const ptx::Site* store = find(race_.second.site);
  if (read == nullptr || store == nullptr) {
    return nullptr;
  }
  if (store->info.operation == wire::Operation::kRead) {
    std::swap(read, store);
  }
  const bool is_awaited =
      read->info.poll && !read->loops.empty() && read->info.order != wire::MemoryOrder::kWeak;
  return is_awaited && store->info.operation == wire::Operation::kWrite &&
                 store->info.order == wire::MemoryOrder::kWeak && !store->info.flag_store &&
                 store->info.element_count == 1
             ? store
             : nullptr;
}

const ptx::Site* RaceSites::poll_before(const detector::RaceAccess& access) const {
  const ptx::Site* const site = find(access.site);
  if (site == nullptr) {
    return nullptr;
  }
  // Those of a function stand together, in the order of its text.
  for (std::size_t behind = index_of(site->id); behind != 0; --behind) {
    const ptx::Site& before = sites_[behind - 1];
    if (before.function != site->function) {
      return nullptr;
    }
    if (before.info.poll && !before.loops.empty()) {
      return &before;
    }
  }
  return nullptr;
}

const ptx::Site* RaceSites::lock_around(const detector::RaceAccess& access) const {
  const ptx::Site* const site = find(access.site);
  if (site == nullptr || site->variable.empty()) {
    return nullptr;
  }
  const ptx::Site* lock = nullptr;
  // In the order of the text.
  for (const ptx::Site& other : sites_) {
    if (other.function != site->function || other.variable.empty() ||
        other.variable == site->variable) {
      continue;
    }
    const bool is_before = index_of(other.id) < index_of(site->id);
    if (is_before && is_attempt(other)) {
      lock = &other;
    } else if (lock != nullptr && other.variable == lock->variable && changes_at_once(other)) {
      if (!is_before) {
        return lock;
      }
      lock = nullptr;  // given back
    }
  }
  return nullptr;
}

std::optional<RaceSites::RemoteArrival> RaceSites::remote_arrival() const {
  const ptx::Site* const first = find(race_.first.site);
  const ptx::Site* const wait = race_.second.last_sync == detector::LastSync::kKnown
                                    ? find(race_.second.last_sync_site)
                                    : nullptr;
  if (first == nullptr || wait == nullptr ||
      wait->info.operation != wire::Operation::kMbarrierWait) {
    return std::nullopt;
  }
  const auto arrival = std::ranges::find_if(sites_, [&](const ptx::Site& site) {
    return site.function == first->function && index_of(site.id) > index_of(first->id) &&
           site.info.operation == wire::Operation::kMbarrierArrive &&
           site.instruction.find("shared::cluster") != std::string::npos;
  });
  return arrival == sites_.end() ? std::nullopt
                                 : std::optional(RemoteArrival{.arrival = &*arrival, .wait = wait});
}

const ptx::Site* RaceSites::library_arrival() const {
  const ptx::Site* const last = race_.second.last_sync == detector::LastSync::kKnown
                                    ? find(race_.second.last_sync_site)
                                    : nullptr;
  return last != nullptr && is_of_library_barrier(*last, "arrive") &&
                 !is_of_library_barrier(*last, "wait")
             ? last
             : nullptr;
}

std::string place_at(const ptx::Site& site) {
  for (const ptx::SourceFrame& frame : site.frames) {
    if (!frame.file.empty() && !is_toolkit_header(frame.file)) {
      return fmt::format(" at {}:{}", frame.file, frame.line);
    }
  }
  return "";
}

bool is_of_library_barrier(const ptx::Site& site, std::string_view function) {
  return std::ranges::any_of(site.frames, [&](const ptx::SourceFrame& frame) {
    return is_toolkit_header(frame.file) &&
           (frame.file.find("cooperative_groups") != std::string::npos ||
            frame.file.find("/barrier") != std::string::npos) &&
           frame.function.find(function) != std::string::npos;
  });
}

}  // namespace barracuda::report
