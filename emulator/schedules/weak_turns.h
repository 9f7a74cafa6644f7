// What a turn of the schedule does to delayed stores: those that have waited long become visible,
// and all of them when nothing but polling happens, for a store must become visible in bounded
// time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "emulator/schedules/grid.h"

namespace barracuda::emulator {

class WeakTurns {
 public:
  explicit WeakTurns(Worker& worker) : context_(worker.context) {}

  void begin_turn();
  // The cluster of that number or, if all of its warps wait with a store that is held until another
  // thread has passed, the next cluster that has other warps.
  [[nodiscard]] std::size_t choose(const std::vector<std::unique_ptr<Cluster>>& resident,
                                   std::size_t number) const;

 private:
  // What had been executed when it was looked for polling last.
  struct Look {
    std::uint64_t clock = 0, charged = 0;

    // Whether more than half of what was executed since were polls; looks anew.
    bool polls_since(const Context& context);
  };

  void look_for_polling();

  const Context& context_;
  Look progress_, steering_;
  bool was_polling_ = false;
};

}  // namespace barracuda::emulator
