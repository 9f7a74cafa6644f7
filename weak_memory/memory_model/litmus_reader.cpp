#include "weak_memory/memory_model/litmus_reader.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "weak_memory/memory_model/litmus_instruction.h"
#include "weak_memory/memory_model/litmus_words.h"

namespace barracuda::memory_model {
namespace {

constexpr std::size_t kMostInstructions = 64;
constexpr std::size_t kMostRegisters = 128;  // of a thread
constexpr int kDeepestCondition = 64;

// `x=1`, `shared x=1`, `P0:r1=1`, `P0:r1=x`, `y @ generic aliases x`.
struct Declaration {
  std::string thread, name;
  std::uint64_t value = 0;
  std::string of;  // the location that is meant: of an alias, of a register with an address
  std::optional<Proxy> alias;
  bool is_shared = false;
  std::uint32_t line = 0;
};

bool begins_condition(const Words& words) {
  constexpr std::string_view kFirst[] = {"exists", "forall", "locations", "filter", "always"};
  return std::ranges::find(kFirst, words.next().text) != std::end(kFirst) ||
         (words.is_next("~") && words.next(1).text == "exists");
}

class Reader {
 public:
  Reader(Words words, Dialect dialect) : words_(std::move(words)), dialect_(dialect) {}

  Expected<LitmusTest> read() {
    return read_name()
        .and_then([this] { return read_declarations(); })
        .and_then([this] { return read_threads(); })
        .and_then([this] { return declare(); })
        .and_then([this] { return read_rows(); })
        .and_then([this] { return set_destinations(); })
        .and_then([this] { return read_conditions(); })
        .map([this] { return std::move(test_); });
  }

 private:
  using Done = Expected<void>;

  [[nodiscard]] tl::unexpected<Diagnostic> wrong(const std::string& message) const {
    return unexpected(words_.error(message));
  }

  // "PTX NAME": a name may hold signs.
  Done read_name() {
    if (words_.next().text.empty()) {
      return wrong("the file is empty; a litmus test begins with 'PTX NAME'");
    }
    if (!words_.take_if("PTX")) {
      return wrong("a litmus test for PTX begins with 'PTX NAME', not " + quoted(words_.next()));
    }
    while (!words_.is_next("{")) {
      if (words_.next().text.empty()) {
        return wrong("'{' with the initial values is missing");
      }
      if (!words_.take_if("(")) {  // with a star behind it, it would begin a comment
        test_.name += words_.take().text;
      }
    }
    if (test_.name.empty()) {
      return wrong("a name is expected behind 'PTX', before '{'");
    }
    words_.take();
    return {};
  }

  Done read_declarations() {
    while (!words_.take_if("}")) {
      if (words_.take_if(";")) {
        continue;
      }
      auto made = read_declaration();
      if (!made) {
        return unexpected(std::move(made).error());
      }
      declarations_.push_back(*std::move(made));
      if (!words_.is_next("}")) {
        if (auto end = words_.expect(";"); !end) {
          return end;
        }
      }
    }
    return {};
  }

  Expected<Declaration> read_declaration() {
    Declaration made{.line = words_.next().line};
    made.is_shared =
        words_.is_next("shared") && words_.next(1).text != "=" ? words_.take_if("shared") : false;
    if (words_.next(1).text == ":") {
      made.thread = words_.take().text;
      words_.take();
    }
    TRY(made.name, words_.take_name());
    if (words_.take_if("@")) {
      const std::map<std::string, Proxy> proxies = {{"generic", Proxy::kGeneric},
                                                    {"surface", Proxy::kSurface},
                                                    {"texture", Proxy::kTexture},
                                                    {"constant", Proxy::kConstant}};
      const auto proxy = proxies.find(words_.next().text);
      if (proxy == proxies.end() || words_.next(1).text != "aliases") {
        return wrong("'@ generic|surface|texture|constant aliases NAME' is expected here");
      }
      words_.take();
      words_.take();
      made.alias = proxy->second;
      TRY(made.of, words_.take_name());
    } else if (words_.take_if("=")) {
      if (is_name(words_.next().text) && !made.thread.empty()) {
        made.of = words_.take().text;
      } else {
        TRY(made.value, words_.take_number());
      }
    }
    return made;
  }

  Done read_threads() {
    do {
      const Word word = words_.take();
      Thread thread;
      if (!is_name(word.text) && !is_number(word.text)) {
        return unexpected(words_.error_at(
            word.line,
            "a row with the threads is expected here ('P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;'), not " +
                quoted(word)));
      }
      if (std::ranges::find(test_.threads, word.text) != test_.threads.end()) {
        return unexpected(words_.error_at(
            word.line,
            fmt::format("two threads are named '{}'; give each its own name", word.text)));
      }
      if (auto place = read_place(thread); !place) {
        return place;
      }
      test_.threads.push_back(word.text);
      test_.program.threads.push_back(thread);
    } while (words_.take_if("|"));
    if (test_.threads.size() > kMostThreads) {
      return wrong(fmt::format("{} threads; at most {} can be explored", test_.threads.size(),
                               kMostThreads));
    }
    return words_.expect(";");
  }

