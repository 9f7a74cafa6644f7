#include "session/uninstrumented_kernels.h"

#include <utility>

#include "base/held_lock.h"
#include "ptx/device_runtime.h"
#include "ptx/link.h"
#include "ptx/parse.h"
#include "ptx/print.h"

namespace barracuda::session {
namespace {

// As instrument_image() has it before anything is inserted.
Expected<std::unique_ptr<const ptx::SplitModule>> split(const std::vector<std::string>& texts) {
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

const ptx::KernelPart* UninstrumentedKernels::find(std::string_view kernel) const {
  const HeldLock lock(mutex_);
  auto found = parts_.find(kernel);
  if (found == parts_.end()) {
    std::unique_ptr<const ptx::KernelPart> made;
    // The module in parts is not kept: few programs ask for a kernel, and rarely for a second one.
    if (const auto module = split(units_); module && (*module)->has_part(kernel)) {
      made = std::make_unique<const ptx::KernelPart>((*module)->part(kernel));
    }
    found = parts_.emplace(kernel, std::move(made)).first;
  }
  return found->second.get();
}

}  // namespace barracuda::session
