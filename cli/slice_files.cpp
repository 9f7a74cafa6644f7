#include "cli/slice_files.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/file.h"

namespace barracuda::cli {

namespace fs = std::filesystem;

SliceFiles::SliceFiles(std::string where) : where_(std::move(where)) {
  std::error_code error;
  is_folder_ = where_.ends_with('/') || fs::is_directory(where_, error);
}

std::string SliceFiles::name(std::size_t number, const std::string& mark) const {
  if (is_folder_) {
    return fs::path(where_) / fmt::format("race{}{}.litmus", number, mark);
  }
  if (number != 1 || where_.empty()) {
    return "";
  }
  const fs::path file(where_);
  return file.parent_path() / (file.stem().string() + mark + file.extension().string());
}

Expected<void> SliceFiles::write(std::size_t number, const std::string& mark,
                                 const std::string& text) const {
  const std::string file = name(number, mark);
  if (text.empty() || file.empty()) {
    return {};
  }
  if (is_folder_) {
    std::error_code error;
    fs::create_directories(where_, error);
    if (error) {
      return unexpected({.message = where_ + ": " + error.message()});
    }
  }
  return write_file(file, text);
}

}  // namespace barracuda::cli
