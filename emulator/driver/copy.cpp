#include <cstring>

#include "emulator/driver/allocation.h"
#include "emulator/driver/stream.h"

namespace barracuda::emulator::driver {
namespace {

// What a side of a copy is said to be.
enum class Side : std::uint8_t {
  kDevice,  // inside an allocation
  kHost,    // the caller's memory: trusted, as libcuda does
  kEither,  // unified addressing tells
};

bool is_valid(Side side, std::uint64_t address, std::size_t bytes) {
  switch (side) {
    case Side::kDevice:
      return is_accessible(address, bytes);
    case Side::kHost:
      return address != 0 || bytes == 0;
    case Side::kEither:
      return is_copyable(address, bytes);
  }
  return false;
}

struct Copy {
  std::uint64_t to = 0;
  Side to_side = Side::kDevice;
  std::uint64_t from = 0;
  Side from_side = Side::kDevice;
  std::size_t bytes = 0;
};

CUresult run(const Copy& copy, CUstream stream) {
  const StreamTurn turn(stream);
  if (turn.status() != CUDA_SUCCESS) {
    return turn.status();
  }
  if (!is_valid(copy.to_side, copy.to, copy.bytes) ||
      !is_valid(copy.from_side, copy.from, copy.bytes)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (copy.bytes != 0) {
    std::memmove(reinterpret_cast<void*>(copy.to), reinterpret_cast<const void*>(copy.from),
                 copy.bytes);
  }
  return CUDA_SUCCESS;
}

CUresult copy_either(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return run({.to = to,
              .to_side = Side::kEither,
              .from = from,
              .from_side = Side::kEither,
              .bytes = bytes},
             stream);
}

CUresult copy_to_device(CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream) {
  return run({.to = to,
              .to_side = Side::kDevice,
              .from = reinterpret_cast<std::uint64_t>(from),
              .from_side = Side::kHost,
              .bytes = bytes},
             stream);
}

CUresult copy_to_host(void* to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return run({.to = reinterpret_cast<std::uint64_t>(to),
              .to_side = Side::kHost,
              .from = from,
              .from_side = Side::kDevice,
              .bytes = bytes},
             stream);
}

CUresult copy_on_device(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return run({.to = to,
              .to_side = Side::kDevice,
              .from = from,
              .from_side = Side::kDevice,
              .bytes = bytes},
             stream);
}

bool are_contexts(CUcontext first, CUcontext second) {
  return find_context(first) != nullptr && find_context(second) != nullptr;
}

}  // namespace

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  return copy_either(to, from, bytes, nullptr);
}

CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return copy_either(to, from, bytes, stream);
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, std::size_t bytes) {
  return copy_to_device(to, from, bytes, nullptr);
}

CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, std::size_t bytes) {
  return copy_to_host(to, from, bytes, nullptr);
}

CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  return copy_on_device(to, from, bytes, nullptr);
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, std::size_t bytes,
                              CUstream stream) {
  return copy_to_device(to, from, bytes, stream);
}

CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return copy_to_host(to, from, bytes, stream);
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, std::size_t bytes,
                              CUstream stream) {
  return copy_on_device(to, from, bytes, stream);
}

CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                      CUcontext from_context, std::size_t bytes) {
  return driver::cuMemcpyPeerAsync(to, to_context, from, from_context, bytes, nullptr);
}

CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                           CUcontext from_context, std::size_t bytes, CUstream stream) {
  if (!are_contexts(to_context, from_context)) {
    return CUDA_ERROR_INVALID_CONTEXT;
  }
  return copy_on_device(to, from, bytes, stream);
}

}  // namespace barracuda::emulator::driver
