// What was launched and copied, for the report and the trace. Thread-safe. Its lock is held for
// look-ups and additions only, never while anything is waited for: the report of a process that is
// being killed reads them.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "base/held_lock.h"
#include "session/copy_book.h"
#include "session/launch_book.h"
#include "trace/recorder.h"

namespace barracuda::session {

class RunBooks {
 public:
  // `recorder` gets what is new; null: nothing is recorded.
  explicit RunBooks(trace::Recorder* recorder) : recorder_(recorder) {}

  // As those of the two books.
  detector::LaunchId open(const KernelBinding& kernel, const detector::LaunchInfo& info,
                          std::uint64_t stream);
  detector::CallId open(detector::HostOperation operation, std::uint64_t stream);
  detector::CopyId next_copy();
  void take_back(detector::CopyId newest);
  void count(const KernelBinding* kernel, const LaunchCheck& check);
  void refused(const KernelBinding* kernel, const LaunchCheck& check);
  [[nodiscard]] std::size_t opened() const;
  [[nodiscard]] std::string kernel_of(detector::LaunchId id) const;

  // " (its kernel)".
  [[nodiscard]] std::string describe(detector::LaunchId id) const;

  // Runs `reader` on the books while no other thread changes them.
  template <typename Reader>
  void read(const Reader& reader) const {
    const HeldLock lock(mutex_);
    reader(launches_, copies_);
  }

 private:
  trace::Recorder* const recorder_;
  mutable std::mutex mutex_;
  LaunchBook launches_;
  CopyBook copies_;
};

}  // namespace barracuda::session
