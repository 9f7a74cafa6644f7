// What the litmus programs share whose host learns from a function in a stream how far the device
// is: a flag that the function sets and a host thread waits for.
#pragma once

#include <condition_variable>
#include <mutex>

#include "cells.h"

class Signal {
 public:
  void set() {
    const std::lock_guard lock(mutex_);
    is_set_ = true;
    changed_.notify_all();
  }

  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return is_set_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_set_ = false;
};

struct CallbackCells : Cells {
  Signal signal;
  cudaStream_t streams[2] = {};
};

inline bool make_callback_cells(CallbackCells& cells) {
  return make_cells(cells) &&
         succeeded(cudaStreamCreateWithFlags(&cells.streams[0], cudaStreamNonBlocking)) &&
         succeeded(cudaStreamCreateWithFlags(&cells.streams[1], cudaStreamNonBlocking));
}

inline void set_signal(void* signal) {
  static_cast<Signal*>(signal)->set();
}

inline void set_signal(cudaStream_t, cudaError_t, void* signal) {
  set_signal(signal);
}

// The exit status of the program.
inline int finish_callbacks(const CallbackCells& cells) {
  return succeeded(cudaDeviceSynchronize()) ? print_cells(cells) : 1;
}
