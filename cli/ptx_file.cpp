#include "cli/ptx_file.h"

#include "base/file.h"

namespace barracuda::cli {

Expected<std::string> read_ptx(const std::string& path) {
  TRY(std::string text, read_file(path));
  while (text.ends_with('\0')) {
    text.pop_back();
  }
  return text;
}

}  // namespace barracuda::cli
