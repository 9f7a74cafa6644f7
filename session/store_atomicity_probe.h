// Which way of committing records a device can be trusted with: 16-byte halves that validate
// themselves rest on 16-byte stores that land whole, which PTX does not promise.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <thread>

#include "base/options.h"
#include "device_logger/launch_descriptor.h"
#include "session/device_driver.h"

namespace barracuda::session {

// Reads 16-byte cells over and over, each as the queues' reader does, in a thread of its own. The
// cells outlive it.
class TornValueWatch {
 public:
  explicit TornValueWatch(std::span<const std::byte> cells);
  ~TornValueWatch();
  TornValueWatch(const TornValueWatch&) = delete;
  TornValueWatch& operator=(const TornValueWatch&) = delete;

  // The stores are over. Whether a cell was ever seen whose four words were not all the same.
  bool stop();

  // How often all cells have been read.
  [[nodiscard]] std::uint64_t sweeps() const { return sweeps_.load(std::memory_order_acquire); }

 private:
  void look();

  const std::span<const std::byte> cells_;
  std::atomic<bool> is_stopping_ = false;
  std::atomic<std::uint64_t> sweeps_ = 0;
  bool saw_torn_ = false;
  std::thread thread_;
};

// As the option `commit` says; `auto` runs the test, for which the context must be current. Takes
// some milliseconds.
wire::CommitMode choose_commit_mode(DeviceDriver& driver, const Options& options);

}  // namespace barracuda::session
