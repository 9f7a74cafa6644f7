// Texture and surface objects. One is a view of memory (emulator/texture.h), and what the program
// has said of it.
#include "emulator/texture.h"

#include <map>
#include <mutex>
#include <optional>

#include "base/early_return.h"
#include "emulator/libcuda.h"
#include "emulator/libcuda/copy/box.h"
#include "emulator/libcuda/memory/allocation.h"
#include "emulator/libcuda/memory/array.h"
#include "emulator/libcuda/stream/stream.h"

namespace barracuda::emulator::driver {
namespace {

struct Object {
  Context* context = nullptr;
  CUDA_RESOURCE_DESC resource{};
  CUDA_TEXTURE_DESC texture{};
  bool is_surface = false;
};

// Thread-safe.
class Objects {
 public:
  std::uint64_t add(const TextureView& view, const Object& object) {
    const std::uint64_t handle = machine().textures().add(view);
    const std::lock_guard lock(mutex_);
    by_handle_.emplace(handle, object);
    return handle;
  }

  CUresult remove(std::uint64_t handle, bool is_surface) {
    const std::lock_guard lock(mutex_);
    const auto found = by_handle_.find(handle);
    RETURN_IF(found == by_handle_.end() || found->second.is_surface != is_surface,
              CUDA_ERROR_INVALID_VALUE);
    machine().textures().remove(handle);
    by_handle_.erase(found);
    return CUDA_SUCCESS;
  }

  [[nodiscard]] std::optional<Object> find(std::uint64_t handle, bool is_surface) const {
    const std::lock_guard lock(mutex_);
    const auto found = by_handle_.find(handle);
    return found == by_handle_.end() || found->second.is_surface != is_surface
               ? std::nullopt
               : std::optional(found->second);
  }

