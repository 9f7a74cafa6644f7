#include "ptx/parser/statement_parser.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "base/assert.h"

namespace barracuda::ptx {

namespace {

constexpr std::size_t kMaximumBlockDepth = 1000;
// A statement with its line end is rarely shorter; the vector grows where the guess is too low.
constexpr std::size_t kBytesPerStatement = 32;

}  // namespace

StatementParser::StatementParser(Module& module, std::string_view text, Source source)
    : module_(module),
      source_(source),
      cursor_(text),
      operands_(cursor_, scopes_),
      declarations_(cursor_, scopes_, operands_) {
  statements_.reserve(text.size() / kBytesPerStatement + 4);
  scopes_.open();
}

Expected<std::vector<Statement>> StatementParser::parse() {
  cursor_.skip_space();
  while (!cursor_.at_end() && parse_statement()) {
    cursor_.skip_space();
  }
  if (!cursor_.failed() && expects_body_) {
    cursor_.fail_expected("'{' of a function's body");
  }
  if (!cursor_.failed() && source_ == Source::kModule && !blocks_.empty()) {
    cursor_.fail(blocks_.back(), "'{' without its '}'");
  }
  if (cursor_.failed()) {
    return unexpected(cursor_.failure());
  }
  ASSERT(source_ != Source::kModule || (blocks_.empty() && !expects_body_));
  return std::move(statements_);
}

bool StatementParser::parse_statement() {
  Statement& statement = statements_.emplace_back();
  const char* start = cursor_.at();
  ASSERT(start < cursor_.end());
  if (source_ == Source::kModule) {
    statement.position = cursor_.position(start);
  }
  if (!parse_into(statement)) {
    return false;
  }
  statement.text = cursor_.since(start);
  return true;
}

bool StatementParser::parse_into(Statement& statement) {
  const char c = cursor_.peek();
  if (expects_body_ && c != '{') {
    return cursor_.fail_expected("'{' of a function's body");
  }
  switch (c) {
    case '{':
      return parse_open(statement);
    case '}':
      return parse_close(statement);
    case '.':
      return parse_directive(statement);
    case '@':
      return parse_predicated(statement);
    default:
      return character::is(c, character::kNameStart) ? parse_named(statement)
                                                     : cursor_.fail_expected("a statement");
  }
}

bool StatementParser::parse_open(Statement& statement) {
  if (!is_in_body() && !expects_body_) {
    return cursor_.fail(cursor_.at(), "a block outside of a function");
  }
  if (blocks_.size() >= kMaximumBlockDepth) {
    return cursor_.fail(cursor_.at(), "blocks are nested too deeply");
  }
  statement.kind = StatementKind::kBlockOpen;
  blocks_.push_back(cursor_.at());
  // A function's body shares the scope that its parameters opened.
  if (!std::exchange(expects_body_, false)) {
    scopes_.open();
  }
  cursor_.advance(1);
  return true;
}

bool StatementParser::parse_close(Statement& statement) {
  statement.kind = StatementKind::kBlockClose;
  if (!blocks_.empty()) {
    blocks_.pop_back();
    scopes_.close();
  } else if (source_ == Source::kModule) {
    return cursor_.fail(cursor_.at(), "'}' without its '{'");
  }
  cursor_.advance(1);
  return true;
}

bool StatementParser::parse_predicated(Statement& statement) {
  if (cursor_.peek_next() == '@') {  // @@DWARF …: a line of the oldest debug sections
    const void* line_end =
        std::memchr(cursor_.at(), '\n', static_cast<std::size_t>(cursor_.end() - cursor_.at()));
    cursor_.set(line_end != nullptr ? static_cast<const char*>(line_end) : cursor_.end());
    while (character::is(cursor_.at()[-1], character::kSpace)) {
      cursor_.set(cursor_.at() - 1);
    }
    return true;
  }
  cursor_.advance(1);
  Instruction& instruction = statement.instruction;
  instruction.predicate_negated = cursor_.accept('!');
  instruction.predicate = cursor_.accept_name();
  if (instruction.predicate.empty()) {
    return cursor_.fail_expected("a predicate after '@'");
  }
  const std::string_view head = cursor_.accept_name();
  return head.empty() ? cursor_.fail_expected("an instruction after its predicate")
                      : parse_instruction(statement, head);
}

bool StatementParser::parse_named(Statement& statement) {
  const std::string_view name = cursor_.accept_name();
  cursor_.skip_space();
  if (cursor_.peek() == ':' && cursor_.peek_next() != ':') {
    cursor_.advance(1);
    return parse_labelled(statement, name);
  }
  return parse_instruction(statement, name);
}

// A label alone, or the name of a .branchtargets, .calltargets or .callprototype.
bool StatementParser::parse_labelled(Statement& statement, std::string_view name) {
  statement.kind = StatementKind::kLabel;
  statement.label = name;
  const char* after = cursor_.at();
  if (!is_in_body()) {
    return cursor_.fail(std::to_address(name.begin()), "a label outside of a function");
  }
  cursor_.skip_space();
  if (cursor_.failed()) {
    return false;
  }
  if (cursor_.peek() == '.') {
    const std::string_view word = cursor_.accept_dot_word();
    if (word == "branchtargets" || word == "calltargets") {
      statement.kind =
          word == "branchtargets" ? StatementKind::kBranchTargets : StatementKind::kCallTargets;
      return parse_name_list(statement);
    }
    if (word == "callprototype") {
      return parse_prototype(statement);
    }
  }
  cursor_.set(after);
  return true;
}

bool StatementParser::parse_instruction(Statement& statement, std::string_view head) {
  if (!is_in_body()) {
    return cursor_.fail(std::to_address(head.begin()), "an instruction outside of a function");
  }
  statement.kind = StatementKind::kInstruction;
  Instruction& instruction = statement.instruction;
  instruction.opcode = find_opcode(head);
  modifiers_.clear();
  std::string_view last = head;
  for (auto word = cursor_.accept_dot_word(); !word.empty(); word = cursor_.accept_dot_word()) {
    modifiers_.push_back(find_modifier(word));
    last = word;
  }
  instruction.modifiers.assign(modifiers_.begin(), modifiers_.end());
  instruction.mnemonic = {head.begin(), last.end()};
  return cursor_.accept(';') || parse_operands(instruction, head);
}

bool StatementParser::parse_operands(Instruction& instruction, std::string_view head) {
  const bool is_call = instruction.opcode == Opcode::kCall;
  // A first read decides the capacity: most instructions have three operands or fewer.
  instruction.operands.reserve(2);
  do {
    if (instruction.operands.size() == 2) {
      instruction.operands.reserve(4);
    }
    if (!operands_.parse(instruction.operands.emplace_back(), is_call)) {
      return false;
    }
  } while (cursor_.accept(','));
  return cursor_.accept(';') ||
         cursor_.fail_expected(fmt::format("';' after the operands of \"{}\"", head));
}

const StatementParser::Directive* StatementParser::find_directive(std::string_view word) {
  using P = StatementParser;
  // The frequent ones first.
  static constexpr auto kDirectives = std::to_array<Directive>({
      {.word = "loc", .handler = &P::parse_location},
      {.word = "param", .handler = &P::parse_declaration},
      {.word = "reg", .handler = &P::parse_declaration},
      {.word = "shared", .handler = &P::parse_declaration},
      {.word = "global", .handler = &P::parse_declaration},
      {.word = "local", .handler = &P::parse_declaration},
      {.word = "const", .handler = &P::parse_declaration},
      {.word = "visible", .handler = &P::parse_declaration},
      {.word = "extern", .handler = &P::parse_declaration},
      {.word = "weak", .handler = &P::parse_declaration},
      {.word = "common", .handler = &P::parse_declaration},
      {.word = "entry", .handler = &P::parse_declaration},
      {.word = "func", .handler = &P::parse_declaration},
      {.word = "tex", .handler = &P::parse_declaration},
      {.word = "sreg", .handler = &P::parse_declaration},
      {.word = "param::entry", .handler = &P::parse_declaration},
      {.word = "param::func", .handler = &P::parse_declaration},
      {.word = "pragma", .handler = &P::parse_pragma},
      {.word = "file", .handler = &P::parse_file},
      {.word = "section", .handler = &P::parse_section},
      {.word = "version", .handler = &P::parse_version},
      {.word = "target", .handler = &P::parse_target},
      {.word = "address_size", .handler = &P::parse_address_size},
  });
  const auto* found = std::ranges::find(kDirectives, word, &Directive::word);
  return found == kDirectives.end() ? nullptr : found;
}

bool StatementParser::parse_directive(Statement& statement) {
  const char* start = cursor_.at();
  const std::string_view word = cursor_.accept_dot_word();
  if (word.empty()) {
    return cursor_.fail(start, "expected a directive after '.'");
  }
  const Directive* directive = find_directive(word);
  if (directive == nullptr) {
    return parse_other(statement);
  }
  if (directive->handler == &StatementParser::parse_declaration) {
    cursor_.set(start);
  }
  return (this->*directive->handler)(statement);
}

}  // namespace barracuda::ptx
