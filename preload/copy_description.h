// What the driver's copies and memsets touch, and what the host knows when they return (CUDA Driver
// API, "API synchronization behavior").
#pragma once

#include "preload/hooks.h"
#include "session/session.h"

namespace barracuda::preload {

// Of the calls whose names end in Async, or of the others.
enum class CallForm : std::uint8_t { kSynchronous, kAsynchronous };

// One side of a copy of one row.
struct CopySide {
  CUmemorytype type = CU_MEMORYTYPE_DEVICE;  // unified: the driver knows
  std::uint64_t address = 0;                 // of an array, the offset in it
  CUarray array = nullptr;
};

struct MemsetRows {
  CUdeviceptr address = 0;
  std::size_t pitch = 0;
  std::size_t row_bytes = 0;
  std::size_t rows = 1;
};

// Without the stream.
session::CopyRequest describe_row(session::Session& session, const CopySide& to,
                                  const CopySide& from, std::size_t bytes, CallForm form);
session::CopyRequest describe_box(session::Session& session, const CUDA_MEMCPY3D& box,
                                  CallForm form);
session::CopyRequest describe_memset(session::Session& session, const MemsetRows& rows,
                                     CallForm form);

}  // namespace barracuda::preload
