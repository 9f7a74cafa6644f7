// Loads PTX that the tool has made: as machine code where there is some, else as text, and if the
// driver refuses that, as text without optimisation.
#pragma once

#include <functional>
#include <string>

#include "preload/guard.h"
#include "preload/hooks.h"
#include "preload/jit_options.h"

namespace barracuda::preload {

// The driver's call, of an image with options.
using LoadImage = std::function<CUresult(const void*, JitOptions&)>;

struct TextLoad {
  CUresult status = CUDA_ERROR_UNKNOWN;
  std::string refusal;  // why not, as a sentence without its end
};

TextLoad load_text(const HookScope& scope, const std::string& text, JitOptions options,
                   bool is_library, const LoadImage& load_image);

}  // namespace barracuda::preload
