#include "preload/link_input.h"

#include <algorithm>
#include <elf.h>
#include <iterator>
#include <string_view>

#include "fatbin/fatbin.h"
#include "fatbin/host_image.h"
#include "preload/code_origins.h"

namespace barracuda::preload {
namespace {

using session::CodeOrigin;

// The device runtime's library: what kernels call of it, ptx/device_runtime.h has.
bool is_device_runtime(std::string_view name) {
  return name.find("cudadevrt") != std::string_view::npos;
}

void add_fatbin(CodeOrigin& origin, std::span<const std::byte> bytes, const std::string& name) {
  Expected<fatbin::Fatbin> read = fatbin::read(bytes);
  if (!read) {
    origin.gap = name + " (" + read.error().to_string() + ")";
    return;
  }
  std::ranges::copy(read->translation_units(), std::back_inserter(origin.units));
}

void add_object(CodeOrigin& origin, std::span<const std::byte> bytes, const std::string& name) {
  Expected<fatbin::HostImage> read = fatbin::read_host_image(bytes, fatbin::Payloads::kPtx);
  if (!read) {
    origin.gap = name + " (" + read.error().to_string() + ")";
    return;
  }
  std::ranges::move(read->containers, std::back_inserter(origin.units));
}

void add_text(CodeOrigin& origin, std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  origin.texts.emplace_back(text.substr(0, text.find('\0')));
}

// Machine code of which somebody else knows the PTX.
void add_code(CodeOrigin& origin, std::span<const std::byte> bytes, const std::string& name) {
  const CodeOrigin* const known =
      bytes.size() < sizeof(Elf64_Ehdr) ? nullptr : find_origin(bytes.data());
  if (known == nullptr || !known->gap.empty()) {
    origin.gap = known == nullptr ? name + ", which is not PTX" : known->gap;
    return;
  }
  std::ranges::copy(known->texts, std::back_inserter(origin.texts));
  std::ranges::copy(known->units, std::back_inserter(origin.units));
}

}  // namespace

void add_input(CodeOrigin& origin, LinkInput kind, std::span<const std::byte> bytes,
               const char* given_name) {
  const std::string name =
      given_name == nullptr || *given_name == '\0' ? "an input without a name" : given_name;
  switch (kind) {
    case LinkInput::kMachineCode:
      return add_code(origin, bytes, name);
    case LinkInput::kPtx:
      return add_text(origin, bytes);
    case LinkInput::kFatbin:
      return add_fatbin(origin, bytes, name);
    case LinkInput::kObject:
      return add_object(origin, bytes, name);
    case LinkInput::kLibrary:
      if (is_device_runtime(name)) {
        return;
      }
      break;
    case LinkInput::kOther:
      break;
  }
  origin.gap = name + ", which is not PTX";
}

}  // namespace barracuda::preload
