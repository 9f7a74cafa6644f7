// Call frames that wait to be used again, by function: those of a program, shared by its launches,
// and a worker's own, which needs no lock.
#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

#include "base/assert.h"
#include "emulator/state/warp.h"

namespace barracuda::emulator {

class FrameStore {
 public:
  FrameStore() = default;
  ~FrameStore();
  FrameStore(const FrameStore&) = delete;
  FrameStore& operator=(const FrameStore&) = delete;

  // The store owns every frame that it ever gave.
  Frame* take(const Function& function);
  void give(Frame* frame);

 private:
  std::mutex mutex_;
  std::vector<Frame*> all_;
  std::vector<std::vector<Frame*>> free_;
};

class FramePool {
 public:
  FramePool(FrameStore& store, std::size_t functions) : store_(store), free_(functions) {}

  ~FramePool();
  FramePool(const FramePool&) = delete;
  FramePool& operator=(const FramePool&) = delete;

  Frame* take(const Function& function) {
    DEBUG_ASSERT(function.index < free_.size());
    auto& frames = free_[function.index];
    if (frames.empty()) {
      return store_.take(function);
    }
    Frame* frame = frames.back();
    frames.pop_back();
    return frame;
  }

  // A frame that no lane is in.
  void give(Frame* frame) {
    DEBUG_ASSERT(frame->lanes == 0);
    free_[frame->function->index].push_back(frame);
    DEBUG_ASSERT(is_valid());
  }

  // Each frame is of the function that it waits for, and waits once.
  [[nodiscard]] bool is_valid() const;

 private:
  FrameStore& store_;
  std::vector<std::vector<Frame*>> free_;
};

}  // namespace barracuda::emulator
