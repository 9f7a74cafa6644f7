#include "session/launch_book.h"

#include <set>

#include <boost/container_hash/hash.hpp>

#include "base/assert.h"
#include "base/strong_id.h"
#include "session/host_stack.h"

namespace barracuda::session {
namespace {

constexpr std::uint32_t kNoStack = ~std::uint32_t{0};

}  // namespace

std::size_t LaunchBook::HashOfLine::operator()(const Line& line) const {
  std::size_t hash = 0;
  for (const std::uint64_t part :
       {std::uint64_t{reinterpret_cast<std::uintptr_t>(line.kernel)}, line.stream,
        std::uint64_t{line.grid.x}, std::uint64_t{line.grid.y}, std::uint64_t{line.grid.z},
        std::uint64_t{line.block.x}, std::uint64_t{line.block.y}, std::uint64_t{line.block.z},
        std::uint64_t{line.stack}}) {
    boost::hash_combine(hash, part);
  }
  return hash;
}

bool LaunchBook::is_valid() const {
  std::uint64_t launches = 0;
  for (const auto& [key, record] : kernels_) {
    launches += record.launches;
    if (record.left_out_launches + record.unchecked_launches > record.launches) {
      return false;
    }
  }
  return launches == launch_count_ && kinds_.size() == known_.size() &&
         stacks_.size() == stack_numbers_.size() && stacks_.size() <= stacks_taken_ &&
         (lines_.empty() || lines_.back() < kinds_.size());
}

report::KernelRecord& LaunchBook::record_of(const KernelBinding& kernel) {
  report::KernelRecord& record = kernels_[{kernel.module->image, kernel.name}];
  if (record.name.empty()) {
    record.name = kernel.name;
    record.instrumented = kernel.checked();
    record.reason = record.instrumented ? "" : kernel.reason();
    record.synchronises = kernel.kernel != nullptr && kernel.kernel->numbered;
    record.leaves_out_barriers = kernel.kernel != nullptr && kernel.kernel->has_block_events;
    record.logger_bytes = kernel.kernel != nullptr ? kernel.kernel->logger_bytes : 0;
    if (!kernel.module->owner.empty()) {
      libraries_[{kernel.module->image, kernel.name}] = kernel.module->owner;
    }
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
  const auto [kind, is_new] = known_.try_emplace({.kernel = &record_of(kernel),
                                                  .stream = stream,
                                                  .grid = info.grid,
                                                  .block = info.block,
                                                  .stack = intern_stack()},
                                                 static_cast<std::uint32_t>(kinds_.size()));
  if (is_new) {
    kinds_.push_back(&kind->first);
  }
  lines_.push_back(kind->second);
  DEBUG_ASSERT(is_valid());
  return detector::LaunchId{static_cast<std::uint32_t>(lines_.size())};
}

report::KernelRecord& LaunchBook::record_of_any(const KernelBinding* kernel) {
  if (kernel != nullptr) {
    return record_of(*kernel);
  }
  report::KernelRecord& unknown = kernels_[{nullptr, ""}];
  unknown.name = "(unknown kernel)";
  unknown.reason = "it was loaded in a way that the tool does not see";
  return unknown;
}

void LaunchBook::count(const KernelBinding* kernel, const LaunchCheck& check) {
  ++launch_count_;
  report::KernelRecord& record = record_of_any(kernel);
  ++record.launches;
  if (check.is_left_out) {
    ++record.left_out_launches;
  } else if (record.instrumented && !check.unchecked.empty()) {
    ++record.unchecked_launches;
    record.reason = check.unchecked;
  }
  DEBUG_ASSERT(is_valid());
}

void LaunchBook::refused(const KernelBinding* kernel, const LaunchCheck& check) {
  report::KernelRecord& record = record_of_any(kernel);
  ASSERT(launch_count_ != 0 && record.launches != 0);
  --launch_count_;
  --record.launches;
  if (check.is_left_out) {
    ASSERT(record.left_out_launches != 0);
    --record.left_out_launches;
  } else if (record.instrumented && !check.unchecked.empty()) {
    ASSERT(record.unchecked_launches != 0);
    --record.unchecked_launches;
  }
  DEBUG_ASSERT(is_valid());
}

std::string LaunchBook::kernel_of(detector::LaunchId id) const {
  const std::uint32_t number = index_of(id);
  return number == 0 || number > lines_.size() ? "" : line_of(id).kernel->name;
}

report::LaunchRecord LaunchBook::record(detector::LaunchId id) const {
  ASSERT(index_of(id) != 0 && index_of(id) <= lines_.size());
  const Line& line = line_of(id);
  report::LaunchRecord record;
  record.id = id;
  record.kernel = line.kernel->name;
  record.leaves_out_barriers = line.kernel->leaves_out_barriers;
  record.logger_bytes = line.kernel->logger_bytes;
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

// A name that the program has as well is the program's.
std::map<std::string, std::string> LaunchBook::libraries() const {
  std::map<std::string, std::string> libraries;
  for (const auto& [kernel, library] : libraries_) {
    libraries.emplace(kernel.second, library);
  }
  for (const auto& [key, record] : kernels_) {
    if (record.launches != 0 && !libraries_.contains(key)) {
      libraries.erase(record.name);
    }
  }
  return libraries;
}

std::vector<report::LaunchRecord> LaunchBook::named_in(
    const detector::Findings& findings,
    const std::vector<report::MemoryErrorRecord>& errors) const {
  std::set<detector::LaunchId> named;
  for (const detector::RaceEvent& race : findings.races) {
    for (const detector::WorkId work : {race.first.thread.launch, race.second.thread.launch}) {
      if (!work.is_copy()) {
        named.insert(work.launch());
      }
    }
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
template <typename Each>
std::vector<Each> LaunchBook::of_launched(std::vector<Each> ProgramImage::* list) const {
  std::set<const ProgramImage*> images;
  std::vector<Each> instructions;
  for (const auto& [key, record] : kernels_) {
    const ProgramImage* const image = key.first;
    if (image == nullptr || record.launches == record.left_out_launches || !record.instrumented) {
      continue;
    }
    const bool first_kernel = images.insert(image).second;
    for (const Each& instruction : image->*list) {
      const bool in_entry = image->find_kernel(instruction.function) != nullptr;
      if (in_entry ? instruction.function == record.name : first_kernel) {
        instructions.push_back(instruction);
      }
    }
  }
  return instructions;
}

std::vector<ptx::NotCovered> LaunchBook::not_covered() const {
  return of_launched(&ProgramImage::not_covered);
}

std::vector<ptx::RegisterHazard> LaunchBook::register_hazards() const {
  return of_launched(&ProgramImage::register_hazards);
}

}  // namespace barracuda::session
