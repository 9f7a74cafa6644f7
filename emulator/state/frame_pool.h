// Call frames that wait to be used again, by function: those of a program, shared by its launches,
// and a worker's own, which needs no lock.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

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
    auto& frames = free_[function.index];
    if (frames.empty()) {
      return store_.take(function);
    }
    Frame* frame = frames.back();
    frames.pop_back();
    return frame;
  }

  void give(Frame* frame) { free_[frame->function->index].push_back(frame); }

 private:
  FrameStore& store_;
  std::vector<std::vector<Frame*>> free_;
};

}  // namespace barracuda::emulator
