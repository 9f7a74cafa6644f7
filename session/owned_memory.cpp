#include "session/owned_memory.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "session/memory_ranges.h"
#include "session/thread_overlap.h"

namespace barracuda::session {
namespace {

struct Candidate {
  OwnedAllocation allocation;
  bool is_possible = true;

  // Atomics of one size and of the whole device race with nothing but what is none of them.
  [[nodiscard]] bool is_of_atomics() const {
    return std::ranges::all_of(allocation.accesses, [&](const ptx::GlobalAccess* access) {
      return access->is_atomic && access->bytes == allocation.accesses.front()->bytes;
    });
  }
};

class Candidates {
 public:
  Candidates(const KnownLaunch& launch, const AllocationTable& allocations)
      : launch_(launch),
        allocations_(allocations),
        first_site_(first_owned_site(launch.kernel.accesses)) {}

  // False if it may be to anything.
  bool add(const ptx::GlobalAccess& access) {
    std::vector<MemoryRange> leads;
    for (const ptx::ArgumentWord& word : access.leads.arguments) {
      const Lead led = lead_of(word);
      if (!led.allocation && !leads_nowhere(access.leads, led.pointer)) {
        return false;
      }
      if (led.allocation && std::ranges::none_of(leads, [&](const MemoryRange& other) {
            return overlap(*led.allocation, other);
          })) {
        leads.push_back(*led.allocation);
      }
    }
    const bool has_place = access.first_site - first_site_ + access.sites <= wire::kMostOwnedSites;
    for (const MemoryRange& range : leads) {
      Candidate& candidate = of(range);
      candidate.allocation.accesses.push_back(&access);
      candidate.is_possible = candidate.is_possible && (access.form || access.is_atomic) &&
                              leads.size() == 1 && (access.sites == 0 || has_place);
    }
    return access.leads.is_known;
  }

  std::vector<Candidate> take() { return std::move(candidates_); }

 private:
  Candidate& of(const MemoryRange& range) {
    const auto found = std::ranges::find_if(candidates_, [&](const Candidate& candidate) {
      return candidate.allocation.range.address == range.address;
    });
    return found != candidates_.end()
               ? *found
               : candidates_.emplace_back(Candidate{.allocation = {.range = range}});
  }

  struct Lead {
    std::uint64_t pointer = 0;
    std::optional<MemoryRange> allocation;
  };

  // Of a pointer to an end the same is taken to be meant as by UnloggedAccesses.
  Lead lead_of(const ptx::ArgumentWord& word) {
    const auto known = std::ranges::find(words_, word, &std::pair<ptx::ArgumentWord, Lead>::first);
    if (known != words_.end()) {
      return known->second;
    }
    Lead lead{.pointer = argument_word(launch_.kernel, launch_.arguments, word)};
    lead.allocation = allocations_.allocation_with(lead.pointer);
    if (!lead.allocation) {
      lead.allocation = allocations_.allocation_with(lead.pointer - 1);
    }
    return words_.emplace_back(word, lead).second;
  }

  const KnownLaunch& launch_;
  const AllocationTable& allocations_;
  const std::uint32_t first_site_;
  std::vector<std::pair<ptx::ArgumentWord, Lead>> words_;
  std::vector<Candidate> candidates_;
};

// What guards all accesses of the allocation, as far as it is known at this launch.
std::vector<IndexBound> bounds_of(const OwnedAllocation& allocation,
                                  std::span<const ptx::AddressGuard> guards,
                                  const AffineAddresses& addresses) {
  std::vector<IndexBound> bounds;
  for (const std::uint32_t number : allocation.accesses.front()->guards) {
    const ptx::AddressGuard& guard = guards[number];
    const std::optional<AffineAddress>& less = addresses.values[guard.less];
    const std::optional<AffineAddress>& more = addresses.values[guard.more];
    const bool guards_all =
        std::ranges::all_of(allocation.accesses, [&](const ptx::GlobalAccess* access) {
          return std::ranges::find(access->guards, number) != access->guards.end();
        });
    // Without a sign, a negative limit is a large one, and a negative index is above it.
    const bool is_known = less && more && less->step_count == 0 && more->is_constant() &&
                          more->constant > std::numeric_limits<std::int64_t>::min() &&
                          (guard.is_signed || more->constant >= 0);
    if (guards_all && is_known) {
      bounds.push_back({.index = *less, .most = more->constant - (guard.may_be_equal ? 0 : 1)});
    }
  }
  return bounds;
}

bool is_owned(const OwnedAllocation& allocation, std::span<const ptx::AddressGuard> guards,
              const AffineAddresses& addresses) {
  std::vector<Footprint> footprints;
  for (const ptx::GlobalAccess* access : allocation.accesses) {
    if (access->is_atomic) {
      return false;
    }
    const std::optional<AffineAddress>& base = addresses.values[*access->form];
    std::int64_t begin = 0;
    if (!base || __builtin_add_overflow(base->constant, access->offset, &begin)) {
      return false;
    }
    Footprint footprint{.address = *base, .bytes = access->bytes};
    footprint.address.constant = begin;
    if (std::ranges::find(footprints, footprint) == footprints.end()) {
      footprints.push_back(footprint);
    }
  }
  return are_disjoint(footprints, addresses.extents, allocation.range,
                      bounds_of(allocation, guards, addresses));
}

}  // namespace

std::uint32_t first_owned_site(const ptx::GlobalAccesses& accesses) {
  std::uint32_t first = ~0U;
  for (const ptx::GlobalAccess& access : accesses.accesses) {
    first = access.sites == 0 ? first : std::min(first, access.first_site);
  }
  return first;
}

std::vector<OwnedAllocation> find_owned(const KnownLaunch& launch,
                                        const AllocationTable& allocations,
                                        std::span<const MemoryRange> except) {
  const ptx::GlobalAccesses& accesses = launch.kernel.accesses;
  if (!accesses.are_known || launch.arguments.empty()) {
    return {};
  }
  Candidates candidates(launch, allocations);
  for (const ptx::GlobalAccess& access : accesses.accesses) {
    if (!candidates.add(access)) {
      return {};
    }
  }
  std::vector<Candidate> possible = candidates.take();
  std::erase_if(possible, [&](const Candidate& candidate) {
    return !candidate.is_possible || std::ranges::any_of(except, [&](const MemoryRange& range) {
      return overlap(range, candidate.allocation.range);
    });
  });
  std::vector<OwnedAllocation> owned;
  if (possible.empty()) {
    return owned;
  }
  const AffineAddresses addresses =
      evaluate(accesses.nodes, {.parameters = launch.kernel.parameters,
                                .arguments = launch.arguments,
                                .extents = launch.extents});
  for (Candidate& candidate : possible) {
    if (candidate.is_of_atomics() || is_owned(candidate.allocation, accesses.guards, addresses)) {
      owned.push_back(std::move(candidate.allocation));
    }
  }
  return owned;
}

}  // namespace barracuda::session