  Done read_place(Thread& thread) {
    if (!words_.take_if("@")) {
      return {};
    }
    bool has_cluster = false;
    do {
      const Word level = words_.take();
      const auto number = words_.take_index();
      if (!number) {
        return unexpected(number.error());
      }
      const std::uint32_t value = *number;
      if (level.text == "cta") {
        thread.cta = value;
      } else if (level.text == "cluster") {
        thread.cluster = value;
        has_cluster = true;
      } else if (level.text == "gpu") {
        thread.gpu = value;
      } else if (level.text != "sys") {
        return unexpected(words_.error_at(
            level.line,
            quoted(level) + " is no place of a thread; there are cta, cluster and gpu"));
      }
    } while (words_.take_if(","));
    // A CTA is a cluster of its own where the test does not say otherwise.
    thread.cluster = has_cluster ? thread.cluster : thread.cta;
    return {};
  }

  [[nodiscard]] std::optional<std::size_t> thread_of(const std::string& name) const {
    for (std::size_t i = 0; i < test_.threads.size(); ++i) {
      if (test_.threads[i] == name || test_.threads[i] == "P" + name) {
        return i;
      }
    }
    return std::nullopt;
  }

  // Locations first, then their aliases, then the registers.
  Done declare() {
    names_.resize(test_.threads.size());
    for (const Declaration& each : declarations_) {
      if (each.thread.empty() && !each.alias) {
        if (Done done = declare_location(each); !done) {
          return done;
        }
      }
    }
    for (const Declaration& each : declarations_) {
      if (each.alias) {
        if (Done done = declare_alias(each); !done) {
          return done;
        }
      }
    }
    for (const Declaration& each : declarations_) {
      if (!each.thread.empty()) {
        if (Done done = declare_register(each); !done) {
          return done;
        }
      }
    }
    return {};
  }

  Done declare_by_use(const std::string& name, std::uint32_t line) {
    if (dialect_ == Dialect::kOwn) {
      return unexpected(words_.error_at(
          line, fmt::format("there is no location '{}'; write '{}=0;' between the braces (Dat3M's "
                            "files may do without: --dat3m)",
                            name, name)));
    }
    test_.undeclared.push_back(name);
    return declare_location({.name = name, .line = line});
  }

  Done declare_location(const Declaration& each) {
    if (names_.front().addresses.contains(each.name)) {
      return unexpected(
          words_.error_at(each.line, fmt::format("location '{}' is declared twice", each.name)));
    }
    // A shared location is one in each CTA.
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::uint32_t> by_cta;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const Thread& thread = test_.program.threads[i];
      const auto cta = each.is_shared ? std::tuple(thread.gpu, thread.cluster, thread.cta)
                                      : std::tuple(0U, 0U, 0U);
      const auto next = static_cast<std::uint32_t>(test_.addresses.size());
      const auto [place, is_new] = by_cta.try_emplace(cta, next);
      if (is_new) {
        const std::string name =
            by_cta.size() == 1 ? each.name : fmt::format("{}@{}", each.name, thread.cta);
        test_.addresses.push_back(
            {.name = name, .location = test_.program.locations++, .generic = next});
        test_.program.about.push_back({.initial = each.value, .is_shared = each.is_shared});
      }
      names_[i].addresses[each.name] = place->second;
    }
    return {};
  }

  Done declare_alias(const Declaration& each) {
    const auto known = names_.front().addresses.find(each.of);
    if (known == names_.front().addresses.end()) {
      return unexpected(words_.error_at(
          each.line,
          fmt::format("there is no location '{}' for '{}' to alias", each.of, each.name)));
    }
    if (names_.front().addresses.contains(each.name)) {
      return unexpected(
          words_.error_at(each.line, fmt::format("location '{}' is declared twice", each.name)));
    }
    const Address& other = test_.addresses[known->second];
    const std::uint32_t location = other.location;
    // Another proxy reaches memory by the generic address that it names; a generic alias is one.
    const auto number = static_cast<std::uint32_t>(test_.addresses.size());
    const std::uint32_t generic = *each.alias == Proxy::kGeneric ? number : other.generic;
    for (ThreadNames& names : names_) {
      names.addresses[each.name] = number;
    }
    test_.addresses.push_back({.name = each.name,
                               .location = location,
                               .proxy = *each.alias,
                               .is_alias = true,
                               .of = known->second,
                               .generic = generic});
    return {};
  }

