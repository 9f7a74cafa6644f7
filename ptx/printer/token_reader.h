// The tokens of a statement's text, without the white space and comments between them: enough to
// tell whether two texts say the same. Words keep their dots: "ld.global.u32" is one token.
#pragma once

#include <string_view>

namespace barracuda::ptx {

class TokenReader {
 public:
  explicit TokenReader(std::string_view text) : rest_(text) {}

  // Empty at the end.
  std::string_view next();

 private:
  void skip_space();

  std::string_view rest_;
};

}  // namespace barracuda::ptx
