// The driver's linker: what it makes of PTX is known by its result (code_origins.h). On the
// emulated device the result is PTX itself, and nothing has to be known.
#include <map>
#include <mutex>

#include "base/file.h"
#include "preload/code_origins.h"
#include "preload/hook.h"
#include "preload/link_input.h"

namespace barracuda::preload {
namespace {

using session::CodeOrigin;
using session::Session;

// Never destroyed.
struct Links {
  std::mutex mutex;
  std::map<CUlinkState, CodeOrigin> by_state;
};

Links& links() {
  static auto* const instance = new Links;
  return *instance;
}

LinkInput kind_of(CUjitInputType type) {
  switch (static_cast<int>(type)) {
    case CU_JIT_INPUT_CUBIN:
      return LinkInput::kMachineCode;
    case CU_JIT_INPUT_PTX:
      return LinkInput::kPtx;
    case CU_JIT_INPUT_FATBINARY:
      return LinkInput::kFatbin;
    case CU_JIT_INPUT_OBJECT:
      return LinkInput::kObject;
    case CU_JIT_INPUT_LIBRARY:
      return LinkInput::kLibrary;
    default:
      return LinkInput::kOther;
  }
}

void note_input(CUlinkState state, CUjitInputType type, std::span<const std::byte> bytes,
                const char* name) {
  const std::lock_guard lock(links().mutex);
  add_input(links().by_state[state], kind_of(type), bytes, name);
}

}  // namespace

// NOLINTBEGIN(readability-function-size): the driver's signatures
CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void* data, size_t size,
                          const char* name, unsigned count, CUjit_option* options, void** values) {
  static const OriginalOf<&cuLinkAddData_v2> original;
  const HookScope scope;
  const CUresult status = original(state, type, data, size, name, count, options, values);
  if (status == CUDA_SUCCESS && device_choice() == DeviceChoice::kGpu) {
    scope.run(Loss::kCoverage, [&](Session&) {
      note_input(state, type, {static_cast<const std::byte*>(data), size}, name);
    });
  }
  return status;
}

CUresult cuLinkAddFile_v2(CUlinkState state, CUjitInputType type, const char* path, unsigned count,
                          CUjit_option* options, void** values) {
  static const OriginalOf<&cuLinkAddFile_v2> original;
  const HookScope scope;
  const CUresult status = original(state, type, path, count, options, values);
  if (status == CUDA_SUCCESS && device_choice() == DeviceChoice::kGpu) {
    scope.run(Loss::kCoverage, [&](Session&) {
      const Expected<MappedFile> file = MappedFile::open(path);
      note_input(state, type, file ? file->bytes() : std::span<const std::byte>(), path);
    });
  }
  return status;
}

// NOLINTEND(readability-function-size)

CUresult cuLinkComplete(CUlinkState state, void** code, size_t* size) {
  static const OriginalOf<&cuLinkComplete> original;
  const HookScope scope;
  const CUresult status = original(state, code, size);
  if (status == CUDA_SUCCESS && code != nullptr && size != nullptr &&
      device_choice() == DeviceChoice::kGpu) {
    scope.run(Loss::kCoverage, [&](Session&) {
      const std::lock_guard lock(links().mutex);
      if (const auto link = links().by_state.find(state); link != links().by_state.end()) {
        remember_origin({static_cast<const char*>(*code), *size}, link->second);
      }
    });
  }
  return status;
}

CUresult cuLinkDestroy(CUlinkState state) {
  return note_and_call<&cuLinkDestroy>(
      [state](Session&) {
        const std::lock_guard lock(links().mutex);
        links().by_state.erase(state);
      },
      state);
}

}  // namespace barracuda::preload
