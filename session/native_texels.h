// What a texture or surface instruction reaches, logged texel by texel: reads by the read-only
// path, and accesses by surfaces.
#pragma once

#include "emulator/native_function.h"

namespace barracuda::session {

// site, object, form (ptx/texel_form.h), x, y, z, layer. The site is the instruction's first; of a
// texture there are more behind it, one for each size of a texel.
emulator::NativeResult log_texels(const emulator::NativeCall& call);

}  // namespace barracuda::session
