#include "session/split_image.h"

#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/held_lock.h"
#include "base/log.h"
#include "ptx/device_runtime.h"
#include "ptx/link.h"
#include "ptx/parse.h"
#include "ptx/print.h"

namespace barracuda::session {
namespace {

// As instrument_image() has it before anything is inserted.
Expected<std::unique_ptr<const ptx::SplitModule>> split_plain(
    const std::vector<std::string>& texts) {
  std::vector<ptx::Module> units;
  for (const std::string& text : texts) {
    TRY(ptx::Module unit, ptx::parse(text));
    units.push_back(std::move(unit));
  }
  if (auto added = ptx::add_device_runtime(units); !added) {
    return unexpected(std::move(added).error());
  }
  TRY(const ptx::Module linked, ptx::link(std::move(units)));
  return ptx::SplitModule::read(ptx::print(linked));
}

}  // namespace

std::unique_ptr<SplitImage> SplitImage::make(const ProgramImage& image, const ImageSource& source,
                                             std::size_t least) {
  ASSERT(least > 0 && image.instrumented());
  if (image.kernels.size() < least) {
    return nullptr;
  }
  auto split = ptx::SplitModule::read(image.text);
  if (!split) {
    log(Folder::kSession, LogLevel::kInfo, "a module of %zu kernels is compiled as a whole: %s",
        image.kernels.size(), split.error().to_string().c_str());
    return nullptr;
  }
  const bool is_worth_it = (*split)->part_count() >= least;
  log(Folder::kSession, LogLevel::kInfo,
      "of the %zu kernels of a module %zu can be compiled by themselves%s", image.kernels.size(),
      (*split)->part_count(), is_worth_it ? "" : ": it is compiled as a whole");
  for (const auto& [kernel, reason] : (*split)->whole()) {
    log(Folder::kSession, LogLevel::kDebug, "%s is compiled with its module: %s", kernel.c_str(),
        reason.c_str());
  }
  return is_worth_it ? std::unique_ptr<SplitImage>(new SplitImage(std::move(*split), source.units))
                     : nullptr;
}

const ptx::KernelPart* SplitImage::find_part(std::string_view kernel) const {
  if (!module_->has_part(kernel)) {
    return nullptr;
  }
  const HeldLock lock(mutex_);
  auto found = parts_.find(kernel);
  if (found == parts_.end()) {
    auto made = std::make_unique<const ptx::KernelPart>(module_->part(kernel));
    found = parts_.emplace(kernel, std::move(made)).first;
  }
  return found->second.get();
}

const ptx::KernelPart* SplitImage::find_plain_part(std::string_view kernel) const {
  const HeldLock lock(mutex_);
  auto found = plain_parts_.find(kernel);
  if (found == plain_parts_.end()) {
    std::unique_ptr<const ptx::KernelPart> made;
    // Not kept: a refusal of this kind is rare.
    if (const auto plain = split_plain(units_); plain && (*plain)->has_part(kernel)) {
      made = std::make_unique<const ptx::KernelPart>((*plain)->part(kernel));
    }
    found = plain_parts_.emplace(kernel, std::move(made)).first;
  }
  return found->second.get();
}

}  // namespace barracuda::session
