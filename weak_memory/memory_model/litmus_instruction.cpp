#include "weak_memory/memory_model/litmus_instruction.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace barracuda::memory_model {
namespace {

using Kind = Instruction::Kind;

template <typename Value>
using Names = std::vector<std::pair<std::string_view, Value>>;

template <typename Value>
std::optional<Value> find(const Names<Value>& names, std::string_view name) {
  const auto found = std::ranges::find(names, name, [](const auto& row) { return row.first; });
  return found == names.end() ? std::nullopt : std::optional(found->second);
}

const Names<Operation> kOperations = {{"add", Operation::kAdd}, {"sub", Operation::kSub},
                                      {"mul", Operation::kMul}, {"div", Operation::kDiv},
                                      {"and", Operation::kAnd}, {"or", Operation::kOr},
                                      {"xor", Operation::kXor}, {"exch", Operation::kMove}};
const Names<Comparison> kBranches = {
    {"beq", Comparison::kEqual},        {"bne", Comparison::kNotEqual},
    {"bge", Comparison::kGreaterEqual}, {"ble", Comparison::kLessEqual},
    {"bgt", Comparison::kGreater},      {"blt", Comparison::kLess}};
const Names<Scope> kScopes = {
    {"cta", Scope::kCta}, {"cluster", Scope::kCluster}, {"gpu", Scope::kGpu}, {"sys", Scope::kSys}};
const Names<Order> kOrders = {{"weak", Order::kWeak},       {"relaxed", Order::kRelaxed},
                              {"acquire", Order::kAcquire}, {"release", Order::kRelease},
                              {"acq_rel", Order::kAcqRel},  {"sc", Order::kSc}};
const Names<Proxy> kFenceProxies = {{"generic", Proxy::kGeneric},
                                    {"constant", Proxy::kConstant},
                                    {"surface", Proxy::kSurface},
                                    {"texture", Proxy::kTexture},
                                    {"alias", Proxy::kAlias}};

struct Verb {
  Kind kind;
  Proxy proxy = Proxy::kGeneric;
  bool keeps_old = true;  // of an update: a register gets what was there
};

const Names<Verb> kVerbs = {{"ld", {Kind::kLoad}},
                            {"st", {Kind::kStore}},
                            {"atom", {Kind::kUpdate}},
                            {"red", {Kind::kUpdate, Proxy::kGeneric, false}},
                            {"suld", {Kind::kLoad, Proxy::kSurface}},
                            {"tld", {Kind::kLoad, Proxy::kTexture}},
                            {"cold", {Kind::kLoad, Proxy::kConstant}},
                            {"sust", {Kind::kStore, Proxy::kSurface}},
                            {"suatom", {Kind::kUpdate, Proxy::kSurface}},
                            {"sured", {Kind::kUpdate, Proxy::kSurface, false}}};

std::vector<std::string> parts_of(std::string_view word) {
  std::vector<std::string> parts = {""};
  for (const char c : word) {
    if (c == '.') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

// What kinds of access may have an order.
bool may_have(Kind kind, Order order) {
  if (kind == Kind::kLoad) {
    return order == Order::kWeak || order == Order::kRelaxed || order == Order::kAcquire;
  }
  if (kind == Kind::kStore) {
    return order == Order::kWeak || order == Order::kRelaxed || order == Order::kRelease;
  }
  if (kind == Kind::kFence) {
    return order != Order::kWeak && order != Order::kRelaxed;
  }
  return order != Order::kWeak && order != Order::kSc;
}

class Reader {
 public:
  Reader(Words& words, ThreadNames& names, const std::vector<Address>& addresses,
         const DeclareLocation& declare)
      : words_(words),
        names_(names),
        addresses_(addresses),
        declare_(declare),
        verb_(words.take()) {
    made_.line = verb_.line;
    parts_ = parts_of(verb_.text);
  }

  Expected<Instruction> read() {
    const std::string_view first = parts_.front();
    if (const auto verb = find(kVerbs, first)) {
      return read_access(*verb);
    }
    if (verb_.text == "goto") {
      made_.kind = Kind::kJump;
      return read_label();
    }
    if (const auto comparison = find(kBranches, verb_.text)) {
      return read_branch(*comparison);
    }
    if (verb_.text == "mov") {
      return read_computation(Operation::kMove);
    }
    if (const auto operation = find(kOperations, verb_.text);
        operation && *operation != Operation::kMove) {
      return read_computation(*operation);
    }
    if (first == "fence") {
      return read_fence();
    }
    if (verb_.text == "bar.cta.sync" || verb_.text == "bar.cta.arrive") {
      return read_barrier();
    }
    return unknown();
  }

 private:
  [[nodiscard]] tl::unexpected<Diagnostic> wrong(const std::string& message) const {
    return unexpected(words_.error_at(verb_.line, message));
  }

  [[nodiscard]] tl::unexpected<Diagnostic> unknown() const {
    return wrong("there is no instruction " + quoted(verb_) +
                 "; docs/MODELS.md lists those that litmus tests have");
  }

  Expected<void> comma() { return words_.expect(","); }

  Expected<std::uint32_t> target() {
    TRY(const std::string name, words_.take_name());
    if (names_.addresses.contains(name)) {
      return wrong(fmt::format("'{}' is a location; a register is expected here", name));
    }
    if (names_.pointers.contains(name)) {
      return wrong(fmt::format("register '{}' holds an address and cannot be written", name));
    }
    return names_.register_of(name);
  }

  void set_target() {
    if (made_.target) {
      names_.is_set[*made_.target] = true;
    }
  }

  Expected<Operand> operand() {
    if (is_number(words_.next().text)) {
      TRY(const std::uint64_t constant, words_.take_number());
      return Operand{.constant = constant, .read = {}};
    }
    TRY(const std::string name, words_.take_name());
    const auto found = std::ranges::find(names_.registers, name);
    const auto number = static_cast<std::size_t>(found - names_.registers.begin());
    if (names_.addresses.contains(name) || names_.pointers.contains(name)) {
      return wrong(
          fmt::format("'{}' is a location; a number or a register is expected here", name));
    }
    if (found == names_.registers.end() || !names_.is_set[number]) {
      return wrong(fmt::format("register '{}' is read before it is set", name));
    }
    return Operand{.constant = 0, .read = static_cast<std::uint32_t>(number)};
  }

  Expected<void> address() {
    const bool is_in_brackets = words_.take_if("[");
    TRY(const std::string name, words_.take_name());
    const auto pointer = names_.pointers.find(name);
    if (pointer == names_.pointers.end() && !names_.addresses.contains(name)) {
      if (std::ranges::find(names_.registers, name) != names_.registers.end()) {
        return wrong(fmt::format("'{}' is a register that holds no address", name));
      }
      if (auto done = declare_(name, verb_.line); !done) {
        return done;
      }
    }
    made_.address = pointer != names_.pointers.end() ? pointer->second : names_.addresses.at(name);
    made_.location = addresses_[made_.address].location;
    made_.generic = addresses_[made_.address].generic;
    if (is_in_brackets) {
      return words_.expect("]");
    }
    return {};
  }

  // The order and scope that stand in parts_[at] and behind it; returns what comes next.
  Expected<std::size_t> qualifiers(std::size_t at) {
    const bool is_volatile =
        at < parts_.size() && (parts_[at] == "volatile" || parts_[at] == "mmio");
    if (is_volatile && (made_.kind == Kind::kLoad || made_.kind == Kind::kStore)) {
      made_.order = Order::kRelaxed;
      made_.scope = Scope::kSys;
      return at + 1;
    }
    const auto order = at < parts_.size() ? find(kOrders, parts_[at]) : std::nullopt;
    if (!order || !may_have(made_.kind, *order)) {
      return unknown();
    }
    made_.order = *order;
    ++at;
    if (const auto scope = at < parts_.size() ? find(kScopes, parts_[at]) : std::nullopt) {
      made_.scope = *scope;
      ++at;
    } else if (made_.order != Order::kWeak) {
      return wrong(fmt::format("{} needs a scope: .cta, .cluster, .gpu or .sys", quoted(verb_)));
    }
    return at;
  }

  Expected<Instruction> read_access(const Verb& verb) {
    made_.kind = verb.kind;
    made_.proxy = verb.proxy;
    if (parts_.size() == 1) {
      if (verb_.text == "ld") {
        return read_computation(Operation::kMove);  // Dat3M's move
      }
      made_.order = Order::kWeak;
      return made_.kind == Kind::kUpdate ? unknown() : read_operands(verb);
    }
    TRY(std::size_t at, qualifiers(1));
    if (made_.kind == Kind::kUpdate) {
      const auto operation = at < parts_.size() ? find(kOperations, parts_[at]) : std::nullopt;
      if (at < parts_.size() && parts_[at] == "cas") {
        made_.kind = Kind::kCompareExchange;
      } else if (operation) {
        made_.operation = *operation;
      } else {
        return unknown();
      }
      ++at;
    }
    if (at != parts_.size()) {
      return unknown();
    }
    return read_operands(verb);
  }

  Expected<Instruction> read_operands(const Verb& verb) {
    std::optional<std::uint32_t> target_register;
    if (made_.reads() && verb.keeps_old) {
      TRY(target_register, target());
      TRY([[maybe_unused]] const auto done, as_value(comma()));
    }
    TRY([[maybe_unused]] const auto addressed, as_value(address()));
    if (made_.kind == Kind::kCompareExchange) {
      TRY([[maybe_unused]] const auto done, as_value(comma()));
      TRY(made_.second, operand());
    }
    if (made_.writes()) {
      TRY([[maybe_unused]] const auto done, as_value(comma()));
      TRY(made_.value, operand());
    }
    made_.target = target_register;
    set_target();
    return made_;
  }

  // TRY declares a value; these have none.
  static Expected<bool> as_value(Expected<void> result) {
    return result ? Expected<bool>(true) : Expected<bool>(unexpected(std::move(result).error()));
  }

  Expected<Instruction> read_computation(Operation operation) {
    made_.kind = Kind::kCompute;
    made_.operation = operation;
    TRY(const std::uint32_t result, target());
    TRY([[maybe_unused]] const auto first, as_value(comma()));
    if (operation != Operation::kMove) {
      TRY(made_.value, operand());
      TRY([[maybe_unused]] const auto second, as_value(comma()));
    }
    TRY(made_.second, operand());
    made_.target = result;
    set_target();
    return made_;
  }

  Expected<Instruction> read_branch(Comparison comparison) {
    made_.kind = Kind::kJump;
    made_.comparison = comparison;
    TRY(made_.value, operand());
    TRY([[maybe_unused]] const auto first, as_value(comma()));
    TRY(made_.second, operand());
    TRY([[maybe_unused]] const auto second, as_value(comma()));
    return read_label();
  }

  Expected<Instruction> read_label() {
    if (!is_name(words_.next().text)) {
      return wrong("a label is expected here, not " + quoted(words_.next()));
    }
    label = words_.take();
    return made_;
  }

  Expected<Instruction> read_fence() {
    if (parts_.size() == 3 && parts_[1] == "proxy") {
      const auto proxy = find(kFenceProxies, parts_[2]);
      if (!proxy) {
        return unknown();
      }
      made_.kind = Kind::kProxyFence;
      made_.proxy = *proxy;
      return made_;
    }
    made_.kind = Kind::kFence;
    TRY(const std::size_t at, qualifiers(1));
    return at == parts_.size() ? Expected<Instruction>(made_) : unknown();
  }

  Expected<Instruction> read_barrier() {
    made_.kind = Kind::kBarrier;
    made_.waits = verb_.text == "bar.cta.sync";
    TRY(made_.instance, words_.take_index());
    if (words_.take_if(",")) {
      TRY(made_.number, operand());
    }
    if (made_.number && words_.take_if(",")) {
      TRY(made_.quorum, operand());
    }
    return made_;
  }

  Words& words_;
  ThreadNames& names_;
  const std::vector<Address>& addresses_;
  const DeclareLocation& declare_;
  Word verb_;
  std::vector<std::string> parts_;
  Instruction made_;

 public:
  std::optional<Word> label;  // that a jump names
};

}  // namespace

std::uint32_t ThreadNames::register_of(const std::string& name) {
  const auto found = std::ranges::find(registers, name);
  const auto number = static_cast<std::uint32_t>(found - registers.begin());
  if (found == registers.end()) {
    registers.push_back(name);
    is_set.push_back(false);
  }
  return number;
}

Expected<Statement> read_statement(Words& words, ThreadNames& names,
                                   const std::vector<Address>& addresses,
                                   const DeclareLocation& declare) {
  Reader reader(words, names, addresses, declare);
  TRY(const Instruction made, reader.read());
  const Operand& divisor = made.kind == Kind::kCompute ? made.second : made.value;
  if ((made.kind == Kind::kCompute || made.kind == Kind::kUpdate) &&
      made.operation == Operation::kDiv && divisor == Operand()) {
    return unexpected(words.error_at(made.line, "division by zero; PTX leaves open what it gives"));
  }
  return Statement{.instruction = made, .label = reader.label};
}

}  // namespace barracuda::memory_model
