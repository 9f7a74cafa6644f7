#include "session/rewritten_launches.h"

#include <utility>

#include "base/held_lock.h"

namespace barracuda::session {

RewrittenLaunches::RewrittenLaunches(std::unique_ptr<StoreDelayer> delayer,
                                     std::unique_ptr<LaunchStress> stress)
    : delayer_(std::move(delayer)), stress_(std::move(stress)) {}

RewrittenLaunches::Begun RewrittenLaunches::begin(const KernelBinding& kernel,
                                                  const LaunchRequest& request,
                                                  detector::StreamKey stream) {
  const HeldLock lock(mutex_);
  // One that may run beside the launch before it must not share its arena.
  if (request.is_programmatic || delayer_ == nullptr) {
    return {};
  }
  Begun begun;
  const LaunchStress::Request stressed{.kernel = *kernel.kernel,
                                       .grid = request.grid,
                                       .block = request.block,
                                       .cluster = kernel.cluster(request.cluster),
                                       .is_cooperative = request.is_cooperative};
  const auto placed = stress_ == nullptr ? std::nullopt : stress_->place(stressed);
  begun.descriptor = delayer_->begin(kernel.name, placed ? placed->grid : request.grid,
                                     request.block, stream, placed ? &placed->launch : nullptr);
  if (placed && begun.descriptor != nullptr) {
    begun.grid = placed->grid;
  }
  if (stress_ != nullptr) {
    begun.beside = stress_->begin_beside(stressed, placed);
  }
  return begun;
}

void RewrittenLaunches::submitted(const Begun& begun, Handle stream) {
  const HeldLock lock(mutex_);
  if (begun.descriptor != nullptr && delayer_ != nullptr) {
    delayer_->submitted(begun.descriptor, stream);
  }
  if (begun.beside != 0 && stress_ != nullptr) {
    stress_->end_beside(begun.beside, stream);
  }
}

void RewrittenLaunches::close_context(Handle context) {
  const HeldLock lock(mutex_);
  if (delayer_ != nullptr) {
    delayer_->close(context);
  }
  if (stress_ != nullptr) {
    stress_->close(context);
  }
}

// The memory of both stays: launches may still use it.
void RewrittenLaunches::close() {
  const HeldLock lock(mutex_);
  delayer_ = nullptr;
  stress_ = nullptr;
}

}  // namespace barracuda::session
