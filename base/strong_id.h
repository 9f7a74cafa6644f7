// Numbers that must not be mixed are enum classes over their wire type: `enum class SiteId : u32
// {}`. These helpers convert explicitly; adding two ids does not compile.
#pragma once

#include <type_traits>

namespace barracuda {

template <typename Id>
  requires std::is_enum_v<Id>
constexpr auto index_of(Id id) noexcept {
  return static_cast<std::underlying_type_t<Id>>(id);
}

}  // namespace barracuda
