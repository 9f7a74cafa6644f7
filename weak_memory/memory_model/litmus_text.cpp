#include "weak_memory/memory_model/litmus_text.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/assert.h"

namespace barracuda::memory_model {

std::string_view name_of(Scope scope) {
  switch (scope) {
    case Scope::kCta:
      return "cta";
    case Scope::kCluster:
      return "cluster";
    case Scope::kGpu:
      return "gpu";
    case Scope::kSys:
      return "sys";
  }
  ASSERT(false);
}

std::string_view name_of(Order order) {
  switch (order) {
    case Order::kWeak:
      return "weak";
    case Order::kRelaxed:
      return "relaxed";
    case Order::kAcquire:
      return "acquire";
    case Order::kRelease:
      return "release";
    case Order::kAcqRel:
      return "acq_rel";
    case Order::kSc:
      return "sc";
  }
  ASSERT(false);
}

namespace {

using Kind = Instruction::Kind;
using memory_model::name_of;  // beside those below, which would hide them

std::string_view name_of(Proxy proxy) {
  switch (proxy) {
    case Proxy::kGeneric:
      return "generic";
    case Proxy::kSurface:
      return "surface";
    case Proxy::kTexture:
      return "texture";
    case Proxy::kConstant:
      return "constant";
    case Proxy::kAlias:
      return "alias";
  }
  ASSERT(false);
}

std::string_view name_of(Operation operation) {
  switch (operation) {
    case Operation::kMove:
      return "exch";
    case Operation::kAdd:
      return "add";
    case Operation::kSub:
      return "sub";
    case Operation::kMul:
      return "mul";
    case Operation::kDiv:
      return "div";
    case Operation::kAnd:
      return "and";
    case Operation::kOr:
      return "or";
    case Operation::kXor:
      return "xor";
  }
  ASSERT(false);
}

std::string_view branch_of(Comparison comparison) {
  switch (comparison) {
    case Comparison::kEqual:
      return "beq";
    case Comparison::kNotEqual:
      return "bne";
    case Comparison::kGreaterEqual:
      return "bge";
    case Comparison::kLessEqual:
      return "ble";
    case Comparison::kGreater:
      return "bgt";
    case Comparison::kLess:
      return "blt";
  }
  ASSERT(false);
}

std::string_view verb_of(const Instruction& instruction) {
  const bool is_surface = instruction.proxy == Proxy::kSurface;
  if (instruction.kind == Kind::kLoad) {
    return is_surface                              ? "suld"
           : instruction.proxy == Proxy::kTexture  ? "tld"
           : instruction.proxy == Proxy::kConstant ? "cold"
                                                   : "ld";
  }
  if (instruction.kind == Kind::kStore) {
    return is_surface ? "sust" : "st";
  }
  return instruction.target ? (is_surface ? "suatom" : "atom") : (is_surface ? "sured" : "red");
}

std::string qualifiers_of(const Instruction& instruction) {
  return instruction.order == Order::kWeak
             ? std::string("weak")
             : fmt::format("{}.{}", name_of(instruction.order), name_of(instruction.scope));
}

std::string number_text(std::uint64_t value) {
  return std::to_string(static_cast<std::int64_t>(value));
}

class ThreadText {
 public:
  ThreadText(const LitmusTest& test, std::size_t thread)
      : test_(test), registers_(test.registers[thread]), thread_(thread) {}

  [[nodiscard]] std::string text_of(const Instruction& each) const {
    switch (each.kind) {
      case Kind::kLoad:
        return fmt::format("{}.{} {}, {}", verb_of(each), qualifiers_of(each),
                           registers_[*each.target], address(each));
      case Kind::kStore:
        return fmt::format("{}.{} {}, {}", verb_of(each), qualifiers_of(each), address(each),
                           operand(each.value));
      case Kind::kUpdate:
        return update(each, name_of(each.operation), "");
      case Kind::kCompareExchange:
        return update(each, "cas", operand(each.second) + ", ");
      case Kind::kFence:
        return "fence." + qualifiers_of(each);
      case Kind::kProxyFence:
        return fmt::format("fence.proxy.{}", name_of(each.proxy));
      case Kind::kBarrier:
        return barrier(each);
      case Kind::kCompute:
        return each.operation == Operation::kMove
                   ? fmt::format("mov {}, {}", registers_[*each.target], operand(each.second))
                   : fmt::format("{} {}, {}, {}", name_of(each.operation), registers_[*each.target],
                                 operand(each.value), operand(each.second));
      case Kind::kJump:
        return is_unconditional(each)
                   ? fmt::format("goto {}", label(each.destination))
                   : fmt::format("{} {}, {}, {}", branch_of(each.comparison), operand(each.value),
                                 operand(each.second), label(each.destination));
    }
    ASSERT(false);
  }

  [[nodiscard]] std::string labelled(std::size_t number) const {
    const auto& instructions = test_.program.threads[thread_].instructions;
    std::string text;
    if (std::ranges::any_of(instructions, [&](const Instruction& each) {
          return each.kind == Kind::kJump && each.destination == number;
        })) {
      text = label(static_cast<std::uint32_t>(number)) + ": ";
    }
    return number < instructions.size() ? text + text_of(instructions[number]) : text;
  }

 private:
  static bool is_unconditional(const Instruction& jump) {
    return jump.comparison == Comparison::kEqual && jump.value == jump.second;
  }

  static std::string label(std::uint32_t destination) { return fmt::format("L{}", destination); }

  [[nodiscard]] std::string operand(const Operand& operand) const {
    return operand.read ? registers_[*operand.read] : number_text(operand.constant);
  }

  // The shared location of each CTA is known to its threads by the one name.
  [[nodiscard]] std::string address(const Instruction& each) const {
    const std::string& name = test_.addresses[each.address].name;
    return name.substr(0, name.find('@'));
  }

