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
#include <vector>

#include "ptx/split.h"
#include "session/program_image.h"

namespace barracuda::session {

class SplitImage {
 public:
  // Null where fewer than `least` kernels can stand alone. `source` is what the image was made of.
  static std::unique_ptr<SplitImage> make(const ProgramImage& image, const ImageSource& source,
                                          std::size_t least);

  [[nodiscard]] const std::string& base() const { return base_; }

  // Null if the kernel is in the base.
  const ptx::KernelPart* find_part(std::string_view kernel) const;
  // The same without instrumentation, for a driver that refuses the other; null if there is none.
  const ptx::KernelPart* find_plain_part(std::string_view kernel) const;

 private:
  using Parts = std::map<std::string, std::unique_ptr<const ptx::KernelPart>, std::less<>>;

  SplitImage(std::unique_ptr<const ptx::SplitModule> module, std::vector<std::string> units)
      : module_(std::move(module)), base_(module_->base()), units_(std::move(units)) {}

  const std::unique_ptr<const ptx::SplitModule> module_;
  const std::string base_;
  const std::vector<std::string> units_;
  mutable std::mutex mutex_;
  mutable Parts parts_, plain_parts_;
};

}  // namespace barracuda::session
