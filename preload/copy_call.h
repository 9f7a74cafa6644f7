// What a call of one of the COPY_HOOK functions of emulator/libcuda.def does, by its arguments: one
// overload for each signature. A stream that comes last is left out.
#pragma once

#include "preload/copy_description.h"

namespace barracuda::preload {

class CopyCall {
 public:
  CopyCall(session::Session& session, CallForm form) : session_(session), form_(form) {}

  // One row.
  session::CopyRequest operator()(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) const {
    return row(on_device(to), on_device(from), bytes);
  }

  session::CopyRequest operator()(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext,
                                  std::size_t bytes) const {
    return row(on_device(to), on_device(from), bytes);
  }

  session::CopyRequest operator()(CUdeviceptr to, const void* from, std::size_t bytes) const {
    return row(on_device(to), on_host(from), bytes);
  }

  session::CopyRequest operator()(const void* to, CUdeviceptr from, std::size_t bytes) const {
    return row(on_host(to), on_device(from), bytes);
  }

  session::CopyRequest operator()(CUarray to, std::size_t offset, CUdeviceptr from,
                                  std::size_t bytes) const {
    return row(in_array(to, offset), on_device(from), bytes);
  }

  session::CopyRequest operator()(CUdeviceptr to, CUarray from, std::size_t offset,
                                  std::size_t bytes) const {
    return row(on_device(to), in_array(from, offset), bytes);
  }

  session::CopyRequest operator()(CUarray to, std::size_t offset, const void* from,
                                  std::size_t bytes) const {
    return row(in_array(to, offset), on_host(from), bytes);
  }

  session::CopyRequest operator()(const void* to, CUarray from, std::size_t offset,
                                  std::size_t bytes) const {
    return row(on_host(to), in_array(from, offset), bytes);
  }

  session::CopyRequest operator()(CUarray to, std::size_t to_offset, CUarray from,
                                  std::size_t from_offset, std::size_t bytes) const {
    return row(in_array(to, to_offset), in_array(from, from_offset), bytes);
  }

  session::CopyRequest operator()(const CUDA_MEMCPY2D* copy) const;
  session::CopyRequest operator()(const CUDA_MEMCPY3D* copy) const;
  session::CopyRequest operator()(const CUDA_MEMCPY3D_PEER* copy) const;

  // Batches; the first forms say which of their copies failed, and attributes change no order.
  template <typename... Attributes>
  session::CopyRequest operator()(CUdeviceptr* to, CUdeviceptr* from, std::size_t* bytes,
                                  std::size_t count, CUmemcpyAttributes*, Attributes...) const {
    return batch(to, from, bytes, count);
  }

  session::CopyRequest operator()(std::size_t count, const CUDA_MEMCPY3D_BATCH_OP* copies,
                                  std::size_t*, unsigned long long) const {
    return batch(copies, count);
  }

  session::CopyRequest operator()(std::size_t count, const CUDA_MEMCPY3D_BATCH_OP* copies,
                                  unsigned long long) const {
    return batch(copies, count);
  }

  // Memsets of elements as wide as their value.
  session::CopyRequest operator()(CUdeviceptr to, unsigned char, std::size_t count) const {
    return set({.address = to, .row_bytes = count});
  }

  session::CopyRequest operator()(CUdeviceptr to, unsigned short value, std::size_t count) const {
    return set({.address = to, .row_bytes = count * sizeof value});
  }

  session::CopyRequest operator()(CUdeviceptr to, unsigned value, std::size_t count) const {
    return set({.address = to, .row_bytes = count * sizeof value});
  }

  template <typename Value>
  session::CopyRequest operator()(CUdeviceptr to, std::size_t pitch, Value value, std::size_t width,
                                  std::size_t height) const {
    return set({.address = to, .pitch = pitch, .row_bytes = width * sizeof value, .rows = height});
  }

 private:
  static CopySide in_array(CUarray array, std::size_t offset) {
    return {.type = CU_MEMORYTYPE_ARRAY, .address = offset, .array = array};
  }

  static CopySide on_device(CUdeviceptr address) {
    return {.type = CU_MEMORYTYPE_DEVICE, .address = address};
  }

  static CopySide on_host(const void* address) {
    return {.type = CU_MEMORYTYPE_HOST, .address = reinterpret_cast<std::uint64_t>(address)};
  }

  [[nodiscard]] session::CopyRequest row(const CopySide& to, const CopySide& from,
                                         std::size_t bytes) const {
    return describe_row(session_, to, from, bytes, form_);
  }

  [[nodiscard]] session::CopyRequest set(const MemsetRows& rows) const {
    return describe_memset(session_, rows, form_);
  }

  [[nodiscard]] session::CopyRequest batch(const CUdeviceptr* to, const CUdeviceptr* from,
                                           const std::size_t* bytes, std::size_t count) const;
  [[nodiscard]] session::CopyRequest batch(const CUDA_MEMCPY3D_BATCH_OP* copies,
                                           std::size_t count) const;

  session::Session& session_;
  CallForm form_;
};

}  // namespace barracuda::preload
