// The known name that is most like a misspelt one.
#pragma once

#include <cstddef>
#include <string_view>

namespace barracuda {

// Letters to insert, delete or replace.
std::size_t edit_distance(std::string_view a, std::string_view b);

// Of the names, the one that is at most two letters from the word; empty if none is.
template <typename Names>
std::string_view nearest_name(std::string_view word, const Names& names) {
  std::string_view nearest;
  std::size_t least = 3;
  for (const std::string_view name : names) {
    if (const std::size_t distance = edit_distance(word, name); distance < least) {
      least = distance;
      nearest = name;
    }
  }
  return nearest;
}

}  // namespace barracuda
