#include "session/run_books.h"

#include "report/symbol_name.h"

namespace barracuda::session {

detector::LaunchId RunBooks::open(const KernelBinding& kernel, const detector::LaunchInfo& info,
                                  std::uint64_t stream) {
  const HeldLock lock(mutex_);
  const detector::LaunchId id = launches_.open(kernel, info, stream);
  if (recorder_ != nullptr) {
    recorder_->launch_described(launches_.record(id));
  }
  return id;
}

detector::CallId RunBooks::open(detector::HostOperation operation, std::uint64_t stream) {
  const HeldLock lock(mutex_);
  const CopyBook::Call call = copies_.open(operation, stream);
  if (call.is_new && recorder_ != nullptr) {
    recorder_->copy_described(copies_.record(call.number));
  }
  return call.number;
}

detector::CopyId RunBooks::next_copy() {
  const HeldLock lock(mutex_);
  return copies_.next_id();
}

void RunBooks::take_back(detector::CopyId newest) {
  const HeldLock lock(mutex_);
  copies_.take_back(newest);
}

void RunBooks::count(const KernelBinding* kernel, const LaunchCheck& check) {
  const HeldLock lock(mutex_);
  launches_.count(kernel, check);
}

void RunBooks::refused(const KernelBinding* kernel, const LaunchCheck& check) {
  const HeldLock lock(mutex_);
  launches_.refused(kernel, check);
}

std::size_t RunBooks::opened() const {
  const HeldLock lock(mutex_);
  return launches_.opened();
}

std::string RunBooks::kernel_of(detector::LaunchId id) const {
  const HeldLock lock(mutex_);
  return launches_.kernel_of(id);
}

std::string RunBooks::describe(detector::LaunchId id) const {
  return " (" + report::demangle(kernel_of(id)) + ")";
}

}  // namespace barracuda::session
