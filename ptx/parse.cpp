#include "ptx/parse.h"

#include <atomic>
#include <utility>

#include "base/assert.h"
#include "ptx/parser/statement_parser.h"

namespace barracuda::ptx {
namespace {

std::atomic<std::uint64_t> g_parsed{0};

}  // namespace

Expected<Module> parse(std::string text) {
  g_parsed.fetch_add(1, std::memory_order_relaxed);
  Module module;
  const std::string_view view = module.own(std::move(text));
  TRY(module.statements, StatementParser(module, view, Source::kModule).parse());
  module.index_functions();
  DEBUG_ASSERT(module.is_valid());
  return module;
}

std::uint64_t parsed_modules() {
  return g_parsed.load(std::memory_order_relaxed);
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