  Done declare_register(const Declaration& each) {
    const auto thread = thread_of(each.thread);
    if (!thread) {
      return unexpected(
          words_.error_at(each.line, fmt::format("there is no thread '{}'", each.thread)));
    }
    ThreadNames& names = names_[*thread];
    if (!each.of.empty()) {
      const auto known = names.addresses.find(each.of);
      if (known == names.addresses.end()) {
        return unexpected(
            words_.error_at(each.line, fmt::format("there is no location '{}'", each.of)));
      }
      names.pointers[each.name] = known->second;
      return {};
    }
    if (names.addresses.contains(each.name)) {
      return unexpected(words_.error_at(
          each.line, fmt::format("'{}' is a location and cannot be a register", each.name)));
    }
    const std::uint32_t number = names.register_of(each.name);
    names.is_set[number] = true;
    auto& initial = test_.program.threads[*thread].initial;
    initial.resize(std::max<std::size_t>(initial.size(), number + 1));
    initial[number] = each.value;
    return {};
  }

  Done read_rows() {
    labels_.resize(test_.threads.size());
    while (!begins_condition(words_) && !words_.next().text.empty()) {
      for (std::size_t thread = 0;; ++thread) {
        if (thread == test_.threads.size()) {
          return wrong(fmt::format("this row has more than {} columns", test_.threads.size()));
        }
        if (Done cell = read_cell(thread); !cell) {
          return cell;
        }
        if (!words_.take_if("|")) {
          break;
        }
      }
      if (Done end = words_.expect(";"); !end) {
        return end;
      }
    }
    return {};
  }

  Done read_cell(std::size_t thread) {
    auto& instructions = test_.program.threads[thread].instructions;
    while (is_name(words_.next().text) && words_.next(1).text == ":") {
      const Word label = words_.take();
      words_.take();
      const auto here = static_cast<std::uint32_t>(instructions.size());
      if (!labels_[thread].try_emplace(label.text, here).second) {
        return unexpected(
            words_.error_at(label.line, "label " + quoted(label) + " stands there twice"));
      }
    }
    if (words_.is_next("|") || words_.is_next(";")) {
      return {};
    }
    auto made = read_statement(
        words_, names_[thread], test_.addresses,
        [this](const std::string& name, std::uint32_t line) { return declare_by_use(name, line); });
    if (!made) {
      return unexpected(std::move(made).error());
    }
    if (instructions.size() == kMostInstructions) {
      return wrong(fmt::format("thread {} has more than {} instructions", test_.threads[thread],
                               kMostInstructions));
    }
    if (made->label) {
      jumps_.push_back({thread, instructions.size(), *made->label});
    }
    instructions.push_back(made->instruction);
    return {};
  }

  Done set_destinations() {
    for (const Jump& jump : jumps_) {
      const auto label = labels_[jump.thread].find(jump.label.text);
      if (label == labels_[jump.thread].end()) {
        return unexpected(words_.error_at(
            jump.label.line, fmt::format("thread {} has no label {}", test_.threads[jump.thread],
                                         quoted(jump.label))));
      }
      test_.program.threads[jump.thread].instructions[jump.instruction].destination = label->second;
    }
    if (test_.addresses.size() > kMostLocations) {
      return wrong(fmt::format("{} locations; at most {} can be explored", test_.addresses.size(),
                               kMostLocations));
    }
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (names_[i].registers.size() > kMostRegisters) {
        return wrong(
            fmt::format("thread {} has more than {} registers", test_.threads[i], kMostRegisters));
      }
      test_.program.threads[i].registers = static_cast<std::uint32_t>(names_[i].registers.size());
      test_.registers.push_back(names_[i].registers);
    }
    return {};
  }

  Done read_conditions() {
    bool has_condition = false;
    while (!words_.next().text.empty()) {
      if (words_.take_if("locations")) {
        if (Done done = read_shown(); !done) {
          return done;
        }
        continue;
      }
      if (!begins_condition(words_) ||
          (has_condition && !words_.is_next("filter") && !words_.is_next("always"))) {
        return wrong("the file should end behind the condition; there is still " +
                     quoted(words_.next()));
      }
      const bool is_negated = words_.take_if("~");
      const Word word = words_.take();
      auto condition = read_or(0);
      if (!condition) {
        return unexpected(std::move(condition).error());
      }
      if (word.text == "filter") {
        test_.filter = *std::move(condition);
      } else if (word.text == "always") {
        test_.always = *std::move(condition);
      } else {
        has_condition = true;
        test_.quantifier = word.text == "forall" ? Quantifier::kForall
                           : is_negated          ? Quantifier::kNever
                                                 : Quantifier::kExists;
        test_.condition = *std::move(condition);
      }
      words_.take_if(";");
    }
    if (!has_condition && !test_.always) {
      return wrong("a condition is missing: exists, ~exists or forall");
    }
    return {};
  }

