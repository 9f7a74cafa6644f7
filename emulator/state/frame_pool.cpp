#include "emulator/state/frame_pool.h"

#include <cstdlib>
#include <cstring>

#include "base/assert.h"

namespace barracuda::emulator {

FrameStore::~FrameStore() {
  for (Frame* frame : all_) {
    std::free(frame->registers);
    delete frame;
  }
}

Frame* FrameStore::take(const Function& function) {
  const std::lock_guard lock(mutex_);
  if (function.index < free_.size() && !free_[function.index].empty()) {
    Frame* frame = free_[function.index].back();
    free_[function.index].pop_back();
    return frame;
  }
  auto frame = std::make_unique<Frame>();
  frame->function = &function;
  const std::size_t bytes = (std::size_t{function.register_bytes} + 63) / 64 * 64 + 64;
  frame->registers = static_cast<std::byte*>(std::aligned_alloc(64, bytes));
  ASSERT(frame->registers != nullptr);
  std::memset(frame->registers, 0, bytes);
  all_.push_back(frame.get());
  return frame.release();
}

void FrameStore::give(Frame* frame) {
  const std::lock_guard lock(mutex_);
  const std::size_t index = frame->function->index;
  if (free_.size() <= index) {
    free_.resize(index + 1);
  }
  free_[index].push_back(frame);
}

FramePool::~FramePool() {
  for (const auto& frames : free_) {
    for (Frame* frame : frames) {
      store_.give(frame);
    }
  }
}

}  // namespace barracuda::emulator
