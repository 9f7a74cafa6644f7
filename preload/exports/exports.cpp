#include "preload/exports.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "base/assert.h"

namespace barracuda::preload {
namespace {

template <std::size_t Count>
consteval bool is_each_there_once(std::array<std::string_view, Count> names) {
  std::ranges::sort(names);
  return std::ranges::adjacent_find(names) == names.end();
}

#define FUNCTION(name, ...) std::string_view(#name),
constexpr std::array kCudaNames = {
#include "emulator/libcuda.def"
};
static_assert(is_each_there_once(kCudaNames));

struct RuntimeRow {
  std::string_view name;
  int first, last;  // of the libraries that it speaks of

  [[nodiscard]] constexpr bool is_in(int library) const {
    return first <= library && library <= last;
  }
};

#define FUNCTION(name, first, last, ...) RuntimeRow{#name, first, last},
constexpr std::array kRuntimeRows = {
#include "emulator/libcudart.def"
};

// Of libcudart.so.13, .12 and .11.0.
template <int Library>
constexpr auto kCudartNames = [] {
  constexpr auto kCount =
      std::ranges::count_if(kRuntimeRows, [](const RuntimeRow& row) { return row.is_in(Library); });
  std::array<std::string_view, kCount> names;
  auto next = names.begin();
  for (const RuntimeRow& row : kRuntimeRows) {
    if (row.is_in(Library)) {
      *next++ = row.name;
    }
  }
  return names;
}();
static_assert(is_each_there_once(kCudartNames<13>) && is_each_there_once(kCudartNames<12>) &&
              is_each_there_once(kCudartNames<11>));

struct LibraryNames {
  ExportLibrary library;
  std::span<const std::string_view> names;
};

// In the order of the slots.
constexpr std::array kLibraries = {
    LibraryNames{ExportLibrary::kCudart13, kCudartNames<13>},
    LibraryNames{ExportLibrary::kCudart12, kCudartNames<12>},
    LibraryNames{ExportLibrary::kCudart11, kCudartNames<11>},
    LibraryNames{ExportLibrary::kCuda, kCudaNames},
};

struct Place {
  const LibraryNames& library;
  unsigned index;  // in the library
};

Place place_of(unsigned index) {
  DEBUG_ASSERT(index < export_count());
  const auto* library = kLibraries.begin();
  for (; index >= library->names.size(); ++library) {
    index -= static_cast<unsigned>(library->names.size());
  }
  return {.library = *library, .index = index};
}

}  // namespace

unsigned export_count() {
  std::size_t count = 0;
  for (const LibraryNames& library : kLibraries) {
    count += library.names.size();
  }
  return static_cast<unsigned>(count);
}

std::string_view export_name(unsigned index) {
  const Place place = place_of(index);
  return place.library.names[place.index];
}

ExportLibrary export_library(unsigned index) {
  return place_of(index).library.library;
}

emulator::runtime::Library emulated_runtime(ExportLibrary library) {
  DEBUG_ASSERT(library != ExportLibrary::kCuda);
  return library == ExportLibrary::kCudart13   ? emulator::runtime::Library::kCudart13
         : library == ExportLibrary::kCudart12 ? emulator::runtime::Library::kCudart12
                                               : emulator::runtime::Library::kCudart11;
}

}  // namespace barracuda::preload
