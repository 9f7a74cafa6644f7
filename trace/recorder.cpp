#include "trace/recorder.h"

#include <unistd.h>

#include "base/assert.h"
#include "base/file.h"
#include "base/held_lock.h"
#include "base/log.h"
#include "device_logger/record.h"
#include "report/process_name.h"
#include "report/spool.h"
#include "report/symbol_name.h"

namespace barracuda::trace {
namespace {

using std::chrono::steady_clock;

// A process that is killed loses at most what it did in this time.
constexpr std::chrono::milliseconds kFlushEvery{200};

// Under `run` all processes write to one file, unless its name says otherwise.
Expected<TraceFile> open_file(const Options& options) {
  TRY(const std::string path, expand_file_name(options.record));
  const bool is_shared = !report::run_directory().empty() && !names_process(options.record);
  return TraceFile::open(path, is_shared ? Ownership::kShared : Ownership::kAlone);
}

std::optional<std::uint32_t> rank_of_environment() {
  const std::int64_t rank = report::rank_of_environment();
  return rank == report::Process::kNoRank ? std::nullopt
                                          : std::optional(static_cast<std::uint32_t>(rank));
}

StreamBegin make_beginning(const Options& options) {
  return {.tool_version = BARRACUDA_VERSION,
          .protocol = wire::kProtocolVersion,
          .process = static_cast<std::uint32_t>(getpid()),
          .program = report::program_name(),
          .rank = rank_of_environment(),
          .options = run_options(options)};
}

}  // namespace

RunOptions run_options(const Options& options) {
  RunOptions recorded{.text = to_string(options), .suppressions = {}};
  if (!options.suppressions.empty()) {
    if (auto text = read_file(options.suppressions)) {
      recorded.suppressions = std::move(*text);
    }
  }
  return recorded;
}

std::unique_ptr<Recorder> Recorder::create(const Options& options) {
  // The constructor is private: no make_unique.
  return options.record.empty() ? nullptr : std::unique_ptr<Recorder>(new Recorder(options));
}

Recorder::Recorder(const Options& options) : last_flush_(steady_clock::now()) {
  auto file = open_file(options);
  if (!file) {
    fail(std::move(file).error());
    return;
  }
  writer_.emplace(std::move(*file), new_stream());
  put(make_beginning(options));
}

void Recorder::fail(Diagnostic error) {
  log(Folder::kSession, LogLevel::kError, "the trace cannot be written: %s",
      error.to_string().c_str());
  error_ = std::move(error);
}

template <typename Kind>
void Recorder::put(const Kind& event) {
  if (error_ || is_over_) {
    return;
  }
  ASSERT(writer_.has_value());  // there is one, or an error
  writer_->put(event);
  if (const auto& error = writer_->error()) {
    fail(*error);
  }
}

template <typename Kind>
void Recorder::put_detection(const Kind& event) {
  if (is_over_) {
    return;
  }
  const HeldLock lock(mutex_);
  if (!is_frozen_) {
    put(event);
  }
}

void Recorder::device_named(const std::string& name) {
  if (!is_over_) {
    const HeldLock lock(mutex_);
    put(DeviceNamed{name});
  }
}

void Recorder::sites_described(const ptx::SiteTable& sites) {
  if (is_over_) {
    return;
  }
  const HeldLock lock(mutex_);
  for (const ptx::Site& site : sites) {
    put(SiteDescribed{site});
  }
}

std::uint32_t Recorder::number_of_kernel(const std::string& name) {
  const auto [known, is_new] =
      kernels_.try_emplace(name, static_cast<std::uint32_t>(kernels_.size()));
  if (is_new) {
    put(KernelNamed{name});
  }
  return known->second;
}

std::uint32_t Recorder::number_of_stack(const Stack& stack) {
  if (stack.empty()) {
    return 0;
  }
  const auto [known, is_new] =
      stacks_.try_emplace(stack, static_cast<std::uint32_t>(stacks_.size() + 1));
  if (is_new) {
    stack_of_number_.push_back(&known->first);
    ASSERT(stack_of_number_.size() == known->second);
  }
  return known->second;
}

void Recorder::launch_described(const report::LaunchRecord& launch) {
  if (is_over_) {
    return;
  }
  const HeldLock lock(mutex_);
  const std::uint32_t kernel = number_of_kernel(launch.kernel);
  const std::uint32_t stack = number_of_stack(launch.host_stack);
  if (stack != 0) {
    launched_from_.emplace(stack, &kernels_.find(launch.kernel)->first);
  }
  put(LaunchDescribed{.id = launch.id,
                      .kernel = kernel,
                      .stream = launch.stream,
                      .grid = launch.grid,
                      .block = launch.block,
                      .stack = stack,
                      .logger_bytes = launch.logger_bytes});
}

void Recorder::copy_described(const report::CopyRecord& copy) {
  if (is_over_) {
    return;
  }
  const HeldLock lock(mutex_);
  const std::uint32_t stack = number_of_stack(copy.host_stack);
  if (stack != 0) {
    copied_from_.insert(stack);
  }
  put(CopyDescribed{
      .call = copy.call, .operation = copy.operation, .stream = copy.stream, .stack = stack});
}

std::vector<report::HostFrame> Recorder::frames_of(std::uint32_t stack,
                                                   const report::HostSymbols& symbols) {
  std::vector<report::HostFrame> frames;
  ASSERT(stack != 0 && stack <= stack_of_number_.size());
  for (const std::uint64_t address : *stack_of_number_[stack - 1]) {
    const auto [known, is_new] = frames_.try_emplace(address);
    if (is_new) {
      known->second = symbols.look_up(address);
    }
    frames.insert(frames.end(), known->second.begin(), known->second.end());
  }
  return frames;
}

// Return addresses are looked up while the program's modules are still loaded.
void Recorder::put_places() {
  const report::HostSymbols symbols;
  for (const auto& [stack, kernel] : launched_from_) {
    put(PlaceNamed{
        .stack = stack,
        .kernel = kernels_.at(*kernel),
        .place = report::launch_place(frames_of(stack, symbols), report::demangle(*kernel))});
  }
  for (const std::uint32_t stack : copied_from_) {
    put(CopyPlaceNamed{.stack = stack, .place = report::calling_place(frames_of(stack, symbols))});
  }
}

Expected<void> Recorder::finish(const report::RunData& run) {
  if (is_over_) {
    return {};
  }
  const HeldLock lock(mutex_);
  if (!error_) {
    put_places();
    for (const report::AllocationRecord& allocation : run.allocations) {
      put(AllocationKnown{allocation});
    }
    for (const report::KernelRecord& kernel : run.kernels) {
      put(KernelCounted{kernel});
    }
    for (const ptx::NotCovered& instruction : run.not_covered) {
      put(InstructionNotCovered{instruction});
    }
    for (const ptx::RegisterHazard& hazard : run.register_hazards) {
      put(RegisterHazardFound{hazard});
    }
    for (const report::MemoryErrorRecord& error : run.memory_errors) {
      put(MemoryErrorFound{error});
    }
    put(RunEnd{.launch_count = run.launch_count,
               .device = run.device,
               .problems = run.problems,
               .blocked = run.blocked,
               .option_error = run.option_error,
               .tool_failure = run.tool_failure,
               .used_cuda = run.used_cuda,
               .own_status = run.own_status == report::kUnknownStatus
                                 ? std::nullopt
                                 : std::optional(static_cast<std::uint32_t>(run.own_status))});
  }
  if (writer_ && !error_) {
    writer_->flush();
    error_ = writer_->error();
  }
  is_over_ = true;
  return error_ ? Expected<void>(unexpected(*error_)) : Expected<void>();
}

void Recorder::sites_added(wire::SiteId first, std::span<const wire::SiteInfo> sites) {
  put_detection(SitesAdded{.first = first, .count = static_cast<std::uint32_t>(sites.size())});
}

void Recorder::tensor_map_added(std::uint64_t number, const TensorMap& map) {
  put_detection(TensorMapKnown{.number = number, .map = map});
}

void Recorder::launch_begun(const detector::LaunchInfo& launch) {
  put_detection(LaunchBegun{launch});
}

void Recorder::copy_begun(const detector::CopyInfo& copy) {
  put_detection(CopyBegun{copy});
}

void Recorder::record_applied(detector::LaunchId launch, std::span<const std::byte> record) {
  put_detection(RecordApplied{.launch = launch, .record = record});
}

void Recorder::launch_ended(detector::LaunchId launch) {
  put_detection(LaunchEnded{launch});
}

void Recorder::memory_forgotten(std::uint64_t address, std::uint64_t bytes) {
  put_detection(MemoryForgotten{.address = address, .bytes = bytes});
}

void Recorder::findings_read() {
  if (!is_over_) {
    const HeldLock lock(mutex_);
    is_frozen_ = true;
  }
}

void Recorder::queues_idle() {
  if (is_over_) {
    return;
  }
  const HeldLock lock(mutex_);
  const auto now = steady_clock::now();
  if (!writer_ || error_ || writer_->is_empty() || now - last_flush_ < kFlushEvery) {
    return;
  }
  last_flush_ = now;
  writer_->flush();
  if (const auto& error = writer_->error()) {
    fail(*error);
  }
}

Expected<void> record_without_device(const report::RunData& run, const Options& options) {
  const auto recorder = Recorder::create(options);
  return recorder == nullptr ? Expected<void>() : recorder->finish(run);
}

Expected<void> record_program_end(const std::string& path, const ProgramEnded& end) {
  TRY(TraceFile file, TraceFile::open(path, Ownership::kShared));
  Writer writer(std::move(file), new_stream());
  writer.put(end);
  writer.flush();
  const auto& error = writer.error();
  return error ? Expected<void>(unexpected(*error)) : Expected<void>();
}

}  // namespace barracuda::trace
