// Runs the grid of one launch, in pieces if need be: to its end, or to where its threads only poll
// memory that the host or another kernel has to write. One host thread at a time calls it.
#pragma once

#include <cstdint>
#include <memory>

#include "emulator/machine.h"
#include "emulator/state/cluster.h"
#include "emulator/state/launch.h"

namespace barracuda::emulator {

class Schedule {
 public:
  Schedule() = default;
  virtual ~Schedule() = default;
  Schedule(const Schedule&) = delete;
  Schedule& operator=(const Schedule&) = delete;

  virtual RunResult run(const RunLimit& limit) = 0;
  // After kPolling: what some thread polls has changed.
  [[nodiscard]] virtual bool is_outdated() const = 0;
  // A cluster that has not ended; null if there is none.
  [[nodiscard]] virtual const Cluster* stands() const = 0;
};

std::unique_ptr<Schedule> make_seeded_schedule(Launch& launch, std::uint64_t seed);
std::unique_ptr<Schedule> make_workers_schedule(Launch& launch, std::uint32_t workers);

}  // namespace barracuda::emulator
