// What nvcc embeds: fat binaries, with PTX and machine code for several architectures, compressed
// or stored. A damaged one is a Diagnostic, never a crash. Pointers that a runtime hands over come
// without a size: every step is bounded by what the step before has declared and checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/expected.h"

namespace barracuda::fatbin {

enum class EntryKind : std::uint16_t { kPtx = 1, kCubin = 2, kLto = 8 };

enum class Compression : std::uint8_t { kStored, kLz4, kZstd };

// kArchSpecific ("a") runs on exactly its architecture; kFamily ("f") on it and on later ones of
// the same major number.
enum class ArchVariant : std::uint8_t { kPlain, kArchSpecific, kFamily };

struct Image {
  EntryKind kind{};        // others may occur: they are kept, and mean nothing to us
  std::uint32_t arch = 0;  // 90 for sm_90 and compute_90
  ArchVariant variant = ArchVariant::kPlain;
  std::uint16_t ptx_major = 0, ptx_minor = 0;
  bool has_debug = false;
  Compression compression = Compression::kStored;
  std::uint64_t payload_size = 0;  // once decompressed, with padding where it is stored
  std::string payload;             // PTX without its final NUL; empty where it was not asked for
  std::string identifier;          // the source file, with -g or -lineinfo
  std::string options;             // what was given to ptxas

  // "sm_90a" for machine code, "compute_90a" for PTX.
  [[nodiscard]] std::string target() const;

  friend bool operator==(const Image&, const Image&) = default;
};

// One header and its entries, in the order of the file, which means nothing.
struct Container {
  std::vector<Image> images;

  friend bool operator==(const Container&, const Container&) = default;
};

struct Fatbin {
  std::uint32_t wrapper_version = 0;  // 1 plain, 2 -rdc, 0 when there was no wrapper
  Container main;                     // for version 2 the linked machine code
  std::vector<Container> units;  // version 2 only: one for each translation unit before linking

  // The containers to take PTX from, one PTX of each: `units` where there are any, else `main`.
  [[nodiscard]] std::span<const Container> translation_units() const;
};

// Which payloads to decompress: machine code is large, and PTX is what we work on.
enum class Payloads : std::uint8_t { kNone, kPtx, kAll };

// From memory, a wrapper or a header, as the runtime and the driver are handed them.
Expected<Fatbin> read(const void* wrapper_or_header, Payloads payloads = Payloads::kPtx);
// One header in bytes whose number is known: a .fatbin file. What follows its end is ignored.
Expected<Fatbin> read(std::span<const std::byte> header, Payloads payloads = Payloads::kPtx);
// Header after header with zeros between: the section .nv_fatbin.
Expected<std::vector<Container>> read_section(std::span<const std::byte> section,
                                              Payloads payloads = Payloads::kPtx);

// What an image handed to cuModuleLoadData or cuLibraryLoadData is. Reads no byte behind one that
// already decides, so that any readable pointer may be asked about.
enum class ImageKind : std::uint8_t { kUnknown, kWrapper, kHeader, kCubin, kPtxText };
ImageKind kind_of_image(const void* image);
// A wrapper or a header.
bool is_fatbin(const void* image);

// The PTX a driver would compile for a device of this architecture: the highest that it can run,
// the more specific variant of equals. Null where there is none.
const Image* best_ptx(const Container& container, std::uint32_t device_arch);
// The PTX for the emulated device, which runs any: the highest plain one up to the limit, else the
// highest of any variant up to the limit, else the lowest. Null where the container holds no PTX.
const Image* best_ptx_for_emulator(const Container& container, std::uint32_t highest_arch);
// Machine code that a driver could load on a device of this architecture, what it prefers first.
std::vector<const Image*> machine_code_for(const Container& container, std::uint32_t device_arch);
// Of any architecture, in the same order.
std::vector<const Image*> machine_code(const Container& container);

}  // namespace barracuda::fatbin
