// Memsets: but for pinned and managed memory the host waits for none of them.
#include "preload/copy_description.h"
#include "preload/submit_copy.h"

namespace barracuda::preload {
namespace {

using session::Session;

template <typename... Arguments>
CUresult set(const Original<CUresult(Arguments...)>& original, DefaultStream meaning,
             const MemsetRows& rows, Arguments... arguments) {
  return submit_copy(
      original, default_stream(meaning),
      [&](Session& session) { return describe_memset(session, rows, CallForm::kSynchronous); },
      arguments...);
}

template <typename... Arguments>
CUresult set_in(session::Handle stream, const Original<CUresult(Arguments...)>& original,
                const MemsetRows& rows, Arguments... arguments) {
  return submit_copy(
      original, stream,
      [&](Session& session) { return describe_memset(session, rows, CallForm::kAsynchronous); },
      arguments...);
}

MemsetRows row(CUdeviceptr to, std::size_t bytes) {
  return {.address = to, .row_bytes = bytes};
}

MemsetRows rows(CUdeviceptr to, std::size_t pitch, std::size_t bytes, std::size_t height) {
  return {.address = to, .pitch = pitch, .row_bytes = bytes, .rows = height};
}

}  // namespace

CUresult set_8(CUdeviceptr to, unsigned char value, std::size_t count) {
  static const Original<decltype(set_8)> original{"cuMemsetD8_v2"};
  return set(original, DefaultStream::kLegacy, row(to, count), to, value, count);
}

CUresult set_8_ptds(CUdeviceptr to, unsigned char value, std::size_t count) {
  static const Original<decltype(set_8)> original{"cuMemsetD8_v2_ptds"};
  return set(original, DefaultStream::kPerThread, row(to, count), to, value, count);
}

CUresult set_8_async(CUdeviceptr to, unsigned char value, std::size_t count, CUstream stream) {
  static const Original<decltype(set_8_async)> original{"cuMemsetD8Async"};
  return set_in(stream_handle(stream, DefaultStream::kLegacy), original, row(to, count), to, value,
                count, stream);
}

CUresult set_8_async_ptsz(CUdeviceptr to, unsigned char value, std::size_t count, CUstream stream) {
  static const Original<decltype(set_8_async)> original{"cuMemsetD8Async_ptsz"};
  return set_in(stream_handle(stream, DefaultStream::kPerThread), original, row(to, count), to,
                value, count, stream);
}

CUresult set_2d_8(CUdeviceptr to, std::size_t pitch, unsigned char value, std::size_t width,
                  std::size_t height) {
  static const Original<decltype(set_2d_8)> original{"cuMemsetD2D8_v2"};
  return set(original, DefaultStream::kLegacy, rows(to, pitch, width, height), to, pitch, value,
             width, height);
}

CUresult set_2d_8_ptds(CUdeviceptr to, std::size_t pitch, unsigned char value, std::size_t width,
                       std::size_t height) {
  static const Original<decltype(set_2d_8)> original{"cuMemsetD2D8_v2_ptds"};
  return set(original, DefaultStream::kPerThread, rows(to, pitch, width, height), to, pitch, value,
             width, height);
}

CUresult set_2d_8_async(CUdeviceptr to, std::size_t pitch, unsigned char value, std::size_t width,
                        std::size_t height, CUstream stream) {
  static const Original<decltype(set_2d_8_async)> original{"cuMemsetD2D8Async"};
  return set_in(stream_handle(stream, DefaultStream::kLegacy), original,
                rows(to, pitch, width, height), to, pitch, value, width, height, stream);
}

CUresult set_2d_8_async_ptsz(CUdeviceptr to, std::size_t pitch, unsigned char value,
                             std::size_t width, std::size_t height, CUstream stream) {
  static const Original<decltype(set_2d_8_async)> original{"cuMemsetD2D8Async_ptsz"};
  return set_in(stream_handle(stream, DefaultStream::kPerThread), original,
                rows(to, pitch, width, height), to, pitch, value, width, height, stream);
}

CUresult set_16(CUdeviceptr to, unsigned short value, std::size_t count) {
  static const Original<decltype(set_16)> original{"cuMemsetD16_v2"};
  return set(original, DefaultStream::kLegacy, row(to, count * 2), to, value, count);
}

CUresult set_16_ptds(CUdeviceptr to, unsigned short value, std::size_t count) {
  static const Original<decltype(set_16)> original{"cuMemsetD16_v2_ptds"};
  return set(original, DefaultStream::kPerThread, row(to, count * 2), to, value, count);
}

CUresult set_16_async(CUdeviceptr to, unsigned short value, std::size_t count, CUstream stream) {
  static const Original<decltype(set_16_async)> original{"cuMemsetD16Async"};
  return set_in(stream_handle(stream, DefaultStream::kLegacy), original, row(to, count * 2), to,
                value, count, stream);
}

CUresult set_16_async_ptsz(CUdeviceptr to, unsigned short value, std::size_t count,
                           CUstream stream) {
  static const Original<decltype(set_16_async)> original{"cuMemsetD16Async_ptsz"};
  return set_in(stream_handle(stream, DefaultStream::kPerThread), original, row(to, count * 2), to,
                value, count, stream);
}

CUresult set_2d_16(CUdeviceptr to, std::size_t pitch, unsigned short value, std::size_t width,
                   std::size_t height) {
  static const Original<decltype(set_2d_16)> original{"cuMemsetD2D16_v2"};
  return set(original, DefaultStream::kLegacy, rows(to, pitch, width * 2, height), to, pitch, value,
             width, height);
}

CUresult set_2d_16_ptds(CUdeviceptr to, std::size_t pitch, unsigned short value, std::size_t width,
                        std::size_t height) {
  static const Original<decltype(set_2d_16)> original{"cuMemsetD2D16_v2_ptds"};
  return set(original, DefaultStream::kPerThread, rows(to, pitch, width * 2, height), to, pitch,
             value, width, height);
}

CUresult set_2d_16_async(CUdeviceptr to, std::size_t pitch, unsigned short value, std::size_t width,
                         std::size_t height, CUstream stream) {
  static const Original<decltype(set_2d_16_async)> original{"cuMemsetD2D16Async"};
  return set_in(stream_handle(stream, DefaultStream::kLegacy), original,
                rows(to, pitch, width * 2, height), to, pitch, value, width, height, stream);
}

CUresult set_2d_16_async_ptsz(CUdeviceptr to, std::size_t pitch, unsigned short value,
                              std::size_t width, std::size_t height, CUstream stream) {
  static const Original<decltype(set_2d_16_async)> original{"cuMemsetD2D16Async_ptsz"};
  return set_in(stream_handle(stream, DefaultStream::kPerThread), original,
                rows(to, pitch, width * 2, height), to, pitch, value, width, height, stream);
}

CUresult set_32(CUdeviceptr to, unsigned value, std::size_t count) {
  static const Original<decltype(set_32)> original{"cuMemsetD32_v2"};
  return set(original, DefaultStream::kLegacy, row(to, count * 4), to, value, count);
}

CUresult set_32_ptds(CUdeviceptr to, unsigned value, std::size_t count) {
  static const Original<decltype(set_32)> original{"cuMemsetD32_v2_ptds"};
  return set(original, DefaultStream::kPerThread, row(to, count * 4), to, value, count);
}

CUresult set_32_async(CUdeviceptr to, unsigned value, std::size_t count, CUstream stream) {
  static const Original<decltype(set_32_async)> original{"cuMemsetD32Async"};
  return set_in(stream_handle(stream, DefaultStream::kLegacy), original, row(to, count * 4), to,
                value, count, stream);
}

CUresult set_32_async_ptsz(CUdeviceptr to, unsigned value, std::size_t count, CUstream stream) {
  static const Original<decltype(set_32_async)> original{"cuMemsetD32Async_ptsz"};
  return set_in(stream_handle(stream, DefaultStream::kPerThread), original, row(to, count * 4), to,
                value, count, stream);
}

CUresult set_2d_32(CUdeviceptr to, std::size_t pitch, unsigned value, std::size_t width,
                   std::size_t height) {
  static const Original<decltype(set_2d_32)> original{"cuMemsetD2D32_v2"};
  return set(original, DefaultStream::kLegacy, rows(to, pitch, width * 4, height), to, pitch, value,
             width, height);
}

CUresult set_2d_32_ptds(CUdeviceptr to, std::size_t pitch, unsigned value, std::size_t width,
                        std::size_t height) {
  static const Original<decltype(set_2d_32)> original{"cuMemsetD2D32_v2_ptds"};
  return set(original, DefaultStream::kPerThread, rows(to, pitch, width * 4, height), to, pitch,
             value, width, height);
}

CUresult set_2d_32_async(CUdeviceptr to, std::size_t pitch, unsigned value, std::size_t width,
                         std::size_t height, CUstream stream) {
  static const Original<decltype(set_2d_32_async)> original{"cuMemsetD2D32Async"};
  return set_in(stream_handle(stream, DefaultStream::kLegacy), original,
                rows(to, pitch, width * 4, height), to, pitch, value, width, height, stream);
}

CUresult set_2d_32_async_ptsz(CUdeviceptr to, std::size_t pitch, unsigned value, std::size_t width,
                              std::size_t height, CUstream stream) {
  static const Original<decltype(set_2d_32_async)> original{"cuMemsetD2D32Async_ptsz"};
  return set_in(stream_handle(stream, DefaultStream::kPerThread), original,
                rows(to, pitch, width * 4, height), to, pitch, value, width, height, stream);
}

}  // namespace barracuda::preload
