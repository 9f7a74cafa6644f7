#include "session/split_image.h"

#include <utility>

#include "base/assert.h"
#include "base/held_lock.h"
#include "base/log.h"

namespace barracuda::session {

std::unique_ptr<SplitImage> SplitImage::make(const ProgramImage& image, std::size_t least) {
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
  return is_worth_it ? std::unique_ptr<SplitImage>(new SplitImage(std::move(*split))) : nullptr;
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

}  // namespace barracuda::session
