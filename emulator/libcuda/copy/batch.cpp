// Many copies or hints in one call.
#include <span>

#include "base/early_return.h"
#include "emulator/libcuda/copy/box.h"
#include "emulator/libcuda/memory/allocation.h"
#include "emulator/libcuda/memory/array.h"
#include "emulator/libcuda/stream/stream.h"
#include "emulator/libcuda/stream/work.h"

namespace barracuda::emulator::driver {
namespace {

std::size_t unit_of(const CUDA_MEMCPY3D_BATCH_OP& copy) {
  const std::shared_ptr<Array> array = find_array(array_of(copy));
  return array == nullptr ? 1 : array->row_bytes() / array->descriptor.Width;
}

// CUDA takes batches in streams of their own only.
CUresult check_stream(CUstream handle) {
  RETURN_IF_FAILED(require_context());
  const std::shared_ptr<Stream> stream = find_stream(handle);
  RETURN_IF(stream == nullptr, CUDA_ERROR_INVALID_HANDLE);
  return is_legacy(*stream) ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult check_ranges(const CUdeviceptr* addresses, const std::size_t* sizes, std::size_t count,
                      CUstream stream) {
  RETURN_IF_FAILED(check_stream(stream));
  RETURN_IF(addresses == nullptr || sizes == nullptr || count == 0, CUDA_ERROR_INVALID_VALUE);
  std::shared_ptr<Stream> found;
  RETURN_IF_FAILED(find_for_work(stream, found));
  for (std::size_t index = 0; index < count; ++index) {
    RETURN_IF(sizes[index] == 0 || !is_accessible(addresses[index], sizes[index]),
              CUDA_ERROR_INVALID_VALUE);
  }
  return CUDA_SUCCESS;
}

void note_prefetches(const CUdeviceptr* addresses, std::size_t count,
                     std::span<const CUmemLocation> locations, const std::size_t* first) {
  for (std::size_t index = 0, used = 0; index < count; ++index) {
    while (used + 1 < locations.size() && first[used + 1] <= index) {
      ++used;
    }
    advise(addresses[index], [&](MemoryAdvice& advice) { advice.last_prefetch = locations[used]; });
  }
}

}  // namespace

CUresult cuMemcpyBatchAsync_v2(CUdeviceptr* to, CUdeviceptr* from, std::size_t* sizes,
                               std::size_t count, CUmemcpyAttributes* attributes,
                               std::size_t* attribute_starts, std::size_t attribute_count,
                               CUstream stream) {
  RETURN_IF_FAILED(check_stream(stream));
  RETURN_IF(to == nullptr || from == nullptr || sizes == nullptr || count == 0 ||
                attributes == nullptr || attribute_starts == nullptr || attribute_count == 0 ||
                attribute_count > count || attribute_starts[0] != 0,
            CUDA_ERROR_INVALID_VALUE);
  for (std::size_t index = 0; index < count; ++index) {
    CUDA_MEMCPY3D copy{};
    copy.srcMemoryType = CU_MEMORYTYPE_UNIFIED;
    copy.srcDevice = from[index];
    copy.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
    copy.dstDevice = to[index];
    copy.WidthInBytes = sizes[index];
    copy.Height = 1;
    copy.Depth = 1;
    if (const CUresult status = submit(stream, CopyWork{copy}); status != CUDA_SUCCESS) {
      return status;
    }
  }
  return CUDA_SUCCESS;
}

CUresult cuMemcpyBatchAsync(CUdeviceptr* to, CUdeviceptr* from, std::size_t* sizes,
                            std::size_t count, CUmemcpyAttributes* attributes,
                            std::size_t* attribute_starts, std::size_t attribute_count,
                            std::size_t* failed, CUstream stream) {
  if (failed != nullptr) {
    *failed = SIZE_MAX;  // of the whole call
  }
  return driver::cuMemcpyBatchAsync_v2(to, from, sizes, count, attributes, attribute_starts,
                                       attribute_count, stream);
}

CUresult cuMemcpy3DBatchAsync_v2(std::size_t count, CUDA_MEMCPY3D_BATCH_OP* copies,
                                 unsigned long long flags, CUstream stream) {
  RETURN_IF_FAILED(check_stream(stream));
  RETURN_IF(copies == nullptr || count == 0 || flags != 0, CUDA_ERROR_INVALID_VALUE);
  for (const CUDA_MEMCPY3D_BATCH_OP& copy : std::span(copies, count)) {
    if (const CUresult status = submit(stream, CopyWork{box_of(copy, unit_of(copy))});
        status != CUDA_SUCCESS) {
      return status;
    }
  }
  return CUDA_SUCCESS;
}

CUresult cuMemcpy3DBatchAsync(std::size_t count, CUDA_MEMCPY3D_BATCH_OP* copies,
                              std::size_t* failed, unsigned long long flags, CUstream stream) {
  if (failed != nullptr) {
    *failed = SIZE_MAX;
  }
  return driver::cuMemcpy3DBatchAsync_v2(count, copies, flags, stream);
}

CUresult cuMemPrefetchBatchAsync(CUdeviceptr* addresses, std::size_t* sizes, std::size_t count,
                                 CUmemLocation* locations, std::size_t* location_starts,
                                 std::size_t location_count, unsigned long long flags,
                                 CUstream stream) {
  RETURN_IF(locations == nullptr || location_starts == nullptr || location_count == 0 || flags != 0,
            CUDA_ERROR_INVALID_VALUE);
  const CUresult status = check_ranges(addresses, sizes, count, stream);
  if (status == CUDA_SUCCESS) {
    note_prefetches(addresses, count, std::span(locations, location_count), location_starts);
  }
  return status;
}

// What is discarded may still be read here.
CUresult cuMemDiscardBatchAsync(CUdeviceptr* addresses, std::size_t* sizes, std::size_t count,
                                unsigned long long flags, CUstream stream) {
  return flags != 0 ? CUDA_ERROR_INVALID_VALUE : check_ranges(addresses, sizes, count, stream);
}

CUresult cuMemDiscardAndPrefetchBatchAsync(CUdeviceptr* addresses, std::size_t* sizes,
                                           std::size_t count, CUmemLocation* locations,
                                           std::size_t* location_starts, std::size_t location_count,
                                           unsigned long long flags, CUstream stream) {
  return driver::cuMemPrefetchBatchAsync(addresses, sizes, count, locations, location_starts,
                                         location_count, flags, stream);
}

}  // namespace barracuda::emulator::driver
