#include "preload/exports.h"

#include <algorithm>
#include <array>

namespace barracuda::preload {
namespace {

// The same order as the slots. constexpr: names are needed before constructors run.
#define NAME(x) std::string_view(#x),
constexpr std::array kRuntimeNames = {
#include "emulator/cudart_names.def"
};
constexpr std::array kDriverNames = {
#include "emulator/driver_names.def"
};
#undef NAME

constexpr unsigned kRuntimeCount = kRuntimeNames.size();
constexpr unsigned kDriverCount = kDriverNames.size();
static_assert(std::ranges::is_sorted(kRuntimeNames) && std::ranges::is_sorted(kDriverNames),
              "find_export searches by halves");

template <std::size_t Count>
std::optional<unsigned> find_in(const std::array<std::string_view, Count>& names,
                                std::string_view name) {
  const auto found = std::ranges::lower_bound(names, name);
  if (found == names.end() || *found != name) {
    return std::nullopt;
  }
  return static_cast<unsigned>(found - names.begin());
}

}  // namespace

unsigned export_count() {
  return kRuntimeCount + kDriverCount;
}

std::string_view export_name(unsigned index) {
  return index < kRuntimeCount ? kRuntimeNames.at(index) : kDriverNames.at(index - kRuntimeCount);
}

ExportFace export_face(unsigned index) {
  return index < kRuntimeCount ? ExportFace::kRuntime : ExportFace::kDriver;
}

std::optional<unsigned> find_export(std::string_view name) {
  if (const std::optional<unsigned> index = find_in(kRuntimeNames, name)) {
    return index;
  }
  if (const std::optional<unsigned> index = find_in(kDriverNames, name)) {
    return *index + kRuntimeCount;
  }
  return std::nullopt;
}

}  // namespace barracuda::preload
