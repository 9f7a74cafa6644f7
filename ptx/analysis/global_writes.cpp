#include "ptx/analysis/global_writes.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "ptx/analysis/constants.h"
#include "ptx/analysis/grid_workspace.h"
#include "ptx/analysis/parameter_words.h"
#include "ptx/analysis/register_sizes.h"

namespace barracuda::ptx {
namespace {

// What a value may be computed from, as a set: words of the entry's parameters, a bit each, the
// first variables of the module that are met, and these. No bit: a number, which is no address.
using Origins = std::uint64_t;
constexpr int kMostWords = 51, kMostVariables = 7;
constexpr Origins kWords = (Origins{1} << kMostWords) - 1;
constexpr Origins kNamedVariables = ((Origins{1} << kMostVariables) - 1) << kMostWords;
constexpr Origins kFromMemory = Origins{1} << 58;      // loaded: an address or a number
constexpr Origins kHasLoadedIndex = Origins{1} << 59;  // GlobalWrites::has_loaded_index
constexpr Origins kOtherVariables = Origins{1} << 60;
constexpr Origins kFromPrivate = Origins{1} << 61;    // shared, local, constant, parameter memory
constexpr Origins kFromVariables = Origins{1} << 62;  // variables in global memory, those as well
constexpr Origins kFromUnknown = Origins{1} << 63;

constexpr std::uint32_t kPointerBytes = 8;

// Functions without a body here that write no memory of the program.
constexpr std::string_view kHarmless[] = {"vprintf", "__assertfail"};

bool is_float(ScalarType type) {
  return type == ScalarType::kF64 || type == ScalarType::kF32 || type == ScalarType::kF16;
}

class Words {
 public:
  Origins of(ArgumentWord word) {
    const auto found = std::ranges::find(words_, word);
    const auto index = static_cast<std::size_t>(found - words_.begin());
    if (index == kMostWords) {
      return kFromUnknown;
    }
    if (found == words_.end()) {
      words_.push_back(word);
    }
    return Origins{1} << index;
  }

  Origins of_variable(std::string_view name) {
    const auto found = std::ranges::find(variables_, name);
    const auto index = static_cast<std::size_t>(found - variables_.begin());
    if (index == kMostVariables) {
      return kFromVariables | kOtherVariables;
    }
    if (found == variables_.end()) {
      variables_.push_back(name);
    }
    return kFromVariables | Origins{1} << (kMostWords + index);
  }

  // Empty if it may be anything else.
  [[nodiscard]] std::string_view only_variable(Origins origins) const {
    const Origins named = origins & kNamedVariables;
    return std::has_single_bit(named) && origins == (named | kFromVariables)
               ? variables_[static_cast<std::size_t>(std::countr_zero(named) - kMostWords)]
               : std::string_view{};
  }

  [[nodiscard]] std::vector<ArgumentWord> in(Origins origins) const {
    std::vector<ArgumentWord> found;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      if ((origins >> i & 1) != 0) {
        found.push_back(words_[i]);
      }
    }
    return found;
  }

 private:
  std::vector<ArgumentWord> words_;          // at most kMostWords
  std::vector<std::string_view> variables_;  // at most kMostVariables
};

// Where names of variables lie: of the module, and of all functions as one.
class Places {
 public:
  explicit Places(const Module& module) {
    for (const Statement& statement : module.statements) {
      if (statement.kind == StatementKind::kVariable) {
        for (const Variable& variable : statement.variables) {
          spaces_[variable.name] |= origins_in(variable.space);
        }
      }
    }
    for (const Function& function : module.functions) {
      for (const Variable& parameter : function.parameters) {
        spaces_[parameter.name] |= kFromPrivate;
      }
    }
  }

  [[nodiscard]] Origins of(std::string_view name) const {
    const auto found = spaces_.find(name);
    return found == spaces_.end() ? kFromUnknown : found->second;
  }

 private:
  static Origins origins_in(StateSpace space) {
    switch (space) {
      case StateSpace::kShared:
      case StateSpace::kLocal:
      case StateSpace::kConst:
      case StateSpace::kParam:
        return kFromPrivate;
      case StateSpace::kGlobal:
        return kFromVariables;
      case StateSpace::kNone:
      case StateSpace::kReg:
      case StateSpace::kSreg:
      case StateSpace::kTex:
      case StateSpace::kGeneric:
        return kFromUnknown;
    }
    return kFromUnknown;
  }

