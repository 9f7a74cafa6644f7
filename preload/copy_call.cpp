#include "preload/copy_call.h"

#include "emulator/libcuda/copy/box.h"
#include "preload/hook.h"

namespace barracuda::preload {
namespace {

using emulator::driver::box_of;
using session::CopyRequest;
using session::HostOrder;

void add(CopyRequest& all, const CopyRequest& more) {
  all.accesses.insert(all.accesses.end(), more.accesses.begin(), more.accesses.end());
  if (more.host_order == HostOrder::kCopy) {
    all.host_order = HostOrder::kCopy;
  }
}

// What the sizes of a copy of a batch count; 0 if that is not known.
std::size_t unit_of(const CUDA_MEMCPY3D_BATCH_OP& copy) {
  static const auto get_descriptor = DRIVER_FUNCTION(cuArray3DGetDescriptor_v2);
  auto* const array = emulator::driver::array_of(copy);
  if (array == nullptr) {
    return 1;
  }
  CUDA_ARRAY3D_DESCRIPTOR descriptor{};
  return get_descriptor(&descriptor, array) == CUDA_SUCCESS
             ? emulator::driver::element_bytes(descriptor.Format, descriptor.NumChannels)
             : 0;
}

}  // namespace

CopyRequest CopyCall::operator()(const CUDA_MEMCPY2D* copy) const {
  return describe_box(session_, box_of(*copy), form_);
}

CopyRequest CopyCall::operator()(const CUDA_MEMCPY3D* copy) const {
  return describe_box(session_, *copy, form_);
}

CopyRequest CopyCall::operator()(const CUDA_MEMCPY3D_PEER* copy) const {
  return describe_box(session_, box_of(*copy), form_);
}

CopyRequest CopyCall::batch(const CUdeviceptr* to, const CUdeviceptr* from,
                            const std::size_t* bytes, std::size_t count) const {
  CopyRequest all;
  for (std::size_t i = 0; i < count; ++i) {
    add(all, row(on_device(to[i]), on_device(from[i]), bytes[i]));
  }
  return all;
}

CopyRequest CopyCall::batch(const CUDA_MEMCPY3D_BATCH_OP* copies, std::size_t count) const {
  CopyRequest all;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t unit = unit_of(copies[i]);
    if (unit == 0) {
      session_.problems().add(
          "copies of a 3D batch from or to an array of an unusual format were not checked");
      continue;
    }
    add(all, describe_box(session_, box_of(copies[i], unit), form_));
  }
  return all;
}

}  // namespace barracuda::preload
