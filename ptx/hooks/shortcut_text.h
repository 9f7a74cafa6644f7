// The text by which an access goes round its hook where its launch leaves out all that its shortcut
// is of (Shortcut, wire::HiddenArgument).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "device_logger/site_info.h"

namespace barracuda::ptx {

// To $__barracuda_skip`label`, by the address in %__barracuda_a. `shortcut`: of the entry's.
std::string skip_by_shortcut(std::string_view entry, std::uint32_t shortcut, std::uint32_t label);

// In a guarded form, behind that: notes that the access of a site leads elsewhere.
std::string note_stray(std::string_view entry, wire::SiteId site);

}  // namespace barracuda::ptx