  boost::unordered_flat_map<std::string_view, Origins> spaces_;
};

// What the registers of a function may be computed from, whatever the order in which its statements
// run. Names are taken as one whatever their scope.
class Registers {
 public:
  Registers(const Program& program, const Function& function, const Places& places, Words& words)
      : program_(program),
        function_(function),
        places_(places),
        words_(words),
        parameters_(program.module, function) {
    while (read_body()) {
    }
  }

  [[nodiscard]] Origins of(const Operand& operand) const {
    switch (operand.kind) {
      case Operand::Kind::kRegister: {
        const auto found = registers_.find(operand.name);
        return found == registers_.end() ? 0 : found->second;
      }
      case Operand::Kind::kSymbol: {
        const Origins index = operand.elements.empty() ? 0 : of(operand.elements[0]);
        const Origins place = places_.of(operand.name);
        return (place == kFromVariables ? words_.of_variable(operand.name) : place) | index;
      }
      case Operand::Kind::kAddress:
        return operand.elements.empty() ? kFromUnknown : of(operand.elements[0]);
      case Operand::Kind::kVector:  // halves of an address may be put together again
      case Operand::Kind::kPair:
      case Operand::Kind::kList:
        return kFromUnknown;
      case Operand::Kind::kSpecial:
        return is_grid_workspace(operand) ? kFromPrivate : 0;
      case Operand::Kind::kInteger:
      case Operand::Kind::kFloat:
      case Operand::Kind::kSink:
        return 0;
    }
    return kFromUnknown;
  }

 private:
  bool read_body() {
    bool changes = false;
    RegisterSizes sizes;
    sizes.enter(function_);
    for (std::size_t i = function_.body_begin; i < function_.body_end; ++i) {
      const Statement& statement = program_.module.statements[i];
      sizes.read(statement);
      const Instruction& instruction = statement.instruction;
      if (statement.kind == StatementKind::kInstruction && !instruction.operands.empty() &&
          instruction.operands[0].kind != Operand::Kind::kAddress) {
        changes = define(i, sizes) || changes;
      }
    }
    return changes;
  }

  bool define(std::size_t statement, const RegisterSizes& sizes) {
    const Instruction& instruction = program_.module.statements[statement].instruction;
    const Operand& written = instruction.operands[0];
    if (written.kind != Operand::Kind::kVector) {
      return define(written, statement, 0, sizes);
    }
    bool changes = false;
    for (std::uint32_t i = 0; i < written.elements.size(); ++i) {
      changes = define(written.elements[i], statement, i, sizes) || changes;
    }
    return changes;
  }

  // What is narrower holds no address. Of names that are not declared nothing is known.
  bool define(const Operand& written, std::size_t statement, std::uint32_t element,
              const RegisterSizes& sizes) {
    bool changes = false;
    visit_registers(written, [&](const Operand& destination) {
      const std::uint32_t bytes = sizes.bytes_of(destination);
      if (bytes >= kPointerBytes || !sizes.is_declared(destination.name) ||
          reads_workspace(statement)) {
        Origins& known = registers_[destination.name];
        const Origins all = known | result(statement, element);
        changes = changes || all != known;
        known = all;
      }
    });
    return changes;
  }

  [[nodiscard]] bool reads_workspace(std::size_t statement) const {
    const Instruction& instruction = program_.module.statements[statement].instruction;
    return instruction.opcode == Opcode::kMov && instruction.operands.size() == 2 &&
           is_grid_workspace(instruction.operands[1]);
  }

  // Of the register that is the `element`-th of what the statement writes.
  Origins result(std::size_t statement, std::uint32_t element) {
    const Instruction& instruction = program_.module.statements[statement].instruction;
    const OpcodeClass opcode_class = program_.effects[statement].opcode_class;
    return opcode_class == OpcodeClass::kLoad         ? loaded(instruction, element)
           : opcode_class == OpcodeClass::kArithmetic ? computed(instruction)
                                                      : kFromUnknown;
  }

