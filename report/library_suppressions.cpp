#include "report/library_suppressions.h"

#include "base/file.h"
#include "report/library_suppressions_text.h"
#include "report/own_prefix.h"

namespace barracuda::report {
std::string library_suppressions_file() {
  return file_in_prefix("share/barracuda/library.supp");
}

Expected<Suppressions> library_suppressions() {
  const std::string file = library_suppressions_file();
  if (file.empty()) {
    return Suppressions::parse(kLibrarySuppressions, "library.supp");
  }
  TRY(const std::string text, read_file(file));
  return Suppressions::parse(text, file);
}

}  // namespace barracuda::report
