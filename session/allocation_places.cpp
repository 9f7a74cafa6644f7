#include "session/allocation_places.h"

#include <algorithm>
#include <ranges>
#include <unordered_set>
#include <utility>

#include "base/held_lock.h"
#include "report/host_stack.h"
#include "session/host_stack.h"
#include "session/python_place.h"

namespace barracuda::session {
namespace {

std::vector<std::uint64_t> addresses_in(const report::RunData& run) {
  std::vector<std::uint64_t> addresses;
  for (const detector::RaceEvent& race : run.findings.races) {
    for (const detector::RaceAccess* const access : {&race.first, &race.second}) {
      if (access->space == wire::AddressSpace::kGlobal) {
        addresses.push_back(access->address);
      }
    }
  }
  for (const report::MemoryErrorRecord& error : run.memory_errors) {
    addresses.push_back(error.address);
  }
  std::ranges::sort(addresses);
  return addresses;
}

// A report names the allocation beside an address that lies in none, too.
bool is_named(const report::AllocationRecord& record, const std::vector<std::uint64_t>& addresses) {
  constexpr std::uint64_t kNearby = 4096;
  const std::uint64_t begin = record.address - std::min(record.address, kNearby);
  const auto first = std::ranges::lower_bound(addresses, begin);
  return first != addresses.end() && *first < record.address + record.bytes + kNearby;
}

}  // namespace

void AllocationPlaces::note(std::uint64_t address) {
  constexpr std::uint64_t kMostPlaces = kMostStacks / 4;  // of which launches need the most
  {
    const HeldLock lock(mutex_);
    by_address_.erase(address);
    if (stacks_taken_ == kMostPlaces) {
      return;
    }
    ++stacks_taken_;
  }
  note_python_place();
  Stack stack = host_stack();
  const HeldLock lock(mutex_);
  by_address_[address] = &*stacks_.insert(std::move(stack)).first;
}

const AllocationPlaces::Stack* AllocationPlaces::stack_of(std::uint64_t address) const {
  const HeldLock lock(mutex_);
  const auto found = by_address_.find(address);
  return found == by_address_.end() ? nullptr : found->second;
}

// Nothing is held while addresses are looked up: that takes the loader's lock, and who holds it may
// allocate.
std::string AllocationPlaces::place_of(const Stack& stack) const {
  {
    const HeldLock lock(mutex_);
    if (const auto known = places_.find(&stack); known != places_.end()) {
      return known->second;
    }
  }
  const report::HostSymbols symbols;
  std::vector<report::HostFrame> frames;
  for (const std::uint64_t address : stack) {
    const std::vector<report::HostFrame> found = symbols.look_up(address);
    frames.insert(frames.end(), found.begin(), found.end());
  }
  std::string place = report::calling_chain(
      frames, symbols.has_library() ? report::Unplaced::kLeftOut : report::Unplaced::kKept);
  const HeldLock lock(mutex_);
  places_.emplace(&stack, place);
  return place;
}

void AllocationPlaces::describe(report::RunData& run) const {
  const std::vector<std::uint64_t> addresses = addresses_in(run);
  std::unordered_set<std::uint64_t> seen;
  for (report::AllocationRecord& record : std::views::reverse(run.allocations)) {
    // Where an earlier one with this address was made is not known any more.
    const bool is_newest = seen.insert(record.address).second;
    const Stack* const stack =
        is_newest && is_named(record, addresses) ? stack_of(record.address) : nullptr;
    if (const std::string place = stack == nullptr ? "" : place_of(*stack); !place.empty()) {
      record.description += " from " + place;
    }
  }
}

}  // namespace barracuda::session