  [[nodiscard]] std::string update(const Instruction& each, std::string_view operation,
                                   const std::string& compared) const {
    const std::string target = each.target ? registers_[*each.target] + ", " : "";
    return fmt::format("{}.{}.{} {}{}, {}{}", verb_of(each), qualifiers_of(each), operation, target,
                       address(each), compared, operand(each.value));
  }

  [[nodiscard]] std::string barrier(const Instruction& each) const {
    std::string text =
        fmt::format("bar.cta.{} {}", each.waits ? "sync" : "arrive", each.instance.value_or(0));
    text += each.number ? ", " + operand(*each.number) : "";
    return text + (each.quorum ? ", " + operand(*each.quorum) : "");
  }

  const LitmusTest& test_;
  const std::vector<std::string>& registers_;
  std::size_t thread_;
};

std::string declarations(const LitmusTest& test) {
  std::string text = "{\n";
  for (const Address& address : test.addresses) {
    if (address.is_alias) {
      text += fmt::format("{} @ {} aliases {};\n", address.name, name_of(address.proxy),
                          test.addresses[address.of].name);
    } else if (address.name.find('@') == std::string::npos) {
      const Location location = test.program.location(address.location);
      text += fmt::format("{}{}={};\n", location.is_shared ? "shared " : "", address.name,
                          number_text(location.initial));
    }
  }
  for (std::size_t thread = 0; thread < test.threads.size(); ++thread) {
    const auto& initial = test.program.threads[thread].initial;
    for (std::size_t i = 0; i < initial.size(); ++i) {
      text += fmt::format("{}:{}={};\n", test.threads[thread], test.registers[thread][i],
                          number_text(initial[i]));
    }
  }
  return text + "}\n";
}

std::string joined(const LitmusTest& test, const Condition& condition, std::string_view sign) {
  std::string text;
  for (const Condition& part : condition.parts) {
    text += text.empty() ? "(" : fmt::format(" {} ", sign);
    text += condition_text(test, part);
  }
  return text + ")";
}

}  // namespace

std::string instruction_text(const LitmusTest& test, std::size_t thread,
                             const Instruction& instruction) {
  return ThreadText(test, thread).text_of(instruction);
}

std::string term_text(const LitmusTest& test, const Term& term) {
  switch (term.kind) {
    case Term::Kind::kConstant:
      return number_text(term.constant);
    case Term::Kind::kRegister:
      return fmt::format("{}:{}", test.threads[term.thread],
                         test.registers[term.thread][term.number]);
    case Term::Kind::kLocation:
      return test.addresses[term.address].name;
  }
  ASSERT(false);
}

std::string condition_text(const LitmusTest& test, const Condition& condition) {
  switch (condition.kind) {
    case Condition::Kind::kTrue:
      return "true";
    case Condition::Kind::kAnd:
      return joined(test, condition, "/\\");
    case Condition::Kind::kOr:
      return joined(test, condition, "\\/");
    case Condition::Kind::kNot:
      return "~" + condition_text(test, condition.parts.front());
    case Condition::Kind::kEqual:
    case Condition::Kind::kNotEqual:
      return fmt::format("{} {} {}", term_text(test, condition.left),
                         condition.kind == Condition::Kind::kEqual ? "==" : "!=",
                         term_text(test, condition.right));
  }
  ASSERT(false);
}

std::string_view name_of(Quantifier quantifier) {
  switch (quantifier) {
    case Quantifier::kExists:
      return "exists";
    case Quantifier::kNever:
      return "~exists";
    case Quantifier::kForall:
      return "forall";
  }
  ASSERT(false);
}

std::string question_text(const LitmusTest& test) {
  const std::string condition = condition_text(test, test.condition);
  const auto quantifier = name_of(test.quantifier);
  return condition.starts_with('(') ? fmt::format("{} {}", quantifier, condition)
                                    : fmt::format("{} ({})", quantifier, condition);
}

std::string litmus_text(const LitmusTest& test) {
  std::string text = fmt::format("PTX {}\n{}", test.name, declarations(test));
  std::size_t rows = 0;
  std::vector<std::string> header;
  for (std::size_t i = 0; i < test.threads.size(); ++i) {
    const Thread& thread = test.program.threads[i];
    header.push_back(fmt::format("{}@cta {},cluster {},gpu {}", test.threads[i], thread.cta,
                                 thread.cluster, thread.gpu));
    rows = std::max(rows, thread.instructions.size() + 1);  // a label may stand behind the last one
  }
  text += fmt::format("{} ;\n", fmt::join(header, " | "));
  for (std::size_t row = 0; row < rows; ++row) {
    std::vector<std::string> cells;
    for (std::size_t i = 0; i < test.threads.size(); ++i) {
      cells.push_back(row <= test.program.threads[i].instructions.size()
                          ? ThreadText(test, i).labelled(row)
                          : "");
    }
    text += fmt::format("{} ;\n", fmt::join(cells, " | "));
  }
  if (!test.shown.empty()) {
    text += "locations [";
    for (const Term& term : test.shown) {
      text += term_text(test, term) + ";";
    }
    text += "]\n";
  }
  text += test.filter ? "filter " + condition_text(test, *test.filter) + "\n" : "";
  text += test.always ? "always " + condition_text(test, *test.always) + "\n" : "";
  return text + question_text(test) + "\n";
}

const std::string& location_name(const LitmusTest& test, std::uint32_t location) {
  const auto found = std::ranges::find_if(test.addresses, [&](const Address& address) {
    return !address.is_alias && address.location == location;
  });
  ASSERT(found != test.addresses.end());
  return found->name;
}

}  // namespace barracuda::memory_model
