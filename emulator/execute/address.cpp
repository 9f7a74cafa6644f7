#include "emulator/execute/address.h"

#include <string_view>

#include <fmt/format.h>

#include "emulator/execute/form.h"
#include "emulator/execute/range.h"
#include "emulator/state/cluster.h"
#include "emulator/state/host_address.h"
#include "emulator/state/launch.h"

namespace barracuda::emulator {

namespace {

// In the shared memory of a CTA of the cluster that has not ended.
std::byte* cluster_pointer(const Context& c, std::uint64_t offset, std::uint32_t bytes) {
  const auto& ctas = c.cta->cluster->ctas;
  const std::uint64_t rank = offset / kClusterShare - 1, place = offset % kClusterShare;
  if (rank >= ctas.size() || ctas[rank]->live_warps == 0) {
    return nullptr;
  }
  const std::uint64_t size = ctas[rank]->shared_bytes;
  const bool inside = place <= size && bytes <= size - place;
  return inside ? ctas[rank]->shared.get() + place : nullptr;
}

// Beyond the program's shared memory: what %reserved_smem_offset names.
// Compilers widen reads to vectors that may end behind it, for devices hand it out in larger
// pieces; an aligned vector stays within the 16 bytes to which it is rounded up here.
std::byte* shared_pointer(const Context& c, std::uint64_t offset, std::uint32_t bytes,
                          bool is_write) {
  if (offset >= kClusterShare) {
    return cluster_pointer(c, offset, bytes);
  }
  const std::uint64_t reserved = reserved_shared_offset(c.shared_bytes);
  constexpr std::uint32_t kWidestVector = 16;
  const bool is_widened = !is_write && bytes <= kWidestVector && offset < c.shared_bytes;
  const bool inside = is_widened || (offset <= c.shared_bytes && bytes <= c.shared_bytes - offset);
  const bool in_reserved = offset >= reserved && offset - reserved <= kReservedSharedBytes - bytes;
  return inside || in_reserved ? c.shared + offset : nullptr;
}

std::byte* local_pointer(const Context& c, std::uint64_t offset, std::uint32_t bytes, int lane) {
  const bool inside = offset < c.local_bytes && bytes <= c.local_bytes - offset;
  return inside ? c.local + LocalMemory::offset(static_cast<std::uint32_t>(offset), lane) : nullptr;
}

std::byte* global_pointer(Context& c, const Instruction* instruction, std::uint64_t address,
                          const Access& access) {
  const auto found = c.launch->memory.find(address);
  if (found && access.bytes <= found->address + found->bytes - address) {
    if (instruction != nullptr) {
      c.range_of(*instruction) = {.begin = found->address, .end = found->address + found->bytes};
    }
    return host_address<std::byte>(address);
  }
  const auto parameters = reinterpret_cast<std::uint64_t>(c.launch->parameters);
  const std::uint64_t size = c.launch->program.parameter_bytes;
  if (!access.is_write && access.bytes <= size && address - parameters <= size - access.bytes) {
    return host_address<std::byte>(address);
  }
  return nullptr;
}

std::byte* pointer(Context& c, const Instruction& instruction, std::uint64_t address,
                   const Access& access, int lane, bool& is_local) {
  const auto place = static_cast<Place>(instruction.flags);
  if (place == Place::kShared) {
    return shared_pointer(c, address, access.bytes, access.is_write);
  }
  is_local = place == Place::kLocal || (place == Place::kGeneric && c.windows.is_local(address));
  if (is_local) {
    const std::uint64_t offset = place == Place::kLocal ? address : address - c.windows.local();
    return local_pointer(c, offset, access.bytes, lane);
  }
  if (place == Place::kGeneric && c.windows.is_shared(address)) {
    return shared_pointer(c, address - c.windows.shared(), access.bytes, access.is_write);
  }
  return global_pointer(c, &instruction, address, access);
}

std::string_view name_of(Place place) {
  switch (place) {
    case Place::kShared:
      return "shared";
    case Place::kLocal:
    case Place::kFrame:
      return "local";
    case Place::kGlobal:
      return "global";
    case Place::kGeneric:
      return "generic";
    case Place::kParameter:
      return "parameter";
  }
  return "";
}

// " (8 bytes after the end of the 400-byte allocation at 0x…)"
std::string neighbourhood(const Context& c, const Instruction& instruction, std::uint64_t address) {
  const auto place = static_cast<Place>(instruction.flags);
  if (place == Place::kShared || (place == Place::kGeneric && c.windows.is_shared(address))) {
    const std::uint64_t offset = address - (place == Place::kGeneric ? c.windows.shared() : 0);
    const auto& ctas = c.cta->cluster->ctas;
    const std::uint64_t rank = offset / kClusterShare - 1;
    if (rank < ctas.size() && ctas[rank]->live_warps == 0) {
      return fmt::format(" (the block of rank {} of the cluster has ended)", rank);
    }
    return fmt::format(" (the block has {} bytes of shared memory)", c.shared_bytes);
  }
  for (const std::uint64_t distance : {1U, 8U, 64U, 256U, 1024U, 4096U}) {
    const auto found = c.launch->memory.find(address - distance);
    if (found) {
      const std::uint64_t end = found->address + found->bytes;
      return address < end
                 ? fmt::format(" (it leaves the {}-byte allocation at {:#x})", found->bytes,
                               found->address)
                 : fmt::format(" ({} bytes after the end of the {}-byte allocation at {:#x})",
                               address - end, found->bytes, found->address);
    }
  }
  return {};
}

void report(Context& c, const Instruction& instruction, std::uint64_t address, const Access& access,
            int lane, bool misaligned) {
  Fault fault;
  fault.code = misaligned ? DeviceErrorCode::kMisalignedAddress : DeviceErrorCode::kIllegalAddress;
  fault.lane = lane;
  fault.address = address;
  fault.bytes = access.bytes;
  fault.is_write = access.is_write;
  fault.what = fmt::format(
      "{} {} {} of {} bytes at {:#x}{}", misaligned ? "a misaligned" : "an out-of-bounds",
      name_of(static_cast<Place>(instruction.flags)), access.is_write ? "write" : "read",
      access.bytes, address, misaligned ? std::string() : neighbourhood(c, instruction, address));
  fail(c, instruction, fault);
}

}  // namespace

bool resolve_lanes(Context& c, const Instruction& instruction, std::uint32_t mask,
                   const Access& access, std::uint64_t* addresses, std::uint32_t& local_lanes) {
  const std::uint64_t releases = c.releases->load(std::memory_order_relaxed);
  if (releases != c.seen_releases) {
    c.ranges.fill(CachedRange{});
    c.seen_releases = releases;
  }
  local_lanes = 0;
  for (const int lane : SetBits<int>(mask)) {
    const std::uint64_t address = addresses[lane];
    bool is_local = false;
    const CachedRange& range = c.range_of(instruction);
    const auto place = static_cast<Place>(instruction.flags);
    const bool cached = place != Place::kShared && place != Place::kLocal &&
                        address >= range.begin && address <= range.end - access.bytes;
    std::byte* host = nullptr;
    if (address % access.bytes == 0) {
      host = cached ? host_address<std::byte>(address)
                    : pointer(c, instruction, address, access, lane, is_local);
    }
    if (host == nullptr) {
      report(c, instruction, address, access, lane, address % access.bytes != 0);
      return false;
    }
    addresses[lane] = reinterpret_cast<std::uint64_t>(host);
    local_lanes |= is_local ? std::uint32_t{1} << lane : 0U;
  }
  return true;
}

std::byte* resolve_range(Context& c, const Instruction& instruction, std::uint64_t address,
                         const RangeAccess& range, int lane) {
  const Access access{.bytes = range.bytes, .is_write = range.is_write};
  bool is_local = false;
  const bool aligned = address % range.alignment == 0;
  std::byte* host = aligned ? pointer(c, instruction, address, access, lane, is_local) : nullptr;
  if (host == nullptr || is_local) {
    report(c, instruction, address, access, lane, !aligned);
    return nullptr;
  }
  return host;
}

const std::byte* host_pointer(Context& c, std::uint64_t address, std::uint32_t bytes, int lane) {
  if (c.windows.is_local(address)) {
    return local_pointer(c, address - c.windows.local(), bytes, lane);
  }
  if (c.windows.is_shared(address)) {
    return shared_pointer(c, address - c.windows.shared(), bytes, true);
  }
  return global_pointer(c, nullptr, address, Access{.bytes = bytes});
}

}  // namespace barracuda::emulator
