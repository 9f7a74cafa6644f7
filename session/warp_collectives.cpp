#include "session/warp_collectives.h"

#include <cstddef>

#include "device_logger/symbols.h"

namespace barracuda::session {

bool has_warp_collectives(std::string_view text) {
  // Not the end of another word: CUB's files are called warp_scan_shfl.cuh, and -lineinfo names
  // them.
  const auto is_mnemonic = [&](std::size_t at) {
    return at == 0 || std::string_view(" \t\n{;").find(text[at - 1]) != std::string_view::npos;
  };
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
    while (at != text.npos && (!is_mnemonic(at) || is_in_hook(at))) {
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
