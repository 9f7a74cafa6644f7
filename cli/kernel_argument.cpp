#include "cli/kernel_argument.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <type_traits>

#include <fmt/format.h>

#include "base/file.h"
#include "base/number_text.h"

namespace barracuda::cli {
namespace {

struct TypeName {
  std::string_view name;
  ElementType type;
};

constexpr std::array kTypes = {
    TypeName{"u8", {.kind = ElementKind::kUnsigned, .bytes = 1}},
    TypeName{"u16", {.kind = ElementKind::kUnsigned, .bytes = 2}},
    TypeName{"u32", {.kind = ElementKind::kUnsigned, .bytes = 4}},
    TypeName{"u64", {.kind = ElementKind::kUnsigned, .bytes = 8}},
    TypeName{"s8", {.kind = ElementKind::kSigned, .bytes = 1}},
    TypeName{"s16", {.kind = ElementKind::kSigned, .bytes = 2}},
    TypeName{"s32", {.kind = ElementKind::kSigned, .bytes = 4}},
    TypeName{"s64", {.kind = ElementKind::kSigned, .bytes = 8}},
    TypeName{"b8", {.kind = ElementKind::kBits, .bytes = 1}},
    TypeName{"b16", {.kind = ElementKind::kBits, .bytes = 2}},
    TypeName{"b32", {.kind = ElementKind::kBits, .bytes = 4}},
    TypeName{"b64", {.kind = ElementKind::kBits, .bytes = 8}},
    TypeName{"f32", {.kind = ElementKind::kFloat, .bytes = 4}},
    TypeName{"f64", {.kind = ElementKind::kFloat, .bytes = 8}},
};

constexpr std::size_t kElementsPerLine = 16;

std::optional<ElementType> find_type(std::string_view name) {
  for (const TypeName& known : kTypes) {
    if (known.name == name) {
      return known.type;
    }
  }
  return std::nullopt;
}

// Calls `use` with a value of the C++ type that holds an element.
template <typename Use>
auto with_element(const ElementType& type, const Use& use) {
  const bool is_signed = type.kind == ElementKind::kSigned;
  if (type.kind == ElementKind::kFloat) {
    return type.bytes == 4 ? use(float{}) : use(double{});
  }
  switch (type.bytes) {
    case 1:
      return is_signed ? use(std::int8_t{}) : use(std::uint8_t{});
    case 2:
      return is_signed ? use(std::int16_t{}) : use(std::uint16_t{});
    case 4:
      return is_signed ? use(std::int32_t{}) : use(std::uint32_t{});
    default:
      return is_signed ? use(std::int64_t{}) : use(std::uint64_t{});
  }
}

template <typename Value>
std::optional<Value> parse_element(std::string_view text) {
  if constexpr (std::is_floating_point_v<Value>) {
    return parse_number<Value>(text);
  } else {
    return text.starts_with("0X") ? parse_number<Value>(text.substr(2), 16)
                                  : parse_prefixed_number<Value>(text);
  }
}

// The bytes of values separated by commas.
Expected<std::vector<std::byte>> parse_values(const ElementType& type, std::string_view text) {
  std::vector<std::byte> bytes;
  while (true) {
    const std::string_view word = text.substr(0, text.find(','));
    const bool known = with_element(type, [&](auto element) {
      const auto value = parse_element<decltype(element)>(word);
      if (value) {
        const auto* const first = reinterpret_cast<const std::byte*>(&*value);
        bytes.insert(bytes.end(), first, first + sizeof element);
      }
      return value.has_value();
    });
    if (!known) {
      return unexpected({.message = fmt::format("'{}' is not a value of its type", word)});
    }
    if (word.size() == text.size()) {
      return bytes;
    }
    text.remove_prefix(word.size() + 1);
  }
}

Expected<ElementType> parse_type(std::string_view name) {
  if (const auto type = find_type(name)) {
    return *type;
  }
  std::string names;
  for (const TypeName& known : kTypes) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", known.name);
  }
  return unexpected({.message = fmt::format("'{}' is not a type; the types are {}", name, names)});
}

// TYPE[COUNT] with the list of values that it repeats; no values: zeros.
Expected<void> read_array(KernelArgument& argument, std::string_view name,
                          std::string_view values) {
  const std::size_t open = name.find('[');
  const auto count = parse_element<std::uint64_t>(name.substr(open + 1, name.size() - open - 2));
  TRY(argument.type, parse_type(name.substr(0, open)));
  constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 40;
  if (!name.ends_with(']') || !count || *count == 0 || *count > kMostBytes / argument.type.bytes) {
    return unexpected({.message = "a buffer is TYPE[COUNT], with a count of at least 1"});
  }
  argument.bytes.resize(*count * argument.type.bytes);
  argument.is_unfilled = values.empty();
  if (argument.is_unfilled) {
    return {};
  }
  TRY(const std::vector<std::byte> pattern, parse_values(argument.type, values));
  if (pattern.size() > argument.bytes.size()) {
    return unexpected({.message = "there are more values than elements"});
  }
  for (std::size_t i = 0; i < argument.bytes.size(); ++i) {
    argument.bytes[i] = pattern[i % pattern.size()];
  }
  return {};
}

Expected<void> read_file_argument(KernelArgument& argument, std::string_view type,
                                  const std::string& path) {
  if (!type.empty()) {
    TRY(argument.type, parse_type(type));
  }
  TRY(const std::string content, read_file(path));
  if (content.empty()) {
    return unexpected({.message = "the file is empty", .file = path});
  }
  argument.bytes.resize(content.size());
  std::memcpy(argument.bytes.data(), content.data(), content.size());
  return {};
}

// Takes ":print" and ":save=FILE" off the end.
std::string_view read_outputs(KernelArgument& argument, std::string_view text) {
  constexpr std::string_view kPrint = ":print";
  constexpr std::string_view kSave = ":save=";
  if (const std::size_t save = text.rfind(kSave); save != std::string_view::npos) {
    argument.save_path = text.substr(save + kSave.size());
    text = text.substr(0, save);
  }
  if (text.ends_with(kPrint)) {
    argument.prints = true;
    text.remove_suffix(kPrint.size());
  }
  return text;
}

std::size_t alignment_of(const KernelArgument& argument) {
  std::size_t alignment = argument.is_buffer ? sizeof argument.address : argument.type.bytes;
  for (const KernelArgument& member : argument.members) {
    alignment = std::max(alignment, alignment_of(member));
  }
  return alignment;
}

std::size_t rounded_up(std::size_t bytes, std::size_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

// Behind the members that are there, as C places them.
void add_member(KernelArgument& structure, KernelArgument member) {
  member.offset = rounded_up(structure.bytes.size(), alignment_of(member));
  structure.bytes.resize(member.offset + parameter_bytes(member));
  if (!member.is_buffer) {
    std::ranges::copy(member.bytes,
                      structure.bytes.begin() + static_cast<std::ptrdiff_t>(member.offset));
  }
  structure.members.push_back(std::move(member));
}

enum class Place : std::uint8_t { kParameter, kMember };

Expected<KernelArgument> parse(std::string_view text, Place place);

// The text between the braces of a structure.
Expected<KernelArgument> parse_members(std::string_view text) {
  KernelArgument structure;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const bool is_end = i == text.size() || (text[i] == ';' && depth == 0);
    if (!is_end) {
      depth += text[i] == '{' ? 1 : text[i] == '}' ? -1 : 0;
      continue;
    }
    std::string_view member = text.substr(begin, i - begin);
    member.remove_prefix(std::min(member.find_first_not_of(' '), member.size()));
    TRY(KernelArgument parsed, parse(member, Place::kMember));
    add_member(structure, std::move(parsed));
    begin = i + 1;
  }
  structure.bytes.resize(rounded_up(structure.bytes.size(), alignment_of(structure)));
  return structure;
}

Expected<KernelArgument> parse(std::string_view text, Place place) {
  if (text.starts_with('{')) {
    if (!text.ends_with('}')) {
      return unexpected({.message = "a structure is {MEMBER;MEMBER…}"});
    }
    return parse_members(text.substr(1, text.size() - 2));
  }
  KernelArgument argument;
  text = read_outputs(argument, text);
  const std::size_t end = text.find_first_of("=@");
  const std::string_view name = text.substr(0, end);
  const std::string_view rest =
      end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  if (end != std::string_view::npos && text[end] == '@') {
    argument.is_buffer = true;
    if (auto read = read_file_argument(argument, name, std::string(rest)); !read) {
      return unexpected(std::move(read).error());
    }
  } else if (name.find('[') != std::string_view::npos) {
    argument.is_buffer = true;
    if (auto read = read_array(argument, name, rest); !read) {
      return unexpected(std::move(read).error());
    }
  } else {
    TRY(argument.type, parse_type(name));
    TRY(argument.bytes, parse_values(argument.type, rest));
    if (place == Place::kParameter && argument.bytes.size() != argument.type.bytes) {
      return unexpected({.message = "a scalar has one value; a buffer is TYPE[COUNT]"});
    }
  }
  if (!argument.is_buffer && (argument.prints || !argument.save_path.empty())) {
    return unexpected({.message = "only a buffer can be printed or saved"});
  }
  return argument;
}

}  // namespace

std::size_t parameter_bytes(const KernelArgument& argument) {
  return argument.is_buffer ? sizeof argument.address : argument.bytes.size();
}

Expected<KernelArgument> parse_kernel_argument(const std::string& text) {
  auto argument = parse(text, Place::kParameter);
  if (!argument) {
    argument.error().message = fmt::format("--arg {}: {}", text, argument.error().message);
  }
  return argument;
}

std::string without_outputs(const std::string& text) {
  KernelArgument outputs;
  return std::string(read_outputs(outputs, text));
}

std::string elements_as_text(const ElementType& type, const std::vector<std::byte>& bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes.size() / type.bytes; ++i) {
    if (i % kElementsPerLine == 0) {
      text += fmt::format("{}{}:", i == 0 ? "" : "\n", i);
    }
    with_element(type, [&](auto element) {
      std::memcpy(&element, bytes.data() + i * type.bytes, sizeof element);
      text +=
          type.kind == ElementKind::kBits
              ? fmt::format(" {:#0{}x}", static_cast<std::uint64_t>(element), 2 + 2 * type.bytes)
              : fmt::format(" {}", element);
    });
  }
  return text + "\n";
}

}  // namespace barracuda::cli
