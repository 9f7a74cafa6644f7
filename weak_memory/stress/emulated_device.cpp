#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <span>

#include "emulator/machine.h"
#include "weak_memory/stress/device.h"

namespace barracuda::weak_memory {
namespace {

// Words of the device; they go with the machine.
class Words {
 public:
  static Expected<Words> of(emulator::Machine& machine, std::size_t count) {
    Words words;
    words.bytes_ = sizeof(std::uint32_t) * count;
    TRY(words.address_, machine.memory().allocate(std::max<std::size_t>(words.bytes_, 1),
                                                  emulator::AllocationKind::kDevice));
    std::memset(words.data(), 0, words.bytes_);
    return words;
  }

  void fill(std::span<const std::uint32_t> values) const {
    std::memcpy(data(), values.data(), std::min(values.size_bytes(), bytes_));
  }

  void read(std::vector<std::uint32_t>& into) const {
    into.resize(bytes_ / sizeof(std::uint32_t));
    std::memcpy(into.data(), data(), bytes_);
  }

  [[nodiscard]] std::uint64_t address() const { return address_; }

 private:
  [[nodiscard]] void* data() const {
    return reinterpret_cast<void*>(address_);  // the device's memory is this process's
  }

  std::uint64_t address_ = 0;
  std::size_t bytes_ = 0;
};

// Each launch is a machine of its own: what it does is a function of the launch's seed.
class EmulatedLitmusDevice : public LitmusDevice {
 public:
  [[nodiscard]] std::string name() const override { return "emulated device"; }

  [[nodiscard]] std::string driver_version() const override { return ""; }

 private:
  Expected<void> load(const std::string& ptx) override {
    ptx_ = ptx;
    return {};
  }

  // There is nothing to disturb.
  [[nodiscard]] std::uint32_t blocks() const override { return 1; }

  Expected<void> launch(LitmusJob& job) override {
    emulator::Machine machine(
        {.seed = job.seed,
         .print = {},
         .native_functions = {},
         .weakness = job.weak ? std::optional(weakness_of(job.seed)) : std::nullopt});
    TRY(const auto module, machine.load(ptx_));
    stress::LitmusLaunch launch = job.launch;
    TRY(const Words memory, Words::of(machine, job.initial.size()));
    TRY(const Words registers,
        Words::of(machine, std::size_t{launch.iterations} * launch.register_count));
    TRY(const Words meetings, Words::of(machine, launch.iterations));
    TRY(const Words done, Words::of(machine, 1));
    TRY(const Words roles, Words::of(machine, job.roles.size()));
    memory.fill(job.initial);
    roles.fill(job.roles);
    launch.memory = memory.address();
    launch.registers = registers.address();
    launch.meetings = meetings.address();
    launch.done = done.address();
    launch.roles = roles.address();
    const emulator::DeviceError error =
        machine.launch(*emulator::Machine::find_kernel(*module, "barracuda_litmus"),
                       {.grid = {.x = job.blocks}, .block = {.x = job.threads}, .cluster = {}},
                       std::as_bytes(std::span(&launch, 1)));
    if (error.code != emulator::DeviceErrorCode::kNone) {
      return unexpected({.message = error.message});
    }
    memory.read(job.memory);
    registers.read(job.registers);
    return {};
  }

  static emulator::Weakness weakness_of(std::uint64_t seed) {
    constexpr std::array kProbabilities = {1.0, 0.75, 0.5, 0.25};
    constexpr double kStaleShare = 0.5;
    emulator::Weakness weakness;
    weakness.delay_stores = kProbabilities[seed % kProbabilities.size()];
    weakness.stale_reads = kStaleShare;
    weakness.late_loads = kStaleShare;
    weakness.seed = seed;
    return weakness;
  }

  std::string ptx_;
};

}  // namespace

std::unique_ptr<LitmusDevice> emulated_litmus_device() {
  return std::make_unique<EmulatedLitmusDevice>();
}

}  // namespace barracuda::weak_memory
