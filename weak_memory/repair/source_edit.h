// Edits as changes of the program's source: a line put in before or behind a statement, a word of a
// line changed. Only where the text allows it without guessing; else a sentence says why not.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/expected.h"
#include "weak_memory/repair/edit.h"

namespace barracuda::weak_memory {

using SourceLines = std::vector<std::string>;  // without their ends

struct SourceChanges {
  struct File {
    SourceLines before, after;
  };

  std::map<std::string, File> files;  // those that change, by the name that the program has of them
  std::vector<std::string> problems;  // of each edit why the source was not changed; empty: it was
};

using ReadSource = std::function<Expected<SourceLines>(const std::string& file)>;

SourceChanges change_source(const std::vector<Edit>& edits, const ReadSource& read);

}  // namespace barracuda::weak_memory
