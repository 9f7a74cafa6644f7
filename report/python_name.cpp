#include "report/python_name.h"

#include <algorithm>

#include "report/symbol_name.h"

namespace barracuda::report {
namespace {

constexpr std::string_view kScope = "::";
constexpr std::string_view kProgram = "__main__.";
constexpr std::string_view kExecuted = "<dynamic>.";  // compiled from a string

void replace_all(std::string& text, std::string_view what, std::string_view by) {
  for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
}

}  // namespace

bool is_numba_name(std::string_view name) {
  // numba writes what C++ allows in no name as '_' and its code: 3c and 3e are < and >. Names may
  // have such parts themselves, so that only those are looked for that Python makes.
  constexpr std::string_view kMarks[] = {
      "_3clocals_3e::",         "_3cdynamic_3e::",      "__main__::",
      ", mutable, aligned>",    ", readonly, aligned>", ", mutable, nonaligned>",
      ", readonly, nonaligned>"};
  return std::ranges::any_of(
      kMarks, [name](std::string_view mark) { return name.find(mark) != name.npos; });
}

std::string python_name(const std::string& name) {
  std::string text = without_parameters(name);
  for (const std::string_view made : {"locals", "dynamic", "lambda", "genexpr"}) {
    const std::string plain(made);
    replace_all(text, "_3c" + plain + "_3e", "<" + plain + ">");
  }
  replace_all(text, kScope, ".");
  for (const std::string_view prefix : {kProgram, kExecuted}) {
    text.erase(0, text.starts_with(prefix) ? prefix.size() : 0);
  }
  return text;
}

}  // namespace barracuda::report
