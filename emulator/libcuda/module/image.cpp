#include "emulator/libcuda/module/image.h"

#include <mutex>
#include <set>

#include "emulator/libcuda.h"
#include "emulator/libcuda/context/device.h"
#include "fatbin/fatbin.h"
#include "ptx/device_runtime.h"
#include "ptx/link.h"
#include "ptx/parse.h"
#include "ptx/print.h"

namespace barracuda::emulator::driver {
namespace {

using Refused = tl::unexpected<ImageRefusal>;

constexpr std::uint32_t kArchitecture = 90;

Refused refused(CUresult status, std::string reason) {
  return Refused(ImageRefusal{.status = status, .reason = std::move(reason)});
}

Refused no_ptx(const fatbin::Fatbin& binary) {
  std::set<std::string> targets;
  const auto add = [&](const fatbin::Container& container) {
    for (const fatbin::Image& image : container.images) {
      targets.insert(image.target());
    }
  };
  add(binary.main);
  for (const fatbin::Container& unit : binary.units) {
    add(unit);
  }
  std::string list;
  for (const std::string& target : targets) {
    list += (list.empty() ? "" : ", ") + target;
  }
  return refused(CUDA_ERROR_NO_BINARY_FOR_GPU, list.empty()
                                                   ? "the fat binary holds no image"
                                                   : "the fat binary holds no PTX, only " + list);
}

tl::expected<std::vector<std::string>, ImageRefusal> units_of_fatbin(const void* image) {
  const Expected<fatbin::Fatbin> binary = fatbin::read(image);
  if (!binary) {
    return refused(CUDA_ERROR_INVALID_IMAGE, binary.error().to_string());
  }
  std::vector<std::string> units;
  for (const fatbin::Container& unit : binary->translation_units()) {
    const fatbin::Image* ptx = fatbin::best_ptx_for_emulator(unit, kArchitecture);
    if (ptx != nullptr) {
      units.push_back(ptx->payload);
    } else if (!unit.images.empty()) {
      return no_ptx(*binary);
    }
  }
  if (units.empty()) {
    return no_ptx(*binary);
  }
  return units;
}

bool is_complete(const std::vector<std::string>& units) {
  return units.size() == 1 && !ptx::may_need_device_runtime(units.front());
}

tl::expected<ptx::Module, ImageRefusal> parse_units(std::vector<std::string> units) {
  const bool is_linked = is_complete(units);
  std::vector<ptx::Module> modules;
  for (std::string& unit : units) {
    Expected<ptx::Module> module = ptx::parse(std::move(unit));
    if (!module) {
      return refused(CUDA_ERROR_INVALID_PTX, module.error().to_string());
    }
    modules.push_back(std::move(*module));
  }
  if (is_linked) {
    return std::move(modules.front());
  }
  if (const Expected<void> added = ptx::add_device_runtime(modules); !added) {
    return refused(CUDA_ERROR_INVALID_PTX, added.error().to_string());
  }
  Expected<ptx::Module> linked = ptx::link(std::move(modules));
  if (!linked) {
    return refused(CUDA_ERROR_INVALID_PTX, linked.error().to_string());
  }
  return std::move(*linked);
}

struct Refusals {
  std::mutex mutex;
  std::vector<std::string> reasons;
};

Refusals& refusals() {
  static auto* const instance = new Refusals;
  return *instance;
}

}  // namespace

tl::expected<std::vector<std::string>, ImageRefusal> ptx_units(const void* image) {
  switch (fatbin::kind_of_image(image)) {
    case fatbin::ImageKind::kWrapper:
    case fatbin::ImageKind::kHeader:
      return units_of_fatbin(image);
    case fatbin::ImageKind::kPtxText:
      return std::vector{std::string(static_cast<const char*>(image))};
    case fatbin::ImageKind::kCubin:
      return refused(CUDA_ERROR_NO_BINARY_FOR_GPU, "the image is machine code without PTX");
    case fatbin::ImageKind::kUnknown:
      break;
  }
  return refused(CUDA_ERROR_INVALID_IMAGE, "the image is neither PTX nor a fat binary");
}

tl::expected<std::string, ImageRefusal> link_units(std::vector<std::string> units) {
  if (is_complete(units)) {
    return std::move(units.front());
  }
  return parse_units(std::move(units)).map(ptx::print);
}

tl::expected<ptx::Module, ImageRefusal> module_of_image(const void* image) {
  return ptx_units(image).and_then(parse_units);
}

void remember(const ImageRefusal& refusal) {
  const std::lock_guard lock(refusals().mutex);
  refusals().reasons.push_back(refusal.reason);
}

std::vector<std::string> refused_images() {
  const std::lock_guard lock(refusals().mutex);
  return refusals().reasons;
}

}  // namespace barracuda::emulator::driver
