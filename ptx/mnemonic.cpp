#include "ptx/mnemonic.h"

namespace barracuda::ptx {

namespace {

// The number of a word among others, 0 for none. Most words have two to six letters: a hash over
// all of them is cheaper than one that looks at some and meets more words.
template <std::size_t Count>
class WordIndex {
 public:
  explicit constexpr WordIndex(const std::array<std::string_view, Count>& words) : words_(words) {
    for (std::size_t i = 1; i < Count; ++i) {
      std::size_t slot = slot_of(words[i]);
      while (slots_[slot] != 0) {
        slot = next(slot);
      }
      slots_[slot] = static_cast<std::uint16_t>(i);
    }
  }

  [[nodiscard]] constexpr std::uint16_t find(std::string_view word) const {
    std::size_t slot = slot_of(word);
    while (slots_[slot] != 0 && words_[slots_[slot]] != word) {
      slot = next(slot);
    }
    return slots_[slot];
  }

 private:
  static constexpr std::size_t kSlots = 1024;
  static_assert(2 * Count < kSlots);

  static constexpr std::size_t next(std::size_t slot) { return (slot + 1) % kSlots; }

  static constexpr std::size_t slot_of(std::string_view word) {
    std::uint32_t hash = 0;
    for (const char c : word) {
      hash = hash * 37 + static_cast<unsigned char>(c);
    }
    return (hash ^ hash >> 10) % kSlots;
  }

  std::array<std::string_view, Count> words_;
  std::array<std::uint16_t, kSlots> slots_{};
};

constexpr WordIndex kOpcodes(kOpcodeTexts);
constexpr WordIndex kModifiers(kModifierTexts);

}  // namespace

Opcode find_opcode(std::string_view word) {
  return static_cast<Opcode>(kOpcodes.find(word));
}

Modifier find_modifier(std::string_view word) {
  return static_cast<Modifier>(kModifiers.find(word));
}

std::uint32_t size_of(ScalarType type) {
  static constexpr auto kBytes = std::to_array<std::uint8_t>({
      0,
#define MODIFIER(name, text)
#define TYPE(name, text, bytes) bytes,
#include "ptx/modifiers.def"
  });
  return kBytes[static_cast<std::size_t>(type)];
}

std::uint32_t scalars_in(ScalarType type) {
  return type == ScalarType::kF16x2 || type == ScalarType::kBf16x2 || type == ScalarType::kE4m3x2 ||
                 type == ScalarType::kE5m2x2
             ? 2
             : 1;
}

ScalarType type_of(Modifier modifier) {
  static constexpr auto kTypes = std::to_array<ScalarType>({
      ScalarType::kNone,
#define MODIFIER(name, text) ScalarType::kNone,
#define TYPE(name, text, bytes) ScalarType::name,
#include "ptx/modifiers.def"
  });
  return kTypes[static_cast<std::size_t>(modifier)];
}

}  // namespace barracuda::ptx
