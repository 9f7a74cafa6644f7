#include "session/launch_book.h"

#include <set>

#include "base/strong_id.h"
#include "session/host_stack.h"

namespace barracuda::session {
namespace {

constexpr std::uint32_t kNoStack = ~std::uint32_t{0};

}  // namespace

report::KernelRecord& LaunchBook::record_of(const KernelBinding& kernel) {
  report::KernelRecord& record = kernels_[{kernel.module->image, kernel.name}];
  if (record.name.empty()) {
    record.name = kernel.name;
    record.instrumented = kernel.instrumented();
    record.reason = record.instrumented ? "" : kernel.reason();
    record.synchronises = kernel.kernel != nullptr && kernel.kernel->numbered;
  }
  return record;
}

std::uint32_t LaunchBook::intern_stack() {
  if (stacks_taken_ >= kMostStacks) {
    return kNoStack;
  }
  ++stacks_taken_;
  const auto [entry, is_new] =
      stack_numbers_.emplace(host_stack(), static_cast<std::uint32_t>(stacks_.size()));
  if (is_new) {
    stacks_.push_back(&entry->first);
  }
  return entry->second;
}

detector::LaunchId LaunchBook::open(const KernelBinding& kernel, const detector::LaunchInfo& info,
                                    std::uint64_t stream) {
  lines_.push_back({.kernel = &record_of(kernel).name,
                    .stream = stream,
                    .grid = info.grid,
                    .block = info.block,
                    .stack = intern_stack()});
  return detector::LaunchId{static_cast<std::uint32_t>(lines_.size())};
}

void LaunchBook::count(const KernelBinding* kernel, const std::string& unchecked_reason) {
  ++launch_count_;
  if (kernel == nullptr) {
    report::KernelRecord& unknown = kernels_[{nullptr, ""}];
    unknown.name = "(unknown kernel)";
    unknown.reason = "it was loaded in a way that the tool does not see";
    ++unknown.launches;
    return;
  }
  report::KernelRecord& record = record_of(*kernel);
  ++record.launches;
  if (record.instrumented && !unchecked_reason.empty()) {
    ++record.unchecked_launches;
    record.reason = unchecked_reason;
  }
}

std::string LaunchBook::kernel_of(detector::LaunchId id) const {
  const std::uint32_t number = index_of(id);
  return number == 0 || number > lines_.size() ? "" : *lines_[number - 1].kernel;
}

report::LaunchRecord LaunchBook::record(detector::LaunchId id) const {
  const Line& line = lines_[index_of(id) - 1];
  report::LaunchRecord record;
  record.id = id;
  record.kernel = *line.kernel;
  record.stream = line.stream;
  record.grid = line.grid;
  record.block = line.block;
  if (line.stack != kNoStack) {
    record.host_stack = *stacks_[line.stack];
  }
  return record;
}

std::vector<report::KernelRecord> LaunchBook::kernels() const {
  std::vector<report::KernelRecord> records;
  for (const auto& [key, record] : kernels_) {
    if (record.launches != 0) {
      records.push_back(record);
    }
  }
  return records;
}

std::vector<report::LaunchRecord> LaunchBook::named_in(
    const detector::Findings& findings,
    const std::vector<report::MemoryErrorRecord>& errors) const {
  std::set<detector::LaunchId> named;
  for (const detector::RaceEvent& race : findings.races) {
    named.insert({race.first.thread.launch, race.second.thread.launch});
  }
  for (const detector::BarrierDivergence& divergence : findings.divergences) {
    named.insert(divergence.launch);
  }
  for (const report::MemoryErrorRecord& error : errors) {
    named.insert(error.launch);
  }
  std::vector<report::LaunchRecord> records;
  for (const detector::LaunchId id : named) {
    if (index_of(id) == 0 || index_of(id) > lines_.size()) {
      continue;
    }
    records.push_back(record(id));
  }
  return records;
}

// An instruction of a device function counts for every kernel of its module: who calls it is not
// tracked through pointers.
std::vector<ptx::NotCovered> LaunchBook::not_covered() const {
  std::set<const ProgramImage*> images;
  std::vector<ptx::NotCovered> instructions;
  for (const auto& [key, record] : kernels_) {
    const ProgramImage* const image = key.first;
    if (image == nullptr || record.launches == 0 || !record.instrumented) {
      continue;
    }
    const bool first_kernel = images.insert(image).second;
    for (const ptx::NotCovered& instruction : image->not_covered) {
      const bool in_entry = image->find_kernel(instruction.function) != nullptr;
      if (in_entry ? instruction.function == record.name : first_kernel) {
        instructions.push_back(instruction);
      }
    }
  }
  return instructions;
}

}  // namespace barracuda::session
