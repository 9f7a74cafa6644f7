// Programs whose stores are delayed by the code that a GPU would run, on the emulated device: their
// PTX is rewritten and executes the functions of store_buffer.cu in memory as an arena on a GPU is.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "device_logger/launch_descriptor.h"
#include "device_logger/stressed_launch.h"
#include "emulator/machine.h"
#include "ptx/instrument.h"
#include "ptx/parse.h"

namespace barracuda::wire::test {

struct DelaySettings {
  double probability = 1;
  std::uint32_t capacity = 32;
  std::uint32_t spaces = kDelaysGlobal | kDelaysShared;
  std::uint64_t seed = 1;                     // of the schedule too
  std::uint32_t blocks = 64, threads = 1024;  // that the arena is for
  ptx::InstrumentOptions rewriting{.delays_stores = true};
};

inline ptx::InstrumentedModule rewritten(std::string text, const ptx::InstrumentOptions& options) {
  std::vector<ptx::Module> units;
  auto unit = ptx::parse(std::move(text));
  INFO((unit ? "" : unit.error().to_string()));
  REQUIRE(unit);
  units.push_back(std::move(*unit));
  auto made = ptx::instrument(std::move(units), options);
  INFO((made ? "" : made.error().to_string()));
  REQUIRE(made);
  return std::move(*made);
}

class DelayingDevice {
 public:
  DelayingDevice(const std::string& text, const DelaySettings& settings)
      : machine_({.seed = settings.seed, .launch_timeout_ms = 60000}),
        rewritten_(rewritten(text, settings.rewriting)) {
    auto loaded = machine_.load(rewritten_.text);
    INFO((loaded ? "" : loaded.error().to_string()));
    REQUIRE(loaded);
    module_ = *loaded;
    descriptor_ = new (at<void>(allocate(sizeof(LaunchDescriptor)))) LaunchDescriptor;
    if (settings.rewriting.is_stressed) {
      stressed_ = new (at<void>(allocate(sizeof(StressedLaunch)))) StressedLaunch;
      descriptor_->stressed = reinterpret_cast<std::uint64_t>(stressed_);
    }
    if (!settings.rewriting.delays_stores) {
      return;
    }
    StoreDelays& delays = descriptor_->store_delays;
    delays.arena =
        allocate(store_buffer_bytes(settings.capacity) * settings.blocks * settings.threads);
    delays.seed = settings.seed;
    delays.threshold = static_cast<std::uint64_t>(settings.probability * 4294967296.0);
    delays.blocks = settings.blocks;
    delays.capacity = settings.capacity;
    delays.spaces = settings.spaces;
  }

  template <class T>
  static T* at(std::uint64_t address) {
    return reinterpret_cast<T*>(address);  // NOLINT(performance-no-int-to-ptr)
  }

  // Zeroed.
  std::uint64_t allocate(std::size_t bytes) {
    const auto address = machine_.memory().allocate(bytes, emulator::AllocationKind::kHost);
    REQUIRE(address);
    std::memset(at<void>(*address), 0, bytes);
    return *address;
  }

  [[nodiscard]] StoreDelays& delays() { return descriptor_->store_delays; }

  // Of later launches; only where code is rewritten for it.
  [[nodiscard]] StressedLaunch& stressed() { return *stressed_; }

  [[nodiscard]] const ptx::Kernel& facts(const std::string& kernel) const {
    const auto found = std::ranges::find(rewritten_.kernels, kernel, &ptx::Kernel::name);
    REQUIRE(found != rewritten_.kernels.end());
    return *found;
  }

  emulator::DeviceError try_launch(const std::string& kernel, std::uint32_t blocks,
                                   std::uint32_t threads,
                                   const std::vector<std::uint64_t>& parameters,
                                   std::uint32_t cluster = 1) {
    emulator::LaunchConfig config;
    config.grid = {blocks, 1, 1};
    config.block = {threads, 1, 1};
    config.cluster = {cluster, 1, 1};
    return try_launch(kernel, config, parameters);
  }

  emulator::DeviceError try_launch(const std::string& kernel, const emulator::LaunchConfig& config,
                                   const std::vector<std::uint64_t>& parameters) {
    const ptx::Kernel& made = facts(kernel);
    REQUIRE(made.instrumented);
    std::vector<std::byte> buffer(made.hidden_parameter_offset + 8);
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      std::memcpy(buffer.data() + made.parameters[i].offset, &parameters[i],
                  made.parameters[i].size);
    }
    ++descriptor_->store_delays.launch;
    std::memcpy(buffer.data() + made.hidden_parameter_offset, &descriptor_, 8);
    const auto* const found = emulator::Machine::find_kernel(*module_, kernel);
    REQUIRE(found != nullptr);
    return machine_.launch(*found, config, buffer);
  }

  void launch(const std::string& kernel, std::uint32_t blocks, std::uint32_t threads,
              const std::vector<std::uint64_t>& parameters, std::uint32_t cluster = 1) {
    const auto error = try_launch(kernel, blocks, threads, parameters, cluster);
    INFO(error.message);
    REQUIRE(error.code == emulator::DeviceErrorCode::kNone);
  }

 private:
  emulator::Machine machine_;
  ptx::InstrumentedModule rewritten_;
  std::shared_ptr<emulator::LoadedModule> module_;
  LaunchDescriptor* descriptor_ = nullptr;
  StressedLaunch* stressed_ = nullptr;
};

}  // namespace barracuda::wire::test
