#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>

#include "fatbin/fatbin.h"

namespace barracuda::fatbin {
namespace {

constexpr std::uint32_t major_of(std::uint32_t arch) {
  return arch / 10;
}

bool runs_on(const Image& image, std::uint32_t device_arch) {
  switch (image.variant) {
    case ArchVariant::kPlain:
      return image.arch <= device_arch;
    case ArchVariant::kFamily:
      return image.arch <= device_arch && major_of(image.arch) == major_of(device_arch);
    case ArchVariant::kArchSpecific:
      return image.arch == device_arch;
  }
  return false;
}

// The image with the highest rank; the first one of equals.
template <typename Rank>
const Image* highest(const Container& container, Rank rank) {
  const Image* best = nullptr;
  for (const Image& image : container.images) {
    if (image.kind == EntryKind::kPtx && (best == nullptr || rank(image) > rank(*best))) {
      best = &image;
    }
  }
  return best;
}

int specificity(ArchVariant variant) {
  switch (variant) {
    case ArchVariant::kPlain:
      return 0;
    case ArchVariant::kFamily:
      return 1;
    case ArchVariant::kArchSpecific:
      return 2;
  }
  return 0;
}

// Machine code runs on later architectures of the same major number alone.
bool is_code_for(const Image& image, std::uint32_t device_arch) {
  return runs_on(image, device_arch) && major_of(image.arch) == major_of(device_arch);
}

}  // namespace

std::vector<const Image*> machine_code(const Container& container) {
  std::vector<const Image*> found;
  for (const Image& image : container.images) {
    if (image.kind == EntryKind::kCubin) {
      found.push_back(&image);
    }
  }
  std::ranges::stable_sort(found, std::greater(), [](const Image* image) {
    return std::pair(image->arch, specificity(image->variant));
  });
  return found;
}

std::vector<const Image*> machine_code_for(const Container& container, std::uint32_t device_arch) {
  std::vector<const Image*> found = machine_code(container);
  std::erase_if(found, [&](const Image* image) { return !is_code_for(*image, device_arch); });
  return found;
}

const Image* best_ptx(const Container& container, std::uint32_t device_arch) {
  const Image* const best = highest(container, [device_arch](const Image& image) {
    return std::tuple(runs_on(image, device_arch), image.arch, specificity(image.variant));
  });
  return best != nullptr && runs_on(*best, device_arch) ? best : nullptr;
}

const Image* best_ptx_for_emulator(const Container& container, std::uint32_t highest_arch) {
  return highest(container, [highest_arch](const Image& image) {
    const bool is_within = image.arch <= highest_arch;
    const bool is_plain = image.variant == ArchVariant::kPlain;
    const auto arch = static_cast<std::int64_t>(image.arch);
    return is_within ? std::tuple(true, is_plain, arch) : std::tuple(false, false, -arch);
  });
}

}  // namespace barracuda::fatbin
