// What a linker is given, as the origin of the machine code that it makes: for nvJitLink and for
// the driver's own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "session/program_image.h"

namespace barracuda::preload {

enum class LinkInput : std::uint8_t { kMachineCode, kPtx, kFatbin, kObject, kLibrary, kOther };

// `name` may be null. What has no PTX becomes the origin's gap.
void add_input(session::CodeOrigin& origin, LinkInput kind, std::span<const std::byte> bytes,
               const char* name);

}  // namespace barracuda::preload