  void remove_of(const Context& context) {
    const std::lock_guard lock(mutex_);
    std::erase_if(by_handle_, [&](const auto& entry) {
      const bool is_gone = entry.second.context == &context;
      if (is_gone) {
        machine().textures().remove(entry.first);
      }
      return is_gone;
    });
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::uint64_t, Object> by_handle_;
};

Objects& objects() {
  static auto* const instance = new Objects;
  return *instance;
}

CUresult set_format(CUarray_format format, unsigned channels, TextureView& view) {
  RETURN_IF(channels != 1 && channels != 2 && channels != 4, CUDA_ERROR_INVALID_VALUE);
  const std::size_t bytes = element_bytes(format, 1);
  RETURN_IF(bytes == 0, CUDA_ERROR_NOT_SUPPORTED);
  const bool is_float = format == CU_AD_FORMAT_HALF || format == CU_AD_FORMAT_FLOAT;
  const bool is_signed = format == CU_AD_FORMAT_SIGNED_INT8 ||
                         format == CU_AD_FORMAT_SIGNED_INT16 || format == CU_AD_FORMAT_SIGNED_INT32;
  view.kind = is_float ? TexelKind::kFloat : is_signed ? TexelKind::kSigned : TexelKind::kUnsigned;
  view.channels = static_cast<std::uint8_t>(channels);
  view.channel_bytes = static_cast<std::uint8_t>(bytes);
  return CUDA_SUCCESS;
}

CUresult view_array(CUarray handle, TextureView& view) {
  const std::shared_ptr<Array> array = find_array(handle);
  RETURN_IF(array == nullptr, CUDA_ERROR_INVALID_HANDLE);
  const CUDA_ARRAY3D_DESCRIPTOR_v2& given = array->descriptor;
  RETURN_IF((given.Flags & CUDA_ARRAY3D_CUBEMAP) != 0, CUDA_ERROR_NOT_SUPPORTED);
  RETURN_IF_FAILED(set_format(given.Format, given.NumChannels, view));
  view.address = array->address;
  view.width = static_cast<std::uint32_t>(given.Width);
  view.height = static_cast<std::uint32_t>(array->rows());
  view.depth = static_cast<std::uint32_t>(array->layers());
  view.row_bytes = array->row_bytes();
  view.slice_bytes = array->row_bytes() * array->rows();
  view.is_layered = (given.Flags & CUDA_ARRAY3D_LAYERED) != 0;
  const bool has_depth = given.Depth != 0 && !view.is_layered;
  view.dimensions = has_depth ? 3 : given.Height != 0 ? 2 : 1;
  return CUDA_SUCCESS;
}

// CUDA's limits of compute capability 9.0 (Programming Guide, "Technical Specifications").
constexpr std::size_t kMostLinearTexels = std::size_t{1} << 28, kMostPitchedWidth = 131072,
                      kMostPitchedHeight = 65000, kMostPitch = 2097120;

CUresult view_linear(const CUDA_RESOURCE_DESC& resource, TextureView& view) {
  const auto& linear = resource.res.linear;
  RETURN_IF_FAILED(set_format(linear.format, linear.numChannels, view));
  RETURN_IF(!find_memory(linear.devPtr) || linear.devPtr % view.texel_bytes() != 0,
            CUDA_ERROR_INVALID_VALUE);
  view.address = linear.devPtr;
  const std::size_t texels = linear.sizeInBytes / view.texel_bytes();
  RETURN_IF(texels == 0 || texels > kMostLinearTexels, CUDA_ERROR_INVALID_VALUE);
  view.width = static_cast<std::uint32_t>(texels);
  view.is_linear = true;
  return CUDA_SUCCESS;
}

CUresult view_pitched(const CUDA_RESOURCE_DESC& resource, TextureView& view) {
  const auto& pitched = resource.res.pitch2D;
  RETURN_IF_FAILED(set_format(pitched.format, pitched.numChannels, view));
  RETURN_IF(pitched.width > kMostPitchedWidth || pitched.height > kMostPitchedHeight ||
                pitched.pitchInBytes > kMostPitch,
            CUDA_ERROR_INVALID_VALUE);
  const std::size_t row = pitched.width * view.texel_bytes();
  RETURN_IF(!find_memory(pitched.devPtr) || row == 0 || pitched.height == 0 ||
                pitched.pitchInBytes < row || pitched.devPtr % view.texel_bytes() != 0 ||
                pitched.pitchInBytes % view.texel_bytes() != 0,
            CUDA_ERROR_INVALID_VALUE);
  view.address = pitched.devPtr;
  view.width = static_cast<std::uint32_t>(pitched.width);
  view.height = static_cast<std::uint32_t>(pitched.height);
  view.row_bytes = pitched.pitchInBytes;
  view.dimensions = 2;
  return CUDA_SUCCESS;
}

CUresult view_resource(const CUDA_RESOURCE_DESC& resource, TextureView& view) {
  switch (resource.resType) {
    case CU_RESOURCE_TYPE_ARRAY:
      return view_array(resource.res.array.hArray, view);
    case CU_RESOURCE_TYPE_LINEAR:
      return view_linear(resource, view);
    case CU_RESOURCE_TYPE_PITCH2D:
      return view_pitched(resource, view);
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
      return CUDA_ERROR_NOT_SUPPORTED;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

std::optional<AddressMode> mode_of(CUaddress_mode mode) {
  switch (mode) {
    case CU_TR_ADDRESS_MODE_WRAP:
      return AddressMode::kWrap;
    case CU_TR_ADDRESS_MODE_CLAMP:
      return AddressMode::kClamp;
    case CU_TR_ADDRESS_MODE_MIRROR:
      return AddressMode::kMirror;
    case CU_TR_ADDRESS_MODE_BORDER:
      return AddressMode::kBorder;
  }
  return std::nullopt;
}

// How the texels are read.
CUresult set_sampling(const CUDA_TEXTURE_DESC& texture, TextureView& view) {
  RETURN_IF((texture.flags & CU_TRSF_SRGB) != 0, CUDA_ERROR_NOT_SUPPORTED);
  for (std::size_t i = 0; i < view.modes.size(); ++i) {
    const std::optional<AddressMode> mode = mode_of(texture.addressMode[i]);
    RETURN_IF(!mode, CUDA_ERROR_INVALID_VALUE);
    view.modes.at(i) = *mode;
    view.border.at(i) = texture.borderColor[i];
  }
  view.border[3] = texture.borderColor[3];
  if (view.is_linear) {
    view.border = {};  // it has no address mode
  }
  view.is_normalised = (texture.flags & CU_TRSF_NORMALIZED_COORDINATES) != 0;
  view.makes_fractions = view.kind != TexelKind::kFloat && view.channel_bytes != 4 &&
                         (texture.flags & CU_TRSF_READ_AS_INTEGER) == 0;
  view.interpolates = texture.filterMode == CU_TR_FILTER_MODE_LINEAR && !view.is_linear;
  const bool gives_floats = view.kind == TexelKind::kFloat || view.makes_fractions;
  return view.interpolates && !gives_floats ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

template <typename Description>
CUresult tell(Description* to, std::uint64_t handle, bool is_surface,
              Description Object::* description) {
  const std::optional<Object> object = objects().find(handle, is_surface);
  RETURN_IF(to == nullptr || !object, CUDA_ERROR_INVALID_VALUE);
  *to = (*object).*description;
  return CUDA_SUCCESS;
}

}  // namespace

void release_textures(const Context& context) {
  objects().remove_of(context);
}

CUresult cuTexObjectCreate(CUtexObject* result, const CUDA_RESOURCE_DESC* resource,
                           const CUDA_TEXTURE_DESC* texture, const CUDA_RESOURCE_VIEW_DESC* view) {
  RETURN_IF(result == nullptr || resource == nullptr || texture == nullptr,
            CUDA_ERROR_INVALID_VALUE);
  RETURN_IF(view != nullptr && view->format != CU_RES_VIEW_FORMAT_NONE, CUDA_ERROR_NOT_SUPPORTED);
  TextureView made;
  RETURN_IF_FAILED(view_resource(*resource, made));
  RETURN_IF_FAILED(set_sampling(*texture, made));
  *result = objects().add(made, {.context = current_context(),
                                 .resource = *resource,
                                 .texture = *texture,
                                 .is_surface = false});
  return CUDA_SUCCESS;
}

CUresult cuTexObjectDestroy(CUtexObject handle) {
  finish_all_streams();
  return objects().remove(handle, false);
}

CUresult cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC* to, CUtexObject handle) {
  return tell(to, handle, false, &Object::resource);
}

CUresult cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC* to, CUtexObject handle) {
  return tell(to, handle, false, &Object::texture);
}

// No texture has one.
CUresult cuTexObjectGetResourceViewDesc(CUDA_RESOURCE_VIEW_DESC* /*to*/, CUtexObject /*handle*/) {
  return CUDA_ERROR_INVALID_VALUE;
}

// The array must have been made for it, as on a GPU.
CUresult cuSurfObjectCreate(CUsurfObject* result, const CUDA_RESOURCE_DESC* resource) {
  RETURN_IF(result == nullptr || resource == nullptr || resource->resType != CU_RESOURCE_TYPE_ARRAY,
            CUDA_ERROR_INVALID_VALUE);
  TextureView made{.is_surface = true};
  const std::shared_ptr<Array> array = find_array(resource->res.array.hArray);
  RETURN_IF(array == nullptr, CUDA_ERROR_INVALID_HANDLE);
  RETURN_IF((array->descriptor.Flags & CUDA_ARRAY3D_SURFACE_LDST) == 0, CUDA_ERROR_INVALID_VALUE);
  RETURN_IF_FAILED(view_array(resource->res.array.hArray, made));
  *result = objects().add(
      made, {.context = current_context(), .resource = *resource, .is_surface = true});
  return CUDA_SUCCESS;
}

CUresult cuSurfObjectDestroy(CUsurfObject handle) {
  finish_all_streams();
  return objects().remove(handle, true);
}

CUresult cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC* to, CUsurfObject handle) {
  return tell(to, handle, true, &Object::resource);
}

}  // namespace barracuda::emulator::driver
