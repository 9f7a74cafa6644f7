// CUDA arrays: on the emulated device their memory is known, and what reaches it is checked.
#include "emulator/libcuda.h"
#include "preload/hook.h"

namespace barracuda::preload {
namespace {

using session::Session;

template <auto Hook, typename Description>
CUresult create(CUarray* array, const Description* description) {
  return call_and_note_success<Hook>(
      [&](Session& session) {
        if (const auto memory = emulator::driver::memory_of_array(*array)) {
          session.memory().allocated({.address = memory->address, .bytes = memory->bytes},
                                     "CUDA array");
        }
      },
      array, description);
}

}  // namespace

CUresult cuArrayCreate_v2(CUarray* array, const CUDA_ARRAY_DESCRIPTOR_v2* description) {
  return create<&cuArrayCreate_v2>(array, description);
}

CUresult cuArray3DCreate_v2(CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR_v2* description) {
  return create<&cuArray3DCreate_v2>(array, description);
}

CUresult cuArrayDestroy(CUarray array) {
  return note_and_call<&cuArrayDestroy>(
      [&](Session& session) {
        if (const auto memory = emulator::driver::memory_of_array(array)) {
          session.memory().before_free(memory->address);
        }
      },
      array);
}

}  // namespace barracuda::preload
