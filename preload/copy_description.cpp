#include "preload/copy_description.h"

#include "emulator/libcuda.h"
#include "emulator/libcuda/copy/box.h"

namespace barracuda::preload {
namespace {

using session::CopyRequest;
using session::HostOrder;
using session::MemoryKind;

// One side as the driver sees it; an array counts as device memory. Where the emulated device has
// it is known; on a GPU no kernel's access to one is.
struct Side {
  MemoryKind kind = MemoryKind::kDevice;
  bool is_array = false;
  std::uint64_t address = 0;
  std::size_t pitch = 0, height = 0;  // of a slice, in rows

  [[nodiscard]] bool is_host() const {
    return kind == MemoryKind::kPageable || kind == MemoryKind::kPinned;
  }
};

struct Extent {
  std::size_t row_bytes = 0, rows = 1, slices = 1;
};

MemoryKind kind_of(session::Session& session, CUmemorytype type, std::uint64_t address) {
  return type == CU_MEMORYTYPE_ARRAY ? MemoryKind::kDevice : session.driver().memory_kind(address);
}

HostOrder host_order_of(const Side& to, const Side& from, CallForm form) {
  if (to.is_host() && from.is_host()) {
    return HostOrder::kCopy;
  }
  if (form == CallForm::kAsynchronous) {
    return to.kind == MemoryKind::kPageable ? HostOrder::kCopy : HostOrder::kNothing;
  }
  // Of managed memory the driver's documents say nothing: nothing is held against it.
  if (to.is_host() || from.kind == MemoryKind::kPinned || to.kind == MemoryKind::kManaged ||
      from.kind == MemoryKind::kManaged) {
    return HostOrder::kCopy;
  }
  return from.kind == MemoryKind::kPageable ? HostOrder::kWorkBefore : HostOrder::kNothing;
}

void add_rows(CopyRequest& request, const Side& side, const Extent& extent, bool is_written) {
  if (side.is_array || side.kind == MemoryKind::kPageable || extent.row_bytes == 0 ||
      extent.rows == 0) {
    return;
  }
  const std::size_t pitch = side.pitch == 0 ? extent.row_bytes : side.pitch;
  const std::size_t height = side.height == 0 ? extent.rows : side.height;
  for (std::size_t slice = 0; slice < extent.slices; ++slice) {
    detector::MemoryRows rows{.address = side.address + slice * height * pitch,
                              .row_bytes = extent.row_bytes,
                              .pitch = pitch,
                              .rows = extent.rows,
                              .is_written = is_written};
    if (rows.pitch == rows.row_bytes) {
      rows.row_bytes *= rows.rows;
      rows.rows = 1;
    }
    request.accesses.push_back(rows);
  }
}

// The memory of an array in place of its handle.
void find_array(CUarray handle, Side& side) {
  if (const auto memory = emulator::driver::memory_of_array(handle)) {
    side = {.address = memory->address, .pitch = memory->row_bytes, .height = memory->rows};
  }
}

CopyRequest describe(const Side& to, const Side& from, const Extent& extent, CallForm form) {
  CopyRequest request;
  request.host_order = host_order_of(to, from, form);
  add_rows(request, from, extent, false);
  add_rows(request, to, extent, true);
  return request;
}

std::uint64_t address_of(CUmemorytype type, const void* host, CUdeviceptr device) {
  return type == CU_MEMORYTYPE_HOST ? reinterpret_cast<std::uint64_t>(host) : device;
}

}  // namespace

CopyRequest describe_row(session::Session& session, const CopySide& to, const CopySide& from,
                         std::size_t bytes, CallForm form) {
  const auto side = [&](const CopySide& of) {
    Side made{.kind = kind_of(session, of.type, of.address),
              .is_array = of.type == CU_MEMORYTYPE_ARRAY,
              .address = of.address};
    if (made.is_array) {
      find_array(of.array, made);
      made.address += of.address;
    }
    made.pitch = made.height = 0;
    return made;
  };
  return describe(side(to), side(from), {.row_bytes = bytes}, form);
}

CopyRequest describe_box(session::Session& session, const CUDA_MEMCPY3D& given, CallForm form) {
  const CUDA_MEMCPY3D box = emulator::driver::completed(given);
  Side from{.is_array = box.srcMemoryType == CU_MEMORYTYPE_ARRAY,
            .address = address_of(box.srcMemoryType, box.srcHost, box.srcDevice),
            .pitch = box.srcPitch,
            .height = box.srcHeight};
  Side to{.is_array = box.dstMemoryType == CU_MEMORYTYPE_ARRAY,
          .address = address_of(box.dstMemoryType, box.dstHost, box.dstDevice),
          .pitch = box.dstPitch,
          .height = box.dstHeight};
  from.kind = kind_of(session, box.srcMemoryType, from.address);
  to.kind = kind_of(session, box.dstMemoryType, to.address);
  if (from.is_array) {
    find_array(box.srcArray, from);
  }
  if (to.is_array) {
    find_array(box.dstArray, to);
  }
  from.address += (box.srcZ * from.height + box.srcY) * from.pitch + box.srcXInBytes;
  to.address += (box.dstZ * to.height + box.dstY) * to.pitch + box.dstXInBytes;
  return describe(to, from,
                  {.row_bytes = box.WidthInBytes, .rows = box.Height, .slices = box.Depth}, form);
}

CopyRequest describe_memset(session::Session& session, const MemsetRows& rows, CallForm form) {
  const MemoryKind kind = session.driver().memory_kind(rows.address);
  CopyRequest request;
  request.operation = detector::HostOperation::kMemset;
  if (form == CallForm::kSynchronous &&
      (kind == MemoryKind::kPinned || kind == MemoryKind::kManaged)) {
    request.host_order = HostOrder::kCopy;
  }
  add_rows(request, {.kind = kind, .address = rows.address, .pitch = rows.pitch},
           {.row_bytes = rows.row_bytes, .rows = rows.rows}, true);
  return request;
}

}  // namespace barracuda::preload
