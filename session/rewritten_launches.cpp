// Launches of rewritten code: LaunchTracker's part for them.
#include <utility>

#include "session/launch_tracker.h"

namespace barracuda::session {

void LaunchTracker::rewrite(std::unique_ptr<StoreDelayer> delayer,
                            std::unique_ptr<LaunchStress> stress) {
  const HeldLock lock(mutex_);
  delayer_ = std::move(delayer);
  stress_ = std::move(stress);
  closed_ = rewrites_stores(options_, driver_.is_emulated())
                ? "races are not looked for where stores are delayed by rewriting the program"
            : is_stressed(options_, driver_.is_emulated())
                ? "races are not looked for where the program is rewritten for stress"
                : "races are not looked for where instructions are counted";
  problems_.add(closed_);
}

void LaunchTracker::place_rewritten(Launch& launch, const LaunchRequest& request,
                                    detector::StreamKey stream) {
  const KernelBinding& kernel = *launch.kernel_;
  const LaunchStress::Request stressed{.kernel = *kernel.kernel,
                                       .grid = request.grid,
                                       .block = request.block,
                                       .cluster = kernel.cluster(request.cluster),
                                       .is_cooperative = request.is_cooperative};
  const auto placed = stress_ == nullptr ? std::nullopt : stress_->place(stressed);
  launch.rewritten_ = delayer_->begin(kernel.name, placed ? placed->grid : request.grid,
                                      request.block, stream, placed ? &placed->launch : nullptr);
  if (placed && launch.rewritten_ != nullptr) {
    launch.grid_ = placed->grid;
  }
  if (stress_ != nullptr) {
    launch.beside_ = stress_->begin_beside(stressed, placed);
  }
}

void LaunchTracker::begin_rewritten(Launch& launch, const LaunchRequest& request,
                                    detector::StreamKey stream) {
  {
    const HeldLock lock(mutex_);
    // One that may run beside the launch before it must not share its arena.
    if (!launch.captured_ && !request.is_programmatic && delayer_ != nullptr) {
      place_rewritten(launch, request, stream);
    }
  }
  if (!launch.captured_) {
    streams_.launch_unchecked(stream);
  }
  count(launch);
  void** const parameters = launch.parameters();
  void** const extra = launch.extra();
  launch.arguments_.emplace(*launch.kernel_->kernel, parameters, extra,
                            reinterpret_cast<std::uint64_t>(launch.rewritten_));
}

}  // namespace barracuda::session
