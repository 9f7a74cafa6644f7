#include "session/warp_collectives.h"

#include <cstddef>

#include "device_logger/symbols.h"

namespace barracuda::session {

bool has_warp_collectives(std::string_view text) {
  const auto is_in_hook = [&](std::size_t at) {
    const std::size_t function = text.rfind(".func ", at), entry = text.rfind(".entry ", at);
    if (function == text.npos || (entry != text.npos && entry > function)) {
      return false;
    }
    const std::string_view header = text.substr(function, text.find('\n', function) - function);
    return header.find(wire::kPrefix) != header.npos;
  };
  for (const std::string_view collective : {"vote.", "shfl.", "match.", "elect.", "redux."}) {
    std::size_t at = text.find(collective);
    while (at != text.npos && is_in_hook(at)) {
      at = text.find(collective, at + 1);
    }
    if (at != text.npos) {
      return true;
    }
  }
  return false;
}

bool may_compile_fast(std::string_view text) {
  return text.find(wire::kBlockWords) != text.npos && !has_warp_collectives(text);
}

}  // namespace barracuda::session
