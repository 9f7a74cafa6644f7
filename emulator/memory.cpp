#include "emulator/memory.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <sys/mman.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/assert.h"
#include "emulator/state/host_address.h"

namespace barracuda::emulator {

namespace {

constexpr std::uint64_t kAlignment = 256;
// From here on, pages that are never touched must cost nothing.
constexpr std::uint64_t kMappedBytes = std::uint64_t{64} * 1024;

// All that it depends on is rounded_bytes().
void* obtain(std::uint64_t bytes) {
  const std::uint64_t rounded = Memory::rounded_bytes(bytes);
  if (rounded < kMappedBytes) {
    void* memory = std::aligned_alloc(kAlignment, rounded);
    if (memory != nullptr) {
      std::memset(memory, 0, rounded);
    }
    return memory;
  }
  void* memory = mmap(nullptr, rounded, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

void give_back(std::uint64_t address, std::uint64_t bytes) {
  void* memory = host_address<void>(address);
  const std::uint64_t rounded = Memory::rounded_bytes(bytes);
  if (rounded < kMappedBytes) {
    std::free(memory);
  } else {
    munmap(memory, rounded);
  }
}

std::uint64_t physical_bytes() {
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGE_SIZE);
  return pages > 0 && page > 0
             ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page)
             : std::uint64_t{4} << 30;
}

}  // namespace

static_assert(kMappedBytes % kAlignment == 0 && (kAlignment & (kAlignment - 1)) == 0);

struct Memory::State {
  mutable std::shared_mutex mutex;
  std::map<std::uint64_t, Allocation> allocations;  // by address
  std::map<std::uint64_t, Allocation> withdrawn;    // alike; nothing finds these
  std::uint64_t used = 0;
  std::uint64_t total = physical_bytes();
  std::atomic<std::uint64_t> releases{0};

  // What is used is what the allocations take, and each lies where it is kept. The mutex is held.
  [[nodiscard]] bool is_valid() const {
    std::uint64_t taken = 0;
    for (const auto& [address, allocation] : allocations) {
      if (allocation.address != address) {
        return false;
      }
      taken += allocation.kind == AllocationKind::kRegisteredHost ? 0 : allocation.bytes;
    }
    return taken == used;
  }
};

Memory::Memory() : state_(std::make_unique<State>()) {}

Memory::~Memory() {
  for (const auto& [address, allocation] : state_->withdrawn) {
    give_back(address, allocation.bytes);
  }
  for (const auto& [address, allocation] : state_->allocations) {
    if (allocation.kind != AllocationKind::kRegisteredHost) {
      give_back(address, allocation.bytes);
    }
  }
}

Expected<std::uint64_t> Memory::allocate(std::uint64_t bytes, AllocationKind kind) {
  const std::unique_lock lock(state_->mutex);
  if (bytes > state_->total || state_->used > state_->total - bytes) {
    return unexpected(
        Diagnostic{.message = fmt::format("out of device memory: {} bytes asked for, {} of {} used",
                                          bytes, state_->used, state_->total)});
  }
  void* memory = obtain(bytes);
  if (memory == nullptr) {
    return unexpected(
        Diagnostic{.message = fmt::format("the host has no {} bytes for device memory", bytes)});
  }
  const auto address = reinterpret_cast<std::uint64_t>(memory);
  state_->allocations.insert_or_assign(
      address, Allocation{.address = address, .bytes = bytes, .kind = kind});
  state_->used += bytes;
  DEBUG_ASSERT(address % kAlignment == 0 && state_->is_valid());
  return address;
}

void Memory::register_host(std::uint64_t address, std::uint64_t bytes) {
  const std::unique_lock lock(state_->mutex);
  state_->allocations.insert_or_assign(
      address,
      Allocation{.address = address, .bytes = bytes, .kind = AllocationKind::kRegisteredHost});
}

bool Memory::release(std::uint64_t address) {
  const std::unique_lock lock(state_->mutex);
  const auto found = state_->allocations.find(address);
  if (found == state_->allocations.end()) {
    return false;
  }
  const Allocation allocation = found->second;
  state_->allocations.erase(found);
  state_->releases.fetch_add(1);
  if (allocation.kind != AllocationKind::kRegisteredHost) {
    state_->used -= allocation.bytes;
    DEBUG_ASSERT(state_->is_valid());
    give_back(address, allocation.bytes);
  }
  return true;
}

std::uint64_t Memory::rounded_bytes(std::uint64_t bytes) {
  return (std::max<std::uint64_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
}

bool Memory::withdraw(std::uint64_t address) {
  const std::unique_lock lock(state_->mutex);
  const auto found = state_->allocations.find(address);
  if (found == state_->allocations.end()) {
    return false;
  }
  state_->used -= found->second.bytes;
  state_->withdrawn.insert(state_->allocations.extract(found));
  state_->releases.fetch_add(1);
  return true;
}

void Memory::restore(std::uint64_t address, std::uint64_t bytes) {
  const std::unique_lock lock(state_->mutex);
  Allocation allocation = state_->withdrawn.extract(address).mapped();
  ASSERT(rounded_bytes(bytes) == rounded_bytes(allocation.bytes));
  allocation.bytes = bytes;
  state_->used += bytes;
  state_->allocations.insert_or_assign(address, allocation);
}

void Memory::discard(std::uint64_t address) {
  const std::unique_lock lock(state_->mutex);
  const auto found = state_->withdrawn.extract(address);
  give_back(address, found.mapped().bytes);
}

std::optional<Allocation> Memory::find(std::uint64_t address) const {
  const std::shared_lock lock(state_->mutex);
  auto found = state_->allocations.upper_bound(address);
  if (found == state_->allocations.begin()) {
    return std::nullopt;
  }
  --found;
  const Allocation& allocation = found->second;
  const bool inside = address - allocation.address < std::max<std::uint64_t>(allocation.bytes, 1);
  return inside ? std::optional(allocation) : std::nullopt;
}

const std::atomic<std::uint64_t>& Memory::releases() const {
  return state_->releases;
}

std::uint64_t Memory::total_bytes() const {
  return state_->total;
}

std::uint64_t Memory::used_bytes() const {
  const std::shared_lock lock(state_->mutex);
  return state_->used;
}

}  // namespace barracuda::emulator
