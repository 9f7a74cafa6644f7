#include "emulator/libcuda/memory/allocation.h"

#include <map>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

#include "base/assert.h"
#include "base/early_return.h"
#include "emulator/libcuda.h"
#include "emulator/libcuda/stream/stream.h"

namespace barracuda::emulator::driver {
namespace {

struct Allocations {
  std::mutex mutex;
  std::map<std::uint64_t, AllocationEntry> by_address;
  std::map<std::uint64_t, MemoryAdvice> of_variables;
  std::uint64_t next_id = 1;

  void insert(AllocationEntry& entry) {
    const std::lock_guard lock(mutex);
    entry.id = next_id++;
    by_address[entry.address] = entry;
  }

  // The one that contains the address. The mutex is held.
  AllocationEntry* find(std::uint64_t address) {
    auto found = by_address.upper_bound(address);
    if (found == by_address.begin()) {
      return nullptr;
    }
    --found;
    AllocationEntry& entry = found->second;
    return address - entry.address < entry.bytes ? &entry : nullptr;
  }
};

Allocations& allocations() {
  static auto* const instance = new Allocations;
  return *instance;
}

bool is_mapped(std::uint64_t address) {
  static const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return msync(reinterpret_cast<void*>(address / page * page), 1, MS_ASYNC) == 0;
}

// Of the table, when nothing can use it any more; what it was has an address if it was there.
CUresult remove(std::uint64_t address, AllocationKind kind, AllocationEntry& entry) {
  Allocations& all = allocations();
  const std::lock_guard lock(all.mutex);
  const auto found = all.by_address.find(address);
  if (found == all.by_address.end() || found->second.kind != kind) {
    return kind == AllocationKind::kRegisteredHost ? CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED
                                                   : CUDA_ERROR_INVALID_VALUE;
  }
  RETURN_IF(found->second.owner == AllocationOwner::kMapping, CUDA_ERROR_INVALID_VALUE);
  if (found->second.owner == AllocationOwner::kProgram) {
    entry = found->second;
    all.by_address.erase(found);
  }
  return CUDA_SUCCESS;
}

}  // namespace

CUresult allocate(AllocationEntry& entry) {
  RETURN_IF_FAILED(require_context());
  RETURN_IF(entry.bytes == 0, CUDA_ERROR_INVALID_VALUE);
  const Expected<std::uint64_t> address = machine().memory().allocate(entry.bytes, entry.kind);
  RETURN_IF(!address, CUDA_ERROR_OUT_OF_MEMORY);
  entry.address = *address;
  entry.context = current_context();
  allocations().insert(entry);
  return CUDA_SUCCESS;
}

CUresult reuse(AllocationEntry& entry) {
  RETURN_IF_FAILED(require_context());
  machine().memory().restore(entry.address, entry.bytes);
  entry.context = current_context();
  allocations().insert(entry);
  return CUDA_SUCCESS;
}

void add_mapping(AllocationEntry& entry) {
  DEBUG_ASSERT(entry.address != 0 && entry.bytes != 0);
  entry.owner = AllocationOwner::kMapping;
  entry.context = current_context();
  machine().memory().register_host(entry.address, entry.bytes);
  allocations().insert(entry);
}

CUresult register_host(void* address, std::size_t bytes, unsigned flags) {
  RETURN_IF_FAILED(require_context());
  RETURN_IF(address == nullptr || bytes == 0, CUDA_ERROR_INVALID_VALUE);
  const auto start = reinterpret_cast<std::uint64_t>(address);
  RETURN_IF(find_allocation(start) || find_allocation(start + bytes - 1),
            CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  RETURN_IF(!is_mapped(start) || !is_mapped(start + bytes - 1), CUDA_ERROR_INVALID_VALUE);
  machine().memory().register_host(start, bytes);
  AllocationEntry entry{.context = current_context(),
                        .kind = AllocationKind::kRegisteredHost,
                        .address = start,
                        .bytes = bytes,
                        .flags = flags};
  allocations().insert(entry);
  return CUDA_SUCCESS;
}

CUresult release(std::uint64_t address, AllocationKind kind) {
  RETURN_IF_FAILED(require_context());
  finish_all_streams();
  AllocationEntry entry;
  const CUresult status = remove(address, kind, entry);
  if (entry.address != 0) {
    machine().memory().release(address);
  }
  return status;
}

CUresult withdraw(std::uint64_t address, AllocationEntry& entry) {
  if (const auto known = find_allocation(address); !known || known->pool == nullptr) {
    finish_all_streams();
  }
  const CUresult status = remove(address, AllocationKind::kDevice, entry);
  if (entry.address != 0 && entry.pool != nullptr) {
    machine().memory().withdraw(address);
  } else if (entry.address != 0) {
    machine().memory().release(address);
  }
  return status;
}

void give_back(const AllocationEntry& entry) {
  DEBUG_ASSERT(entry.id != 0);  // allocate() gave it one
  {
    Allocations& all = allocations();
    const std::lock_guard lock(all.mutex);
    const auto found = all.by_address.find(entry.address);
    if (found == all.by_address.end() || found->second.id != entry.id) {
      return;
    }
    all.by_address.erase(found);
  }
  machine().memory().release(entry.address);
}

bool advise(std::uint64_t address, const std::function<void(MemoryAdvice&)>& change) {
  const std::optional<Allocation> found = machine().memory().find(address);
  Allocations& all = allocations();
  const std::lock_guard lock(all.mutex);
  if (AllocationEntry* const entry = all.find(address); entry != nullptr) {
    change(entry->advice);
    return true;
  }
  const bool is_variable = found && found->kind == AllocationKind::kManaged;
  if (is_variable) {
    change(all.of_variables[found->address]);
  }
  return is_variable;
}

std::optional<AllocationEntry> find_allocation(std::uint64_t address) {
  Allocations& all = allocations();
  const std::lock_guard lock(all.mutex);
  const AllocationEntry* const entry = all.find(address);
  return entry == nullptr ? std::nullopt : std::optional(*entry);
}

std::optional<AllocationEntry> find_memory(std::uint64_t address) {
  if (std::optional<AllocationEntry> entry = find_allocation(address)) {
    return entry;
  }
  const std::optional<Allocation> found = machine().memory().find(address);
  if (!found) {
    return std::nullopt;
  }
  Allocations& all = allocations();
  const std::lock_guard lock(all.mutex);
  const auto advised = all.of_variables.find(found->address);
  return AllocationEntry{
      .context = current_context(),
      .kind = found->kind,
      .address = found->address,
      .bytes = found->bytes,
      .advice = advised == all.of_variables.end() ? MemoryAdvice{} : advised->second};
}

void forget_variable(std::uint64_t address) {
  Allocations& all = allocations();
  const std::lock_guard lock(all.mutex);
  all.of_variables.erase(address);
}

void release_allocations(const Context& context) {
  std::vector<std::uint64_t> dead;
  {
    Allocations& all = allocations();
    const std::lock_guard lock(all.mutex);
    std::erase_if(all.by_address, [&](const auto& item) {
      const bool is_dead = item.second.context == &context;
      if (is_dead) {
        dead.push_back(item.first);
      }
      return is_dead;
    });
  }
  for (const std::uint64_t address : dead) {
    machine().memory().release(address);
  }
}

bool is_accessible(std::uint64_t address, std::size_t bytes) {
  if (bytes == 0) {
    return true;
  }
  std::optional<Allocation> found = machine().memory().find(address);
  // The mappings of one reserved range lie close together, each an allocation of its own.
  while (found && bytes > found->bytes - (address - found->address)) {
    const std::uint64_t next = found->address + found->bytes;
    bytes -= next - address;
    address = next;
    const bool is_mapping = found->kind == AllocationKind::kRegisteredHost;
    found = machine().memory().find(address);
    if (!is_mapping || !found || found->kind != AllocationKind::kRegisteredHost) {
      return false;
    }
  }
  return found.has_value();
}

bool is_copyable(std::uint64_t address, std::size_t bytes) {
  if (bytes == 0 || is_accessible(address, bytes)) {
    return true;
  }
  if (machine().memory().find(address) || machine().memory().find(address + bytes - 1)) {
    return false;
  }
  return is_mapped(address) && is_mapped(address + bytes - 1);
}

}  // namespace barracuda::emulator::driver
