#include <array>
#include <utility>

#include "base/driver_calls.h"
#include "weak_memory/stress/device.h"

namespace barracuda::weak_memory {
namespace {

using driver::Driver, driver::Handle, driver::in_turn;

constexpr int kMultiprocessorCount = 16;  // CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT

// Words of the device, kept from launch to launch and made anew where they are too few.
class Words {
 public:
  Expected<void> need(const Driver& driver, std::size_t count) {
    if (count <= count_) {
      return {};
    }
    if (count_ != 0) {
      (void)driver.call("cuMemFree_v2", address_);
    }
    count_ = 0;
    if (auto made = driver.call("cuMemAlloc_v2", &address_, sizeof(std::uint32_t) * count); !made) {
      return made;
    }
    count_ = count;
    return {};
  }

  Expected<void> clear(const Driver& driver, std::size_t count) const {
    return driver.call("cuMemsetD32_v2", address_, 0U, count);
  }

  Expected<void> fill(const Driver& driver, const std::vector<std::uint32_t>& values) const {
    const void* const from = values.data();
    return driver.call("cuMemcpyHtoD_v2", address_, from, sizeof(std::uint32_t) * values.size());
  }

  Expected<void> read(const Driver& driver, std::vector<std::uint32_t>& into,
                      std::size_t count) const {
    into.resize(count);
    void* const to = into.data();
    return count == 0 ? Expected<void>()
                      : driver.call("cuMemcpyDtoH_v2", to, address_, sizeof(std::uint32_t) * count);
  }

  [[nodiscard]] std::uint64_t address() const { return address_; }

 private:
  std::uint64_t address_ = 0;
  std::size_t count_ = 0;
};

class GpuLitmusDevice : public LitmusDevice {
 public:
  explicit GpuLitmusDevice(Driver driver) : driver_(driver) {}

  Expected<void> describe() {
    constexpr int kNameBytes = 256;
    std::array<char, kNameBytes> name{};
    int multiprocessors = 0;
    int version = 0;
    const int device = 0;
    auto described =
        in_turn([&] { return driver_.call("cuInit", 0U); },
                [&] { return driver_.call("cuDeviceGetName", name.data(), kNameBytes, device); },
                [&] {
                  return driver_.call("cuDeviceGetAttribute", &multiprocessors,
                                      kMultiprocessorCount, device);
                },
                [&] { return driver_.call("cuDriverGetVersion", &version); });
    name_ = name.data();
    multiprocessors_ = static_cast<std::uint32_t>(multiprocessors);
    version_ = std::to_string(version);
    return described;
  }

  [[nodiscard]] std::string name() const override { return name_; }

  [[nodiscard]] std::string driver_version() const override { return version_; }

 private:
  Expected<void> load(const std::string& ptx) override {
    TRY(function_, driver::load_kernel(driver_, ptx, "barracuda_litmus"));
    has_initial_ = false;
    return {};
  }

  // One on each multiprocessor: then the CTAs of a test run on any two of them.
  [[nodiscard]] std::uint32_t blocks() const override { return multiprocessors_; }

  Expected<void> launch(LitmusJob& job) override {
    stress::LitmusLaunch launch = job.launch;
    const std::size_t registers = std::size_t{launch.iterations} * launch.register_count;
    auto ready = in_turn(
        [&] { return initial_.need(driver_, job.initial.size()); },
        [&] { return memory_.need(driver_, job.initial.size()); },
        [&] { return registers_.need(driver_, std::max<std::size_t>(registers, 1)); },
        [&] { return meetings_.need(driver_, launch.iterations); },
        [&] { return done_.need(driver_, 1); },
        [&] { return roles_.need(driver_, job.roles.size()); },
        [&] { return scratch_.need(driver_, launch.stress.words); }, [&] { return fill_once(job); },
        [&] {
          return driver_.call("cuMemcpyDtoD_v2", memory_.address(), initial_.address(),
                              sizeof(std::uint32_t) * job.initial.size());
        },
        [&] { return meetings_.clear(driver_, launch.iterations); },
        [&] { return done_.clear(driver_, 1); }, [&] { return roles_.fill(driver_, job.roles); });
    if (!ready) {
      return ready;
    }
    launch.memory = memory_.address();
    launch.registers = registers_.address();
    launch.meetings = meetings_.address();
    launch.done = done_.address();
    launch.roles = roles_.address();
    launch.scratch = scratch_.address();
    std::array<void*, 1> parameters = {&launch};
    const Handle stream = nullptr;
    void** const extra = nullptr;
    return in_turn(
        [&] {
          return driver_.call("cuLaunchKernel", function_, job.blocks, 1U, 1U, job.threads, 1U, 1U,
                              0U, stream, parameters.data(), extra);
        },
        [&] { return driver_.call("cuCtxSynchronize"); },
        [&] { return registers_.read(driver_, job.registers, registers); },
        [&] {
          return job.wants_memory ? memory_.read(driver_, job.memory, job.initial.size())
                                  : Expected<void>();
        });
  }

  Expected<void> fill_once(const LitmusJob& job) {
    return std::exchange(has_initial_, true) ? Expected<void>()
                                             : initial_.fill(driver_, job.initial);
  }

  Driver driver_;
  std::string name_, version_;
  std::uint32_t multiprocessors_ = 1;
  Handle function_ = nullptr;
  bool has_initial_ = false;  // of the module that is loaded
  Words initial_, memory_, registers_, meetings_, done_, roles_, scratch_;
};

}  // namespace

Expected<std::unique_ptr<LitmusDevice>> gpu_litmus_device() {
  TRY(const Driver driver, Driver::open());
  auto device = std::make_unique<GpuLitmusDevice>(driver);
  if (auto described = device->describe(); !described) {
    return unexpected(std::move(described).error());
  }
  return device;
}

}  // namespace barracuda::weak_memory
