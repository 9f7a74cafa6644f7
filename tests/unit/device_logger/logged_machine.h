// An emulated device with instrumented kernels, the memory that the logger needs, and a reader of
// its queues: what a launch logged, record by record.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device_logger/launch_descriptor.h"
#include "device_logger/record.h"
#include "emulator/machine.h"
#include "ptx/instrument.h"

namespace barracuda::wire {

struct LoggedLane {
  std::uint64_t address = 0;  // tagged
  std::uint16_t flags = 0;
  std::uint32_t number = 0;
  std::uint64_t read = 0, written = 0;  // of kOperands: second and third; the amount is `number`
};

struct LoggedRecord {
  HeaderHalf header;
  PatternHalf pattern;
  std::uint64_t slot = 0;
  std::uint32_t queue = 0;
  std::map<int, LoggedLane> lanes;  // of the active lanes; of kAffine the addresses alone
  std::optional<std::uint64_t> uniform_value;

  [[nodiscard]] RecordKind kind() const { return static_cast<RecordKind>(header.kind); }
};

struct LogOptions {
  std::uint32_t queues = 1;
  std::uint32_t slots_log2 = 14;
  CommitMode mode = CommitMode::kSelfValidating;
  bool with_descriptor = true;
  bool steady_claims = false;
  // Even and odd lanes call every hook for sites of their own, at once, as lanes that come from
  // different places do where the hardware runs them as one.
  bool two_sites_a_call = false;
  bool tells_shared_places = false;  // the launches
  bool is_tritons = false;           // the module is taken for one of Triton's compiler
  BlockOrder block_order = {};       // not the device's: the kernels are rewritten for it
};

class LoggedMachine {
 public:
  explicit LoggedMachine(const std::string& ptx_path, const LogOptions& options = {});

  // Zeroed device memory.
  std::uint64_t allocate(std::size_t bytes);

  template <typename T>
  static T* at(std::uint64_t address) {
    return reinterpret_cast<T*>(address);  // NOLINT(performance-no-int-to-ptr)
  }

  // Fails the test case if the kernel does not end well. `parameters` are 8 bytes each or, as sized
  // by the kernel, fewer.
  void launch(const std::string& kernel, std::uint32_t ctas, std::uint32_t threads,
              const std::vector<std::uint64_t>& parameters, std::uint32_t cluster = 1);

  // The words of shared memory have states in the next launch of this kernel.
  void keep_states(const std::string& kernel, std::uint32_t ctas);

  // Memory of 16 bytes is watched in the next launch of this kernel.
  void watch(const std::string& kernel, std::uint32_t ctas, std::uint64_t address,
             std::uint64_t bytes);

  // Records that became complete since the last call; stops at the first incomplete one of a queue.
  std::vector<LoggedRecord> read();
  // Of the records whose instruction starts with `instruction`.
  std::vector<LoggedRecord> read(const std::string& instruction);
  [[nodiscard]] const ptx::Site& site_of(const LoggedRecord& record) const;

  [[nodiscard]] const ptx::SiteTable& sites() const { return instrumented_.sites; }

  [[nodiscard]] std::uint64_t claimed(std::uint32_t queue) const;

  // Of the launches to come, and what they made of it.
  [[nodiscard]] UnloggedMemory& unlogged() { return descriptor_->unlogged; }

  [[nodiscard]] OwnedSites& owned_sites() { return descriptor_->owned_sites; }

  // Accesses of this site are logged no more.
  void make_quiet(SiteId site);

  // Tells the device how far queue 0 has been read.
  void set_read_position(std::uint64_t slot);

  [[nodiscard]] std::uint64_t warp_instructions() const { return machine_.warp_instructions(); }

 private:
  template <typename Half>
  [[nodiscard]] bool load(std::uint32_t queue, std::uint64_t slot, std::uint32_t half,
                          Half& into) const;
  [[nodiscard]] SharedStates block_states(const ptx::Kernel& kernel, std::uint32_t ctas);
  bool read_one(std::uint32_t queue, LoggedRecord& record);
  bool read_entries(LoggedRecord& record) const;

  LogOptions options_;
  std::uint32_t own_shared_ = 0;  // dynamic, that blocks keep states in
  emulator::Machine machine_;
  ptx::InstrumentedModule instrumented_;
  std::shared_ptr<emulator::LoadedModule> module_;
  LaunchDescriptor* descriptor_ = nullptr;
  std::vector<std::uint64_t> positions_;
};

}  // namespace barracuda::wire
