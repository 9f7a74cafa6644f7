#include "report/path_prefix.h"

#include <cstddef>

namespace barracuda::report {

std::string without_prefix(std::string_view text, std::string_view prefix) {
  std::string result;
  std::size_t begin = 0;
  for (std::size_t at = prefix.empty() ? text.npos : text.find(prefix); at != text.npos;
       at = text.find(prefix, at + 1)) {
    if (at == 0 || text[at - 1] == ' ' || text[at - 1] == '\n' || text[at - 1] == '(') {
      result += text.substr(begin, at - begin);
      begin = at + prefix.size();
    }
  }
  return result + std::string(text.substr(begin));
}

}  // namespace barracuda::report
