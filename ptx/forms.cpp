#include "ptx/forms.h"

#include <algorithm>

namespace barracuda::ptx {

namespace {

using wire::Asynchrony;
using wire::Operation;
using enum OpcodeClass;
using enum wire::MemoryOrder;
using enum wire::Proxy;
using enum wire::Scope;

// A word that is no modifier does not compile.
consteval decltype(Form::modifiers) modifiers_in(std::string_view words) {
  decltype(Form::modifiers) modifiers{};
  for (std::size_t i = 0; !words.empty(); ++i) {
    const std::string_view word = words.substr(0, words.find(' '));
    const auto* const found = std::ranges::find(kModifierTexts, word);
    if (found == kModifierTexts.end()) {
      throw "not in modifiers.def";
    }
    modifiers.at(i) = static_cast<Modifier>(found - kModifierTexts.begin());
    words.remove_prefix(std::min(word.size() + 1, words.size()));
  }
  return modifiers;
}

constexpr auto kForms = std::to_array<Form>({
#define OPCODE(name, text, chapter, kind, ...) \
  {.opcode = Opcode::name, .section = chapter, .opcode_class = kind __VA_OPT__(, ) __VA_ARGS__},
#define FORM(name, words, chapter, kind, ...) \
  {.opcode = Opcode::name,                    \
   .modifiers = modifiers_in(words),          \
   .section = chapter,                        \
   .opcode_class = kind __VA_OPT__(, ) __VA_ARGS__},
#include "ptx/opcodes.def"
});
static_assert(std::ranges::is_sorted(kForms, {}, &Form::opcode));
// The last form of an opcode, and no other, asks for no modifier.
static_assert([] {
  for (std::size_t i = 0; i < kForms.size(); ++i) {
    const bool is_last = i + 1 == kForms.size() || kForms[i + 1].opcode != kForms[i].opcode;
    if (is_last != (kForms[i].modifiers[0] == Modifier::kUnknown)) {
      return false;
    }
  }
  return true;
}());

constexpr bool is_valid(const Form& form) {
  const bool accesses = form.opcode_class == kLoad || form.opcode_class == kStore ||
                        form.opcode_class == kAtomic || form.opcode_class == kReduction ||
                        form.opcode_class == kMatrixAccess;
  return (!accesses || (form.operation && form.address != kNoOperand)) &&
         (form.is_covered || !form.operation) &&
         (form.operation != Operation::kCopy || form.asynchrony != Asynchrony::kNone ||
          form.opcode == Opcode::kSt || form.opcode == Opcode::kTensormap ||
          form.opcode == Opcode::kTcgen05) &&
         (form.opcode_class != kArithmetic || form.address == kNoOperand);
}

static_assert(std::ranges::all_of(kForms, is_valid));

// Where the forms of each opcode begin.
constexpr auto kFirstForms = [] {
  std::array<std::uint8_t, kOpcodeTexts.size()> first{};
  static_assert(kForms.size() <= 256);
  for (std::size_t i = kForms.size(); i-- > 0;) {
    first.at(static_cast<std::size_t>(kForms.at(i).opcode)) = static_cast<std::uint8_t>(i);
  }
  return first;
}();

bool matches(const Form& form, const Instruction& instruction) {
  return std::ranges::all_of(form.modifiers, [&](Modifier modifier) {
    return modifier == Modifier::kUnknown || instruction.has(modifier);
  });
}

}  // namespace

std::span<const Form> all_forms() {
  return kForms;
}

const Form* form_of(const Instruction& instruction) {
  if (instruction.opcode == Opcode::kUnknown) {
    return nullptr;
  }
  const Form* form = &kForms[kFirstForms[static_cast<std::size_t>(instruction.opcode)]];
  while (!matches(*form, instruction)) {
    ++form;
  }
  return form;
}

}  // namespace barracuda::ptx
