// Kernels of an image as the program has them, each a module of its own (ptx/split.h): for a driver
// that refuses the instrumented text, and for launches that leave no room for the tool.
// Thread-safe.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/split.h"

namespace barracuda::session {

class UninstrumentedKernels {
 public:
  // The PTX texts that the image was made of.
  explicit UninstrumentedKernels(std::vector<std::string> units) : units_(std::move(units)) {}

  // Null if it cannot stand alone. The text stays where it is: the driver may keep reading it.
  const ptx::KernelPart* find(std::string_view kernel) const;

 private:
  const std::vector<std::string> units_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, std::unique_ptr<const ptx::KernelPart>, std::less<>> parts_;
};

}  // namespace barracuda::session
