// Statements of a module or of a snippet, appended to the module one by one.
#pragma once

#include <string_view>
#include <vector>

#include "base/expected.h"
#include "ptx/module.h"
#include "ptx/parser/cursor.h"
#include "ptx/parser/declaration_parser.h"
#include "ptx/parser/operand_parser.h"
#include "ptx/parser/scope.h"

namespace barracuda::ptx {

enum class Source : std::uint8_t {
  kModule,   // a whole translation unit
  kSnippet,  // statements of a body or of a module; braces need not balance
};

class StatementParser {
 public:
  // `text` must outlive the module; new functions are appended to it.
  StatementParser(Module& module, std::string_view text, Source source);

  Expected<std::vector<Statement>> parse();

 private:
  using Handler = bool (StatementParser::*)(Statement& statement);

  struct Directive {
    std::string_view word;
    Handler handler;
  };

  static const Directive* find_directive(std::string_view word);

  bool parse_statement();
  bool parse_into(Statement& statement);
  bool parse_open(Statement& statement);
  bool parse_close(Statement& statement);
  bool parse_predicated(Statement& statement);
  bool parse_named(Statement& statement);
  bool parse_labelled(Statement& statement, std::string_view name);
  bool parse_instruction(Statement& statement, std::string_view head);
  bool parse_operands(Instruction& instruction, std::string_view head);
  bool parse_directive(Statement& statement);

  bool parse_location(Statement& statement);
  bool parse_inlining(Location& location);
  bool parse_declaration(Statement& statement);
  bool parse_file(Statement& statement);
  bool parse_version(Statement& statement);
  bool parse_target(Statement& statement);
  bool parse_address_size(Statement& statement);
  bool parse_section(Statement& statement);
  bool parse_pragma(Statement& statement);
  bool parse_name_list(Statement& statement);
  bool parse_prototype(Statement& statement);
  bool parse_other(Statement& statement);

  bool is_in_body() const { return source_ == Source::kSnippet || !blocks_.empty(); }

  Module& module_;
  Source source_;
  Cursor cursor_;
  Scopes scopes_;
  OperandParser operands_;
  DeclarationParser declarations_;
  std::vector<Statement> statements_;
  std::vector<const char*> blocks_;  // the open braces
  bool expects_body_ = false;        // a header was read: '{' must follow
  // Collected here first, so that an instruction allocates what it needs and no more.
  std::vector<Modifier> modifiers_;
};

}  // namespace barracuda::ptx
