#include "ptx/analysis/literal_places.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "base/align.h"
#include "ptx/abi.h"

namespace barracuda::ptx {
namespace {

// Buffers of arguments begin at 1 << 32, one behind the other (literal_buffer_address).
constexpr std::uint64_t kFirstVariable = std::uint64_t{1} << 48;
constexpr std::uint64_t kVariableGap = std::uint64_t{1} << 32;
constexpr std::uint64_t kShared = std::uint64_t{2} << 48;
constexpr std::uint64_t kLocal = std::uint64_t{3} << 48;
constexpr std::uint64_t kParam = std::uint64_t{4} << 48;

std::uint64_t base_of(StateSpace space) {
  return space == StateSpace::kShared  ? kShared
         : space == StateSpace::kLocal ? kLocal
         : space == StateSpace::kParam ? kParam
                                       : 0;
}

// The bytes that an element has; a structure, as nvcc writes it, is of single bytes.
std::uint32_t element_bytes(const Variable& variable) {
  const bool is_one = !variable.is_array && variable.vector == 1;
  const std::uint32_t bytes = size_of(variable.type);
  return is_one || bytes > 1 ? bytes : std::clamp<std::uint32_t>(variable.align, 1, 8);
}

const LiteralMemory* find_memory(const std::vector<LiteralMemory>& all, std::uint64_t address) {
  const auto found = std::ranges::find_if(all, [&](const LiteralMemory& each) {
    return address >= each.address && address - each.address < each.bytes.size();
  });
  return found == all.end() ? nullptr : &*found;
}

std::string element_name(std::string_view name, std::uint64_t offset, std::uint32_t element,
                         std::uint64_t size, std::uint32_t bytes) {
  if (offset == 0 && size == bytes) {
    return std::string(name);
  }
  return bytes == element && offset % element == 0 ? fmt::format("{}[{}]", name, offset / element)
                                                   : fmt::format("{}+{}", name, offset);
}

}  // namespace

Expected<LiteralPlaces> LiteralPlaces::create(const Module& module, const Function& entry,
                                              const LiteralLaunch& launch) {
  LiteralPlaces places;
  places.memory_ = launch.memory;
  const ParameterLayout layout = parameter_layout(entry);
  for (std::size_t i = 0; i < entry.parameters.size(); ++i) {
    places.symbols_[entry.parameters[i].name] = kParam + layout.places[i].offset;
  }
  std::vector<const Variable*> dynamic;
  for (const Statement& statement : module.statements) {
    if (statement.kind != StatementKind::kVariable) {
      continue;
    }
    for (const Variable& each : statement.variables) {
      if (each.space == StateSpace::kShared && each.size() == 0) {
        dynamic.push_back(&each);
        continue;
      }
      places.place(each, launch);
      const bool has_memory = each.space == StateSpace::kGlobal || each.space == StateSpace::kConst;
      if (auto filled = has_memory ? places.fill(each, places.memory_.back()) : Expected<void>();
          !filled) {
        filled.error().line = statement.position.line;
        return unexpected(std::move(filled).error());
      }
    }
  }
  constexpr std::uint64_t kWidest = 16;
  const std::uint64_t begin = align_up(places.shared_bytes_, kWidest);
  for (const Variable* const each : dynamic) {
    const std::string name(each->name);
    places.symbols_[each->name] = begin;
    places.shared_.push_back({.name = launch.spelling ? launch.spelling(name) : name,
                              .offset = begin,
                              .size = launch.dynamic_shared_bytes,
                              .element_bytes = element_bytes(*each)});
    places.shared_bytes_ = begin + launch.dynamic_shared_bytes;
  }
  return places;
}

void LiteralPlaces::place(const Variable& variable, const LiteralLaunch& launch) {
  const std::string name(variable.name);
  const std::string spelled = launch.spelling ? launch.spelling(name) : name;
  if (variable.space == StateSpace::kShared) {
    const std::uint64_t offset = align_up(shared_bytes_, alignment_of(variable));
    symbols_[variable.name] = offset;
    shared_.push_back({.name = spelled,
                       .offset = offset,
                       .size = variable.size(),
                       .element_bytes = element_bytes(variable)});
    shared_bytes_ = offset + variable.size();
  } else if (variable.space == StateSpace::kLocal) {
    const std::uint64_t offset = align_up(local_bytes_, alignment_of(variable));
    symbols_[variable.name] = offset;
    local_bytes_ = offset + variable.size();
  } else if (variable.space == StateSpace::kGlobal || variable.space == StateSpace::kConst) {
    const std::uint64_t address = kFirstVariable + kVariableGap * memory_.size();
    symbols_[variable.name] = address;
    memory_.push_back({.name = spelled,
                       .address = address,
                       .element_bytes = element_bytes(variable),
                       .bytes = std::vector<std::byte>(variable.size())});
  }
}

Expected<void> LiteralPlaces::fill(const Variable& variable, LiteralMemory& memory) const {
  const std::uint32_t bytes = size_of(variable.type);
  for (std::size_t i = 0; i < variable.initializer.size(); ++i) {
    const Operand& value = variable.initializer[i];
    if (value.kind != Operand::Kind::kInteger && value.kind != Operand::Kind::kFloat) {
      return unexpected({.message = fmt::format("'{}' begins as an address, which explore does not "
                                                "follow",
                                                memory.name)});
    }
    if ((i + 1) * bytes <= memory.bytes.size()) {
      std::memcpy(memory.bytes.data() + i * bytes, &value.bits, bytes);
    }
  }
  return {};
}

std::optional<std::uint64_t> LiteralPlaces::address_of(std::string_view symbol) const {
  const auto found = symbols_.find(symbol);
  return found == symbols_.end() ? std::nullopt : std::optional(found->second);
}

LiteralAddress LiteralPlaces::resolve(std::uint64_t generic) {
  for (const StateSpace space : {StateSpace::kParam, StateSpace::kLocal, StateSpace::kShared}) {
    if (generic >= base_of(space)) {
      return {.space = space, .offset = generic - base_of(space)};
    }
  }
  return {.space = StateSpace::kGlobal, .offset = generic};
}

std::uint64_t LiteralPlaces::generic_of(StateSpace space, std::uint64_t offset) {
  return base_of(space) + offset;
}

std::uint64_t LiteralPlaces::offset_in(StateSpace space, std::uint64_t generic) {
  return generic - base_of(space);
}

std::optional<std::uint64_t> LiteralPlaces::initial(const LiteralAddress& address,
                                                    std::uint32_t bytes) const {
  if (address.space == StateSpace::kShared) {
    return address.offset + bytes <= shared_bytes_ ? std::optional<std::uint64_t>(0) : std::nullopt;
  }
  const LiteralMemory* const found = find_memory(memory_, address.offset);
  if (found == nullptr || address.offset - found->address + bytes > found->bytes.size()) {
    return std::nullopt;
  }
  std::uint64_t value = 0;
  std::memcpy(&value, found->bytes.data() + (address.offset - found->address), bytes);
  return value;
}

std::string LiteralPlaces::name_of(const LiteralAddress& address, std::uint32_t bytes) const {
  if (address.space == StateSpace::kShared) {
    for (const Shared& each : shared_) {
      if (address.offset >= each.offset && address.offset < each.offset + each.size) {
        return element_name(each.name, address.offset - each.offset, each.element_bytes, each.size,
                            bytes);
      }
    }
    return fmt::format("shared+{}", address.offset);
  }
  const LiteralMemory* const found = find_memory(memory_, address.offset);
  return found == nullptr ? fmt::format("{:#x}", address.offset)
                          : element_name(found->name, address.offset - found->address,
                                         found->element_bytes, found->bytes.size(), bytes);
}

std::optional<LiteralElement> LiteralPlaces::element(std::string_view name,
                                                     std::uint64_t index) const {
  if (const auto found = std::ranges::find(shared_, name, &Shared::name);
      found != shared_.end() && index < found->size / found->element_bytes) {
    return LiteralElement{.is_shared = true,
                          .address = found->offset + index * found->element_bytes,
                          .bytes = found->element_bytes};
  }
  if (const auto found = std::ranges::find(memory_, name, &LiteralMemory::name);
      found != memory_.end() && index < found->bytes.size() / found->element_bytes) {
    return LiteralElement{.is_shared = false,
                          .address = found->address + index * found->element_bytes,
                          .bytes = found->element_bytes};
  }
  return std::nullopt;
}

}  // namespace barracuda::ptx
