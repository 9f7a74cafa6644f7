// JIT options as the driver takes them: two parallel arrays, the program's own with ours behind or
// in place of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "preload/hooks.h"

namespace barracuda::preload {

class JitOptions {
 public:
  JitOptions(CUjit_option* names, void** values, unsigned count);

  void set(CUjit_option name, void* value);

  // What asks NVIDIA's compiler for the same; nothing where only the driver does it, or where the
  // program asks what its compiler says.
  [[nodiscard]] std::optional<std::vector<std::string>> compiler_flags() const;

  // Without those that say where the program's buffers are, which may be gone at a later load.
  [[nodiscard]] JitOptions without_places() const;

  CUjit_option* names() { return names_.empty() ? nullptr : names_.data(); }

  void** values() { return values_.empty() ? nullptr : values_.data(); }

  [[nodiscard]] unsigned count() const { return static_cast<unsigned>(names_.size()); }

 private:
  // The driver reads as many values as names.
  [[nodiscard]] bool is_valid() const { return names_.size() == values_.size(); }

  std::vector<CUjit_option> names_;
  std::vector<void*> values_;
};

}  // namespace barracuda::preload
