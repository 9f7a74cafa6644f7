// Litmus tests on a device, a GPU or the emulated one: what really comes out of them, and how
// often.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/expected.h"
#include "device_logger/stress_shape.h"
#include "weak_memory/litmus.h"

namespace barracuda::weak_memory {

struct LitmusRunOptions {
  std::uint32_t iterations = 1000;  // of a launch
  std::uint32_t launches = 100;
  std::uint32_t distance = 64;  // of two locations, in words
  std::uint64_t seed = 1;       // of where the test's blocks run, of waits, stress and delays
  stress::StressShape stress;   // of a GPU
  bool weak = true;             // emulated device: stores are delayed, loads stale and late
};

// By what is shown of an end (memory_model/comparison.h).
using Histogram = std::map<memory_model::Shown, std::uint64_t>;

struct LitmusJob;  // one launch: stress/device.h

// A device that can run them. One at a time.
class LitmusDevice {
 public:
  static Expected<std::unique_ptr<LitmusDevice>> gpu();
  static std::unique_ptr<LitmusDevice> emulated();
  LitmusDevice() = default;
  LitmusDevice(const LitmusDevice&) = delete;
  LitmusDevice& operator=(const LitmusDevice&) = delete;
  virtual ~LitmusDevice() = default;

  // "NVIDIA H100 80GB HBM3", "emulated device".
  [[nodiscard]] virtual std::string name() const = 0;
  // Of the driver; empty where there is none.
  [[nodiscard]] virtual std::string driver_version() const = 0;

  // The test is runnable (stress/litmus_kernel.h). What `is_over` ends is a part of it. Errors: the
  // device's.
  Expected<Histogram> run(const memory_model::LitmusTest& test, const LitmusRunOptions& options,
                          const std::function<bool()>& is_over);

 private:
  virtual Expected<void> load(const std::string& ptx) = 0;
  [[nodiscard]] virtual std::uint32_t blocks() const = 0;  // that can run at once, at least
  // Makes the launch; memory and registers of the job are what they are at its end.
  virtual Expected<void> launch(LitmusJob& job) = 0;
};

// What the test has that keeps it from being run: "has a barrier". Empty: nothing.
std::string why_not_run(const memory_model::LitmusTest& test);

}  // namespace barracuda::weak_memory