  // A word of the entry's parameters that is read where it stands, or what memory holds.
  Origins loaded(const Instruction& load, std::uint32_t element) {
    const auto word = parameters_.word_of(load, element, kPointerBytes);
    const bool is_parameter = load.has(Modifier::kParam) || load.has(Modifier::kParamEntry);
    return word && size_of(load.last_type()) == kPointerBytes ? words_.of(*word)
           : is_parameter                                     ? kFromUnknown
                                                              : kFromMemory;
  }

  [[nodiscard]] Origins all_of(const Instruction& instruction, std::size_t first) const {
    Origins all = 0;
    for (std::size_t i = first; i < instruction.operands.size(); ++i) {
      all |= of(instruction.operands[i]);
    }
    return all;
  }

  // Of two summands one at most is an address. Beside a word from memory the argument or variable
  // is taken for it, for arrays of bytes are indexed so; the launch sees whether it leads anywhere.
  [[nodiscard]] Origins sum_of(const Instruction& instruction) const {
    const Origins first = of(instruction.operands[1]), second = of(instruction.operands[2]);
    const auto is_indexed = [](Origins base, Origins index) {
      return index == kFromMemory && (base & (kWords | kFromVariables)) != 0 &&
             (base & (kFromMemory | kFromUnknown)) == 0;
    };
    return is_indexed(first, second) ? first | kHasLoadedIndex
           : instruction.opcode == Opcode::kAdd && is_indexed(second, first)
               ? second | kHasLoadedIndex
               : first | second;
  }

  [[nodiscard]] Origins computed(const Instruction& instruction) const {
    using enum Opcode;
    constexpr Opcode kAddressOfAny[] = {kMov, kCvt, kAdd, kSub, kAnd, kOr,
                                        kXor, kNot, kNeg, kMin, kMax, kSelp};
    // An address that is multiplied or shifted is none.
    constexpr Opcode kNumber[] = {kMul, kShl, kShr, kDiv, kRem, kBfe};
    const Opcode opcode = instruction.opcode;
    const auto is_in = [&](const auto& list) {
      return std::ranges::find(list, opcode) != std::end(list);
    };
    if (is_in(kNumber) || (opcode == kCvt && is_float(instruction.last_type()))) {
      return 0;
    }
    // To a generic address of a space, or .to it.
    if (opcode == kCvta) {
      return instruction.has(Modifier::kTo) || instruction.has(Modifier::kGlobal)
                 ? all_of(instruction, 1)
                 : kFromPrivate;
    }
    if (opcode == kBfi && of(instruction.operands[1]) == kFromPrivate &&
        of(instruction.operands[2]) == kFromPrivate) {
      return kFromPrivate;
    }
    if ((opcode == kAdd || opcode == kSub) && instruction.operands.size() == 3) {
      return sum_of(instruction);
    }
    return is_in(kAddressOfAny) ? all_of(instruction, 1)
           : opcode == kMad     ? all_of(instruction, 3)
                                : kFromUnknown;
  }

