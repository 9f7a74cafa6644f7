// docs/PTX.md has a table of what the forms of PTX's instructions do, made of ptx/opcodes.def.
// BARRACUDA_UPDATE_GOLDEN=1 writes it instead (tools/update_golden.sh).
#include "ptx/forms.h"

#include <cstdlib>
#include <map>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "base/file.h"
#include "ptx/edit_order.h"
#include "site_names.h"

namespace barracuda::ptx {
namespace {

constexpr std::string_view kBegin = "<!-- forms, written by tools/update_golden.sh -->\n";

std::string text_of(const Form& form) {
  std::string text(text_of(form.opcode));
  for (const Modifier modifier : form.modifiers) {
    if (modifier != Modifier::kUnknown) {
      text += "." + std::string(text_of(modifier));
    }
  }
  return "`" + text + "`";
}

std::string_view memory_of(const Form& form) {
  using enum wire::Operation;
  // A copy without a source is one of registers.
  const bool only_writes =
      form.operation == kWrite ||
      (form.operation == kCopy && form.source == 0 && form.order == wire::MemoryOrder::kWeak);
  const bool does_both = form.operation == kAtomic || form.operation == kReduction ||
                         (form.operation == kCopy && !only_writes) || form.operation == kTensorCopy;
  const bool only_reads = form.operation == kRead || form.operation == kMatrixProduct;
  return only_reads    ? "reads"
         : only_writes ? "writes"
         : does_both   ? "reads, writes"
         : form.opcode_class == OpcodeClass::kMbarrier || form.operation == kAsyncArrive
             ? "an mbarrier"
             : "";
}

std::string order_of(const Form& form) {
  return form.order == wire::MemoryOrder::kWeak
             ? ""
             : fmt::format("{}, {}", word_of(form.order), word_of(form.scope));
}

std::string log_of(const Form& form) {
  if (!form.is_covered) {
    return "not covered";
  }
  if (!form.operation) {
    return "";
  }
  const std::string name(name_of(*form.operation));
  return form.asynchrony == wire::Asynchrony::kNone
             ? name
             : fmt::format("{} ({})", name, name_of(form.asynchrony));
}

std::string forms_as_markdown() {
  std::string table =
      "| form | ISA | memory | order, scope by default | logged as |\n"
      "| --- | --- | --- | --- | --- |\n";
  std::map<std::pair<std::size_t, std::string_view>, std::string> by_chapter;  // 9.7.2, 9.7.10
  for (const Form& form : all_forms()) {
    if (form.opcode_class == OpcodeClass::kArithmetic) {
      std::string& names = by_chapter[{form.section.size(), form.section}];
      names += (names.empty() ? "" : " ") + text_of(form);
    } else {
      table += fmt::format("| {} | {} | {} | {} | {} |\n", text_of(form), form.section,
                           memory_of(form), order_of(form), log_of(form));
    }
  }
  table += "\nRegisters alone, and nothing of them is logged:\n\n";
  for (const auto& [chapter, names] : by_chapter) {
    table += fmt::format("* {}: {}\n", chapter.second, names);
  }
  return table;
}

}  // namespace

TEST_CASE("docs/PTX.md has the forms of the table, tools/update_golden.sh writes them") {
  const std::string path = BARRACUDA_SOURCE_DIR "/docs/PTX.md";
  const bool writes = std::getenv("BARRACUDA_UPDATE_GOLDEN") != nullptr;
  auto text = read_file(path);
  REQUIRE(text);
  const std::size_t begin = text->find(kBegin);
  REQUIRE(begin != std::string::npos);
  const std::string current = text->substr(0, begin) + std::string(kBegin) + forms_as_markdown();
  CHECK((writes ? write_file(path, current).has_value() : *text == current));
}

}  // namespace barracuda::ptx
