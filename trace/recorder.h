// Writes the trace of one process while it runs (the option record). Thread-safe. If the trace
// cannot be written, that is printed once when it happens, and returned by finish(); the run goes
// on without it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/options.h"
#include "host_detector/observer.h"
#include "ptx/site_table.h"
#include "report/host_stack.h"
#include "report/run_data.h"
#include "trace/writer.h"

namespace barracuda::trace {

class Recorder final : public detector::Observer {
 public:
  // Null if the options do not ask for one.
  static std::unique_ptr<Recorder> create(const Options& options);

  void device_named(const std::string& name);
  // Before the pipeline learns of them.
  void sites_described(const ptx::SiteTable& sites);
  // Before the pipeline learns of it; in the order of the launches' numbers.
  void launch_described(const report::LaunchRecord& launch);

  // Before the pipeline learns of it; in the order of the calls' numbers.
  void copy_described(const report::CopyRecord& copy);

  // The end of the process, with what its report is made of. Call it once. Errors: the trace is
  // missing or has a hole.
  Expected<void> finish(const report::RunData& run);

  // In a forked child: the trace is the parent's.
  void abandon() { is_over_ = true; }

  void tensor_map_added(std::uint64_t number, const TensorMap& map) override;
  void sites_added(wire::SiteId first, std::span<const wire::SiteInfo> sites) override;
  void launch_begun(const detector::LaunchInfo& launch) override;
  void copy_begun(const detector::CopyInfo& copy) override;
  void record_applied(detector::LaunchId launch, std::span<const std::byte> record) override;
  void launch_ended(detector::LaunchId launch) override;
  void memory_forgotten(std::uint64_t address, std::uint64_t bytes) override;
  // What comes after the findings were read belongs to no report.
  void findings_read() override;
  void queues_idle() override;

 private:
  using Stack = std::vector<std::uint64_t>;

  explicit Recorder(const Options& options);

  template <typename Kind>
  void put(const Kind& event);
  template <typename Kind>
  void put_detection(const Kind& event);
  std::uint32_t number_of_kernel(const std::string& name);
  std::uint32_t number_of_stack(const Stack& stack);
  void put_places();
  std::vector<report::HostFrame> frames_of(std::uint32_t stack, const report::HostSymbols& symbols);
  void fail(Diagnostic error);

  std::mutex mutex_;
  std::atomic<bool> is_over_ = false;
  bool is_frozen_ = false;
  std::optional<Writer> writer_;  // none: the file could not be opened
  std::optional<Diagnostic> error_;
  std::chrono::steady_clock::time_point last_flush_;
  std::map<std::string, std::uint32_t> kernels_;
  std::map<std::uint64_t, std::vector<report::HostFrame>> frames_;  // by return address
  std::map<Stack, std::uint32_t> stacks_;
  std::set<std::pair<std::uint32_t, const std::string*>> launched_from_;  // stack, kernel
  std::set<std::uint32_t> copied_from_;                                   // stacks
  std::vector<const Stack*> stack_of_number_;                             // of number i + 1
};

// The trace of a process that never had a device to watch.
Expected<void> record_without_device(const report::RunData& run, const Options& options);

// What the recorded process's report needs of its options.
RunOptions run_options(const Options& options);

// What `run` knows when all processes are over, for the end of the file that they shared.
Expected<void> record_program_end(const std::string& path, const ProgramEnded& end);

}  // namespace barracuda::trace
