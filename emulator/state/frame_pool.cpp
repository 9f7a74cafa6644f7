#include "emulator/state/frame_pool.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/align.h"
#include "base/assert.h"

namespace barracuda::emulator {

FrameStore::~FrameStore() {
  for (Frame* frame : all_) {
    std::free(frame->registers);
    delete frame;
  }
}

Frame* FrameStore::take(const Function& function) {
  {
    const std::lock_guard lock(mutex_);
    if (function.index < free_.size() && !free_[function.index].empty()) {
      Frame* frame = free_[function.index].back();
      free_[function.index].pop_back();
      return frame;
    }
  }
  auto frame = std::make_unique<Frame>();
  frame->function = &function;
  const std::size_t bytes = align_up(std::size_t{function.register_bytes}, 64) + 64;
  frame->registers = static_cast<std::byte*>(std::aligned_alloc(64, bytes));
  ASSERT(frame->registers != nullptr);
  std::memset(frame->registers, 0, bytes);
  const std::lock_guard lock(mutex_);
  all_.push_back(frame.get());
  return frame.release();
}

void FrameStore::give(Frame* frame) {
  ASSERT(frame != nullptr && frame->function != nullptr);
  const std::lock_guard lock(mutex_);
  const std::size_t index = frame->function->index;
  if (free_.size() <= index) {
    free_.resize(index + 1);
  }
  free_[index].push_back(frame);
}

bool FramePool::is_valid() const {
  for (std::size_t index = 0; index < free_.size(); ++index) {
    for (auto frame = free_[index].begin(); frame != free_[index].end(); ++frame) {
      if ((*frame)->function->index != index ||
          std::find(free_[index].begin(), frame, *frame) != frame) {
        return false;
      }
    }
  }
  return true;
}

FramePool::~FramePool() {
  for (const auto& frames : free_) {
    for (Frame* frame : frames) {
      store_.give(frame);
    }
  }
}

}  // namespace barracuda::emulator
