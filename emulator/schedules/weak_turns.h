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
  // The cluster of that number or, if all of its warps wait with a store that is held for somebody
  // to pass by, the next that has others.
  [[nodiscard]] std::size_t choose(const std::vector<std::unique_ptr<Cluster>>& resident,
                                   std::size_t number) const;

 private:
  void look_for_polling();

  const Context& context_;
  std::uint64_t clock_ = 0, charged_ = 0;  // when it was looked for polling last
  bool was_polling_ = false;
};

}  // namespace barracuda::emulator