  const Program& program_;
  const Function& function_;
  const Places& places_;
  Words& words_;
  ParameterWords parameters_;
  boost::unordered_flat_map<std::string_view, Origins> registers_;  // of 8 bytes
};

bool is_private(StateSpace space) {
  return space == StateSpace::kShared || space == StateSpace::kLocal ||
         space == StateSpace::kParam || space == StateSpace::kConst;
}

bool is_harmless_call(const Module& module, const Instruction& call) {
  const Function* const function = called_function(module, call);
  return function != nullptr &&
         (function->has_body ||
          std::ranges::find(kHarmless, function->name) != std::end(kHarmless));
}

// What lies where an address operand leads to, but for private memory.
Origins origins_at(const Statement& statement, const Effect& effect, const Registers& registers) {
  const Operand* const address = address_of(statement, effect);
  const Origins origins = address == nullptr ? kFromUnknown : registers.of(*address);
  const bool is_unknown = origins == 0 || (origins & kFromMemory) != 0;
  return is_unknown ? kFromUnknown : origins & ~kFromPrivate;
}

// Who reads a texture or a surface writes nothing.
bool reads_image(const Instruction& instruction) {
  return instruction.opcode != Opcode::kSust && instruction.opcode != Opcode::kSured;
}

// What a statement writes of global memory, by what its address is computed from.
Origins written_at(const Program& program, std::size_t statement, const Registers& registers) {
  const Statement& current = program.module.statements[statement];
  const Effect& effect = program.effects[statement];
  using enum OpcodeClass;
  switch (effect.opcode_class) {
    case kStore:
    case kAtomic:
    case kReduction:
    case kMatrixAccess: {
      if (is_private(effect.space) || effect.operation == wire::Operation::kRead) {
        return 0;
      }
      return origins_at(current, effect, registers);
    }
    case kAsyncCopy: {
      const bool copies = effect.operation == wire::Operation::kCopy ||
                          effect.operation == wire::Operation::kTensorCopy ||
                          effect.operation == wire::Operation::kWrite ||
                          effect.operation == wire::Operation::kRead || effect.not_covered;
      return copies && effect.space != StateSpace::kShared ? kFromUnknown : 0;
    }
    case kCall:
      return is_harmless_call(program.module, current.instruction) ? 0 : kFromUnknown;
    case kTexture:
      return reads_image(current.instruction) ? 0 : kFromUnknown;
    case kUnknown:
      return kFromUnknown;
    case kArithmetic:
    case kLoad:
    case kFence:
    case kProxyFence:
    case kBarrier:
    case kBarrierArrive:
    case kWarpBarrier:
    case kClusterBarrier:
    case kGridDependency:
    case kMbarrier:
    case kWarpCollective:
    case kBranch:
    case kReturn:
    case kExit:
    case kTrap:
    case kNoEffect:
      return 0;
  }
  return kFromUnknown;
}

// What a statement accesses of it. Where a texture is not logged, nothing is left out.
Origins accessed_at(const Program& program, std::size_t statement, const Registers& registers) {
  const Statement& current = program.module.statements[statement];
  const Effect& effect = program.effects[statement];
  const OpcodeClass opcode_class = effect.opcode_class;
  if (opcode_class == OpcodeClass::kLoad || opcode_class == OpcodeClass::kMatrixAccess) {
    return is_private(effect.space) || effect.space == StateSpace::kTex
               ? 0
               : origins_at(current, effect, registers);
  }
  if (opcode_class == OpcodeClass::kAsyncCopy) {
    const bool is_wait = effect.address_operand < 0 && !effect.not_covered;
    return is_wait ? 0 : kFromUnknown;
  }
  if (opcode_class == OpcodeClass::kTexture) {
    return program.options.is_emulated ? kFromUnknown : 0;
  }
  return written_at(program, statement, registers);
}

GlobalWrites leads_of(Origins origins, const Words& words) {
  return {.is_known = (origins & kFromUnknown) == 0,
          .variables = (origins & kFromVariables) != 0,
          .has_loaded_index = (origins & kHasLoadedIndex) != 0,
          .arguments = words.in(origins),
          .variable = std::string(words.only_variable(origins))};
}

}  // namespace

GlobalWrites find_global_writes(const Program& program, std::uint32_t entry) {
  const Places places(program.module);
  Words words;
  Origins written = 0;
  for (const std::uint32_t index : program.functions[entry].reachable) {
    const Function& function = program.function(index);
    const Registers registers(program, function, places, words);
    for (std::size_t i = function.body_begin; i < function.body_end; ++i) {
      if (program.module.statements[i].kind == StatementKind::kInstruction) {
        written |= written_at(program, i, registers);
      }
    }
  }
  return leads_of(written, words);
}

std::vector<FoundAccess> find_global_accesses(const Program& program, std::uint32_t entry) {
  const Places places(program.module);
  Words words;
  std::vector<FoundAccess> found;
  for (const std::uint32_t index : program.functions[entry].reachable) {
    const Function& function = program.function(index);
    const Registers registers(program, function, places, words);
    for (std::size_t i = function.body_begin; i < function.body_end; ++i) {
      if (program.module.statements[i].kind != StatementKind::kInstruction) {
        continue;
      }
      if (const Origins origins = accessed_at(program, i, registers); origins != 0) {
        found.push_back({.function = index, .statement = i, .leads = leads_of(origins, words)});
      }
    }
  }
  return found;
}

}  // namespace barracuda::ptx
