#include "fatbin/fatbin.h"

#include <algorithm>
#include <elf.h>

#include "fatbin/container.h"

namespace barracuda::fatbin {
namespace {

// A program has as many units as it has source files; more than this is no list of ours.
constexpr std::size_t kMostUnits = 1U << 20;

#ifndef EM_CUDA
constexpr std::uint16_t EM_CUDA = 190;
#endif

// Compares byte by byte, so that nothing is read behind the first difference.
bool starts_with(const std::byte* bytes, const void* prefix, std::size_t size) {
  const auto* const expected = static_cast<const std::byte*>(prefix);
  return std::equal(expected, expected + size, bytes);
}

Expected<Container> read_at(const void* header, Payloads payloads) {
  const auto* const bytes = static_cast<const std::byte*>(header);
  if (!starts_with(bytes, &kHeaderMagic, sizeof kHeaderMagic)) {
    return unexpected({.message = "the fat binary's wrapper points to no fat binary"});
  }
  TRY(const std::uint64_t size, declared_size(bytes));
  return read_container({bytes, size}, payloads);
}

Expected<Fatbin> read_wrapper(const Wrapper& wrapper, Payloads payloads) {
  if (wrapper.version != 1 && wrapper.version != 2) {
    return unexpected({.message = "a fat binary's wrapper has version " +
                                  std::to_string(wrapper.version) + ", which we do not know"});
  }
  if (wrapper.header == nullptr) {
    return unexpected({.message = "a fat binary's wrapper points to nothing"});
  }
  Fatbin fatbin;
  fatbin.wrapper_version = wrapper.version;
  TRY(fatbin.main, read_at(wrapper.header, payloads));
  if (wrapper.version == 2 && wrapper.units != nullptr) {
    for (std::size_t index = 0; wrapper.units[index] != nullptr; ++index) {
      if (index == kMostUnits) {
        return unexpected({.message = "a fat binary's list of translation units has no end"});
      }
      TRY(fatbin.units.emplace_back(), read_at(wrapper.units[index], payloads));
    }
  }
  return fatbin;
}

// Behind white space and comments, PTX text begins with its version.
bool is_ptx_text(const char* text) {
  const auto is_space = [](char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f';
  };
  for (;;) {
    while (is_space(*text)) {
      ++text;
    }
    if (text[0] == '/' && text[1] == '/') {
      while (*text != '\n' && *text != '\0') {
        ++text;
      }
    } else if (text[0] == '/' && text[1] == '*') {
      text += 2;
      while (*text != '\0' && !(text[0] == '*' && text[1] == '/')) {
        ++text;
      }
      text += *text == '\0' ? 0 : 2;
    } else {
      break;
    }
  }
  constexpr std::string_view kVersion = ".version";
  return starts_with(reinterpret_cast<const std::byte*>(text), kVersion.data(), kVersion.size()) &&
         is_space(text[kVersion.size()]);
}

}  // namespace

std::string Image::target() const {
  std::string text = (kind == EntryKind::kPtx ? "compute_" : "sm_") + std::to_string(arch);
  switch (variant) {
    case ArchVariant::kPlain:
      break;
    case ArchVariant::kArchSpecific:
      text += 'a';
      break;
    case ArchVariant::kFamily:
      text += 'f';
      break;
  }
  return text;
}

std::span<const Container> Fatbin::translation_units() const {
  if (units.empty()) {
    return {&main, 1};
  }
  return units;
}

Expected<Fatbin> read(const void* wrapper_or_header, Payloads payloads) {
  switch (kind_of_image(wrapper_or_header)) {
    case ImageKind::kWrapper:
      return read_wrapper(load<Wrapper>(static_cast<const std::byte*>(wrapper_or_header)),
                          payloads);
    case ImageKind::kHeader: {
      Fatbin fatbin;
      TRY(fatbin.main, read_at(wrapper_or_header, payloads));
      return fatbin;
    }
    case ImageKind::kUnknown:
    case ImageKind::kCubin:
    case ImageKind::kPtxText:
      break;
  }
  return unexpected({.message = "this is no fat binary"});
}

Expected<Fatbin> read(std::span<const std::byte> header, Payloads payloads) {
  Fatbin fatbin;
  TRY(fatbin.main, read_container(header, payloads));
  return fatbin;
}

Expected<std::vector<Container>> read_section(std::span<const std::byte> section,
                                              Payloads payloads) {
  std::vector<Container> containers;
  while (!section.empty()) {
    if (section.front() == std::byte{0}) {
      section = section.subspan(1);
      continue;
    }
    TRY(containers.emplace_back(), read_container(section, payloads));
    TRY(const std::uint64_t size, declared_size(section.data()));
    section = section.subspan(size);
  }
  return containers;
}

ImageKind kind_of_image(const void* image) {
  if (image == nullptr) {
    return ImageKind::kUnknown;
  }
  const auto* const bytes = static_cast<const std::byte*>(image);
  if (starts_with(bytes, &kWrapperMagic, sizeof kWrapperMagic)) {
    return ImageKind::kWrapper;
  }
  if (starts_with(bytes, &kHeaderMagic, sizeof kHeaderMagic)) {
    return ImageKind::kHeader;
  }
  if (starts_with(bytes, ELFMAG, SELFMAG)) {
    const auto machine = load<std::uint16_t>(bytes + offsetof(Elf64_Ehdr, e_machine));
    return machine == EM_CUDA ? ImageKind::kCubin : ImageKind::kUnknown;
  }
  return is_ptx_text(static_cast<const char*>(image)) ? ImageKind::kPtxText : ImageKind::kUnknown;
}

bool is_fatbin(const void* image) {
  const ImageKind kind = kind_of_image(image);
  return kind == ImageKind::kWrapper || kind == ImageKind::kHeader;
}

}  // namespace barracuda::fatbin
