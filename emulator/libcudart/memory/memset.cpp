#include "emulator/libcudart/driver_calls.h"

namespace barracuda::emulator::runtime {
namespace {

// A memset takes an int and uses its lowest byte.
unsigned char byte_of(int value) {
  return static_cast<unsigned char>(value);
}

struct Rows {
  CUdeviceptr to = 0;
  std::size_t pitch = 0, width = 0, height = 0;
};

// The slices of a 3D region are rows of one region where they are complete, else filled one by one.
template <typename Fill>
CUresult fill_slices(const cudaPitchedPtr& region, const cudaExtent& extent, const Fill& fill) {
  const std::size_t slice_rows = region.ysize;
  const CUdeviceptr start = device_pointer(region.ptr);
  if (extent.height == slice_rows) {
    return fill(Rows{start, region.pitch, extent.width, extent.height * extent.depth});
  }
  for (std::size_t z = 0; z < extent.depth; ++z) {
    const CUdeviceptr slice = start + z * region.pitch * slice_rows;
    const CUresult status = fill(Rows{slice, region.pitch, extent.width, extent.height});
    if (status != CUDA_SUCCESS) {
      return status;
    }
  }
  return CUDA_SUCCESS;
}

CUresult fill_now(const DriverCalls& calls, const Rows& rows, int value) {
  return (is_per_thread() ? calls.cuMemsetD2D8_v2_ptds : calls.cuMemsetD2D8_v2)(
      rows.to, rows.pitch, byte_of(value), rows.width, rows.height);
}

CUresult fill_in_stream(const DriverCalls& calls, const Rows& rows, int value, CUstream stream) {
  return calls.cuMemsetD2D8Async(rows.to, rows.pitch, byte_of(value), rows.width, rows.height,
                                 stream);
}

}  // namespace

cudaError_t cudaMemset(void* to, int value, std::size_t bytes) {
  return run([&](const DriverCalls& calls) {
    return (is_per_thread() ? calls.cuMemsetD8_v2_ptds : calls.cuMemsetD8_v2)(
        device_pointer(to), byte_of(value), bytes);
  });
}

cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream) {
  return run([&](const DriverCalls& calls) {
    return calls.cuMemsetD8Async(device_pointer(to), byte_of(value), bytes, stream_of(stream));
  });
}

cudaError_t cudaMemset2D(void* to, std::size_t pitch, int value, std::size_t width,
                         std::size_t height) {
  return run([&](const DriverCalls& calls) {
    return fill_now(calls, {device_pointer(to), pitch, width, height}, value);
  });
}

cudaError_t cudaMemset2DAsync(void* to, std::size_t pitch, int value, std::size_t width,
                              std::size_t height, cudaStream_t stream) {
  return run([&](const DriverCalls& calls) {
    return fill_in_stream(calls, {device_pointer(to), pitch, width, height}, value,
                          stream_of(stream));
  });
}

cudaError_t cudaMemset3D(cudaPitchedPtr region, int value, cudaExtent extent) {
  return run([&](const DriverCalls& calls) {
    return fill_slices(region, extent,
                       [&](const Rows& rows) { return fill_now(calls, rows, value); });
  });
}

cudaError_t cudaMemset3DAsync(cudaPitchedPtr region, int value, cudaExtent extent,
                              cudaStream_t stream) {
  return run([&](const DriverCalls& calls) {
    return fill_slices(region, extent, [&](const Rows& rows) {
      return fill_in_stream(calls, rows, value, stream_of(stream));
    });
  });
}

}  // namespace barracuda::emulator::runtime
