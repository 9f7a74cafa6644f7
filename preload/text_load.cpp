#include "preload/text_load.h"

#include <string_view>

#include "preload/machine_code.h"

namespace barracuda::preload {
namespace {

using session::Session;

// Filled by the driver's compiler; it may do so later than the call that hands it over.
char g_jit_log[8192];

std::string refusal_of(CUresult status) {
  std::string text = g_jit_log;
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) {
    text.pop_back();
  }
  for (char& character : text) {
    character = character == '\n' ? ' ' : character;
  }
  return "the driver refused its instrumented PTX (error " + std::to_string(status) +
         (text.empty() ? ")" : ": " + text + ")");
}

CUresult load_optimised(const HookScope& scope, const std::string& text, JitOptions& options,
                        bool is_library, const LoadImage& load_image) {
  std::string_view code;
  scope.run(Loss::kNothing, [&](Session&) {
    code = find_machine_code(text, options, is_library);
  });  // the driver compiles
  const CUresult of_code =
      code.empty() ? CUDA_ERROR_INVALID_IMAGE : load_image(code.data(), options);
  if (of_code == CUDA_SUCCESS) {
    return of_code;
  }
  const CUresult of_text = load_image(text.c_str(), options);
  // Memory that could not be had says nothing of the code.
  if (!code.empty() && of_code != CUDA_ERROR_OUT_OF_MEMORY) {
    scope.run(Loss::kNothing, [&](Session&) {
      forget_machine_code(text, options, is_library, of_text == CUDA_SUCCESS);
    });
  }
  return of_text;
}

}  // namespace

TextLoad load_text(const HookScope& scope, const std::string& text, JitOptions options,
                   bool is_library, const LoadImage& load_image) {
  TextLoad load;
  load.status = load_optimised(scope, text, options, is_library, load_image);
  if (load.status == CUDA_SUCCESS) {
    return load;
  }
  g_jit_log[0] = '\0';
  options.set(CU_JIT_OPTIMIZATION_LEVEL, nullptr);
  options.set(CU_JIT_ERROR_LOG_BUFFER, g_jit_log);
  // NOLINTNEXTLINE(performance-no-int-to-ptr): as CUDA wants the size
  void* const bytes = reinterpret_cast<void*>(sizeof g_jit_log - 1);
  options.set(CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, bytes);
  load.status = load_image(text.c_str(), options);
  if (load.status != CUDA_SUCCESS) {
    load.refusal = refusal_of(load.status);
  }
  return load;
}

}  // namespace barracuda::preload
