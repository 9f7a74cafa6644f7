// Reports to Weakness::report what a launch does to weak memory.
#pragma once

#include <bit>
#include <cstdint>

#include "emulator/state/store_buffer.h"
#include "emulator/state/weak_thread.h"

namespace barracuda::emulator {

struct Launch;

// Where a thread accesses memory.
struct WeakAccess {
  std::uint64_t address = 0;  // on the host
  std::uint32_t bytes = 0;
  WeakSpace space = WeakSpace::kGlobal;
  bool is_own_shared = false;
  std::uint64_t logged_address = 0;  // in shared memory the offset in its block's
};

class WeakRecorder {
 public:
  // Both must outlive it.
  WeakRecorder(const Weakness& weakness, const Launch& launch)
      : weakness_(weakness), launch_(launch) {}

  // Whether what is executed is reported.
  [[nodiscard]] bool counts() const { return weakness_.report != nullptr; }

  void count_instruction(std::uint32_t lanes) {
    log_.counts.instructions += static_cast<std::uint64_t>(std::popcount(lanes));
  }

  void count_store(WeakSpace space) { ++log_.counts.stores[static_cast<std::size_t>(space)]; }

  void count_fences(const CodePlace& at, std::uint32_t lanes) {
    log_.counts.add_fences(at, static_cast<std::uint64_t>(std::popcount(lanes)));
  }

  void add_drain(const WeakThread& thread, const PendingStores& pending);
  void add_load(WeakKind kind, const ThreadName& name, std::uint64_t number, const WeakSite& site,
                const WeakAccess& access);
  // Of a delayed store, after that many turns.
  void add_end(const PendingStore& store, WeakEnd end, std::uint64_t turns);
  void report();

 private:
  [[nodiscard]] Decision decision_of(WeakKind kind, const ThreadName& name,
                                     std::uint64_t number) const;
  [[nodiscard]] WeakReader reader_of(const ThreadName& name, const WeakSite& site) const;

  const Weakness& weakness_;
  const Launch& launch_;
  WeakLog log_;
};

}  // namespace barracuda::emulator
