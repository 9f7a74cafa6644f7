// Where the slices of races are written (weak_memory/race_slice.h): that of the first race to a
// file, or those of all races into a folder.
#pragma once

#include <cstddef>
#include <string>

#include "base/expected.h"

namespace barracuda::cli {

class SliceFiles {
 public:
  // A folder that is there, or a name that ends with `/`; else a file. Empty: nothing is written.
  explicit SliceFiles(std::string where);

  // `number` from 1; `mark`: "" or ".repaired", which goes before the last dot. Empty: that race
  // has no file.
  [[nodiscard]] std::string name(std::size_t number, const std::string& mark) const;
  // Nothing of an empty text.
  [[nodiscard]] Expected<void> write(std::size_t number, const std::string& mark,
                                     const std::string& text) const;

 private:
  std::string where_;
  bool is_folder_ = false;
};

}  // namespace barracuda::cli
