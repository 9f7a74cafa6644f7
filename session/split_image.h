// An instrumented image in parts (ptx/split.h): its base is loaded where the program loads the
// image, each part when the program first asks for its kernel. Thread-safe. Texts stay where they
// are: the driver may keep reading them.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "ptx/split.h"
#include "session/program_image.h"

namespace barracuda::session {

class SplitImage {
 public:
  // Null where fewer than `least` kernels can stand alone.
  static std::unique_ptr<SplitImage> make(const ProgramImage& image, std::size_t least);

  [[nodiscard]] const std::string& base() const { return base_; }

  // Null if the kernel is in the base.
  const ptx::KernelPart* find_part(std::string_view kernel) const;

 private:
  using Parts = std::map<std::string, std::unique_ptr<const ptx::KernelPart>, std::less<>>;

  explicit SplitImage(std::unique_ptr<const ptx::SplitModule> module)
      : module_(std::move(module)), base_(module_->base()) {}

  const std::unique_ptr<const ptx::SplitModule> module_;
  const std::string base_;
  mutable std::mutex mutex_;
  mutable Parts parts_;
};

}  // namespace barracuda::session
