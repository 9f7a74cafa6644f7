// The result of anything that can fail: a value or a Diagnostic. TRY returns early with the error.
#pragma once

#include <utility>

#include <tl/expected.hpp>

#include "base/diagnostic.h"

namespace barracuda {

template <typename T>
using Expected = tl::expected<T, Diagnostic>;

inline tl::unexpected<Diagnostic> unexpected(Diagnostic diagnostic) {
  return tl::unexpected<Diagnostic>(std::move(diagnostic));
}

}  // namespace barracuda

// TRY(auto value, expression): declares `value` or returns the expression's Diagnostic.
#define BARRACUDA_CONCAT_INNER(a, b) a##b
#define BARRACUDA_CONCAT(a, b) BARRACUDA_CONCAT_INNER(a, b)
#define TRY(declaration, ...)                                                                 \
  auto BARRACUDA_CONCAT(expected_, __LINE__) = (__VA_ARGS__);                                 \
  if (!BARRACUDA_CONCAT(expected_, __LINE__)) {                                               \
    return ::barracuda::unexpected(std::move(BARRACUDA_CONCAT(expected_, __LINE__)).error()); \
  }                                                                                           \
  declaration = std::move(BARRACUDA_CONCAT(expected_, __LINE__)).value()
