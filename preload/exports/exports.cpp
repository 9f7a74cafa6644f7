#include "preload/exports.h"

#include <array>

#include "emulator/exported_names.h"

namespace barracuda::preload {
namespace {

constexpr std::array<unsigned, 4> kCounts = {
    emulator::kCudart13Names.size(), emulator::kCudart12Names.size(),
    emulator::kCudart11Names.size(), emulator::kCudaNames.size()};

// In the slots' order: library by library. Leaves the index in the library.
ExportLibrary library_at(unsigned& index) {
  unsigned library = 0;
  for (; index >= kCounts.at(library); ++library) {
    index -= kCounts.at(library);
  }
  return static_cast<ExportLibrary>(library);
}

}  // namespace

unsigned export_count() {
  unsigned count = 0;
  for (const unsigned of_library : kCounts) {
    count += of_library;
  }
  return count;
}

std::string_view export_name(unsigned index) {
  switch (library_at(index)) {
    case ExportLibrary::kCudart13:
      return emulator::kCudart13Names.at(index);
    case ExportLibrary::kCudart12:
      return emulator::kCudart12Names.at(index);
    case ExportLibrary::kCudart11:
      return emulator::kCudart11Names.at(index);
    case ExportLibrary::kCuda:
      break;
  }
  return emulator::kCudaNames.at(index);
}

ExportLibrary export_library(unsigned index) {
  return library_at(index);
}

}  // namespace barracuda::preload
