#include "ptx/parse.h"

#include <utility>

#include "base/assert.h"
#include "ptx/parser/statement_parser.h"

namespace barracuda::ptx {

Expected<Module> parse(std::string text) {
  Module module;
  const std::string_view view = module.own(std::move(text));
  TRY(module.statements, StatementParser(module, view, Source::kModule).parse());
  module.index_functions();
  DEBUG_ASSERT(module.is_valid());
  return module;
}

Expected<std::vector<Statement>> parse_statements(Module& module, std::string text) {
  const std::string_view view = module.own(std::move(text));
  const std::size_t functions = module.functions.size();
  auto statements = StatementParser(module, view, Source::kSnippet).parse();
  if (!statements) {
    module.functions.resize(functions);
  }
  return statements;
}

}  // namespace barracuda::ptx
