#include <atomic>

#include "emulator/libcudart/driver_calls.h"

namespace barracuda::emulator::runtime {
namespace {

thread_local cudaError_t t_last_error = cudaSuccess;
// What a failed kernel left behind: it stays until the device is reset.
std::atomic<cudaError_t> g_failure{cudaSuccess};

bool is_lasting(cudaError_t error) {
  switch (static_cast<int>(error)) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
      return true;
    default:
      return false;
  }
}

}  // namespace

cudaError_t note(cudaError_t error) {
  if (error != cudaSuccess) {
    t_last_error = error;
    if (is_lasting(error)) {
      g_failure = error;
    }
  }
  return error;
}

cudaError_t note(CUresult status) {
  return note(static_cast<cudaError_t>(status));
}

void forget_failure() {
  g_failure = cudaSuccess;
  t_last_error = cudaSuccess;
}

cudaError_t cudaGetLastError() {
  const cudaError_t error = t_last_error;
  t_last_error = g_failure;
  return error;
}

cudaError_t cudaPeekAtLastError() {
  return t_last_error;
}

const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
#define ERROR(code, text) \
  case code:              \
    return #code;
#include "emulator/libcudart/errors.def"
#undef ERROR
  }
  return "unrecognized error code";
}

const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
#define ERROR(code, text) \
  case code:              \
    return text;
#include "emulator/libcudart/errors.def"
#undef ERROR
  }
  return "unrecognized error code";
}

}  // namespace barracuda::emulator::runtime