  Done read_shown() {
    if (Done open = words_.expect("["); !open) {
      return open;
    }
    while (!words_.take_if("]")) {
      auto term = read_term();
      if (!term) {
        return unexpected(std::move(term).error());
      }
      test_.shown.push_back(*term);
      words_.take_if(";");
    }
    return {};
  }

  Expected<Condition> read_or(int depth) {
    return read_list("\\/", Condition::Kind::kOr, depth, &Reader::read_and);
  }

  Expected<Condition> read_and(int depth) {
    return read_list("/\\", Condition::Kind::kAnd, depth, &Reader::read_factor);
  }

  Expected<Condition> read_list(std::string_view sign, Condition::Kind kind, int depth,
                                Expected<Condition> (Reader::*read_part)(int)) {
    Condition all{.kind = kind};
    do {
      TRY(Condition part, (this->*read_part)(depth));
      all.parts.push_back(std::move(part));
    } while (words_.take_if(sign));
    return all.parts.size() == 1 ? std::move(all.parts.front()) : all;
  }

  Expected<Condition> read_factor(int depth) {
    if (depth == kDeepestCondition) {
      return wrong("this condition has too many brackets within each other");
    }
    if (words_.take_if("~") || words_.take_if("not")) {
      TRY(Condition part, read_factor(depth + 1));
      return Condition{.kind = Condition::Kind::kNot, .parts = {std::move(part)}};
    }
    if (words_.take_if("(")) {
      TRY(Condition inner, read_or(depth + 1));
      if (!words_.take_if(")")) {
        return wrong("a bracket of the condition is not closed: ')' is expected here, not " +
                     quoted(words_.next()));
      }
      return inner;
    }
    if (words_.take_if("true")) {
      return Condition();
    }
    Condition made{.kind = Condition::Kind::kEqual};
    TRY(made.left, read_term());
    if (words_.take_if("!=")) {
      made.kind = Condition::Kind::kNotEqual;
    } else if (!words_.take_if("=") && !words_.take_if("==")) {
      return wrong("'==', '!=' or '=' is expected here, not " + quoted(words_.next()));
    }
    TRY(made.right, read_term());
    return made;
  }

  // `P0:r1`, `0:r1`, `x`, `7`.
  Expected<Term> read_term() {
    if (words_.next(1).text == ":") {
      const Word name = words_.take();
      words_.take();
      const auto thread = thread_of(name.text);
      if (!thread) {
        return unexpected(words_.error_at(name.line, "there is no thread " + quoted(name)));
      }
      const auto& registers = test_.registers[*thread];
      const auto found = std::ranges::find(registers, words_.next().text);
      if (found == registers.end()) {
        return wrong(fmt::format("thread {} has no register {}", test_.threads[*thread],
                                 quoted(words_.next())));
      }
      words_.take();
      return Term{.kind = Term::Kind::kRegister,
                  .thread = static_cast<std::uint32_t>(*thread),
                  .number = static_cast<std::uint32_t>(found - registers.begin())};
    }
    if (is_number(words_.next().text)) {
      TRY(const std::uint64_t value, words_.take_number());
      return Term{.constant = value};
    }
    return read_location_term();
  }

  // The shared location of another CTA than the first is `x@CTA`.
  Expected<Term> read_location_term() {
    if (!is_name(words_.next().text)) {
      return wrong("a register, a location or a number is expected here, not " +
                   quoted(words_.next()));
    }
    std::string name = words_.next().text;
    if (words_.next(1).text == "@") {
      name += "@" + words_.next(2).text;
    }
    const auto found = std::ranges::find(test_.addresses, name, &Address::name);
    if (found == test_.addresses.end()) {
      return wrong("there is no location " + quoted({name, 0}));
    }
    words_.take();
    if (words_.take_if("@")) {
      words_.take();
    }
    return Term{.kind = Term::Kind::kLocation,
                .number = found->location,
                .address = static_cast<std::uint32_t>(found - test_.addresses.begin())};
  }

  struct Jump {
    std::size_t thread = 0, instruction = 0;
    Word label;
  };

  Words words_;
  Dialect dialect_;
  LitmusTest test_;
  std::vector<Declaration> declarations_;
  std::vector<ThreadNames> names_;  // by thread
  std::vector<std::map<std::string, std::uint32_t>> labels_;
  std::vector<Jump> jumps_;
};

}  // namespace

Expected<LitmusTest> read_litmus(std::string_view text, const std::string& file, Dialect dialect) {
  TRY(Words words, Words::split(text, file));
  return Reader(std::move(words), dialect).read();
}

}  // namespace barracuda::memory_model
