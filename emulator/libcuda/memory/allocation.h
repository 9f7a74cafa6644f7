// What the program has allocated or registered: beside the device's own table of allocations, what
// only the API knows of them. Module variables are in the device's table alone.
#pragma once

#include <functional>
#include <optional>

#include "emulator/libcuda/context/context.h"
#include "emulator/memory.h"

namespace barracuda::emulator::driver {

// What the program has advised of managed memory; it has no effect here.
struct MemoryAdvice {
  bool is_read_mostly = false;
  bool is_accessed_by_device = false;
  CUmemLocation preferred{.type = CU_MEM_LOCATION_TYPE_INVALID, .id = 0};
  CUmemLocation last_prefetch{.type = CU_MEM_LOCATION_TYPE_INVALID, .id = 0};
};

// What gives it back.
enum class AllocationOwner : std::uint8_t { kProgram, kGraph, kMapping };

struct AllocationEntry {
  Context* context = nullptr;
  AllocationKind kind = AllocationKind::kDevice;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  unsigned flags = 0;
  std::uint64_t id = 0;
  CUmemoryPool pool = nullptr;  // null: not from a pool
  AllocationOwner owner = AllocationOwner::kProgram;
  MemoryAdvice advice{};
};

// Fills in address and id.
CUresult allocate(AllocationEntry& entry);
// The same at the address of bytes that withdraw() has kept.
CUresult reuse(AllocationEntry& entry);
// Memory at an address that the caller has chosen. Kernels may use it from now on.
void add_mapping(AllocationEntry& entry);
CUresult register_host(void* address, std::size_t bytes, unsigned flags);
// The entry that starts at the address, if its kind is `kind`, is freed; else CUDA's error.
CUresult release(std::uint64_t address, AllocationKind kind);
// The same for memory of a pool, whose bytes are kept; `entry` is what it was, without a pool where
// nothing is kept.
CUresult withdraw(std::uint64_t address, AllocationEntry& entry);
// What allocate() has made; nothing if its context has been destroyed since.
void give_back(const AllocationEntry& entry);
// Changes the advice of the entry, or of the managed variable, that contains the address; false:
// there is none.
bool advise(std::uint64_t address, const std::function<void(MemoryAdvice&)>& change);
// The entry that contains the address.
std::optional<AllocationEntry> find_allocation(std::uint64_t address);
// The same or, of a module's variable, what the device and advise() know of it.
std::optional<AllocationEntry> find_memory(std::uint64_t address);
// What was advised of a variable ends with the variable.
void forget_variable(std::uint64_t address);
void release_allocations(const Context& context);

// Whether kernels and copies may use all of the range.
bool is_accessible(std::uint64_t address, std::size_t bytes);
// The same or, outside of every allocation, memory of the process. Freed device memory is neither,
// unless the process has reused its pages.
bool is_copyable(std::uint64_t address, std::size_t bytes);

}  // namespace barracuda::emulator::driver
