// The device's global memory. Device addresses of ordinary allocations are host addresses, so host
// and managed memory need no translation; every device access is checked against the allocations.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/expected.h"

namespace barracuda::emulator {

enum class AllocationKind : std::uint8_t { kDevice, kHost, kRegisteredHost, kManaged, kModule };

struct Allocation {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  AllocationKind kind = AllocationKind::kDevice;
};

class Memory {
 public:
  Memory();
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  // 256-byte aligned; the bytes are unspecified (kDevice) or zero. Error: out of memory.
  Expected<std::uint64_t> allocate(std::uint64_t bytes, AllocationKind kind);
  // Makes [address, address + bytes) of the process accessible to kernels (host registration).
  void register_host(std::uint64_t address, std::uint64_t bytes);
  // False if `address` is not the start of an allocation.
  bool release(std::uint64_t address);
  // Takes an allocation from kernels, and keeps its bytes for restore() or discard().
  bool withdraw(std::uint64_t address);
  // Withdrawn bytes are an allocation again, of a size with the same rounded_bytes().
  void restore(std::uint64_t address, std::uint64_t bytes);
  void discard(std::uint64_t address);
  // How much memory an allocation of `bytes` takes.
  static std::uint64_t rounded_bytes(std::uint64_t bytes);

  // The allocation that contains `address`, if any.
  [[nodiscard]] std::optional<Allocation> find(std::uint64_t address) const;
  // Counts releases: an answer of find() holds until this changes.
  [[nodiscard]] const std::atomic<std::uint64_t>& releases() const;
  [[nodiscard]] std::uint64_t total_bytes() const;  // what the device claims to have
  [[nodiscard]] std::uint64_t used_bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace barracuda::emulator
