#include "weak_memory/repair/source_edit.h"

#include <algorithm>
#include <cctype>
#include <regex>
#include <string_view>
#include <utility>
#include <variant>

#include <fmt/format.h>

namespace barracuda::weak_memory {
namespace {

constexpr std::size_t kFarthestDeclaration = 80;  // lines above an access, for its scope

// The lines without comments, and with the insides of strings blanked out: what statements are
// found in. As long as the lines themselves.
SourceLines code_of(const SourceLines& lines) {
  SourceLines code;
  bool is_comment = false;
  for (const std::string& line : lines) {
    std::string text = line;
    char quote = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const std::string_view two = std::string_view(line).substr(i, 2);
      if (is_comment) {
        if (two == "*/") {
          is_comment = false;
          text[i++] = ' ';
        }
        text[i] = ' ';
      } else if (quote != 0) {
        if (line[i] == '\\' && i + 1 < text.size()) {
          text[i++] = '_';
        }
        quote = line[i] == quote ? '\0' : quote;
        text[i] = '_';
      } else if (two == "//") {
        text.replace(i, text.npos, text.size() - i, ' ');
      } else if (two == "/*") {
        is_comment = true;
        text[i++] = ' ';
        text[i] = ' ';
      } else if (line[i] == '"' || line[i] == '\'') {
        quote = line[i];
        text[i] = '_';
      }
    }
    code.push_back(std::move(text));
  }
  return code;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  const std::size_t last = text.find_last_not_of(kBlanks);
  return last == text.npos ? std::string_view{} : text.substr(0, last + 1);
}

bool begins_with_word(std::string_view text, std::string_view word) {
  const auto is_part = [](char c) {
    return c == '_' || std::isalnum(static_cast<unsigned char>(c));
  };
  return text.starts_with(word) && (text.size() == word.size() || !is_part(text[word.size()]));
}

// Where a statement lies, in lines from 0.
struct Extent {
  std::size_t begin = 0, end = 0;  // its first and its last line
  std::string problem;             // a sentence; empty: it holds
};

class Source {
 public:
  explicit Source(SourceLines lines) : lines_(std::move(lines)), code_(code_of(lines_)) {}

  // A sentence, or nothing: it was done.
  std::string put_in(const Edit& edit, const std::string& statement) {
    const std::size_t line = edit.lines.front().line - 1;
    if (edit.lines.front().line == 0 || line >= lines_.size()) {
      return "the source has no such line: it is not the one that was compiled";
    }
    return edit.is_line_before ? put_before(line, statement)
                               : put_behind(line, statement, edit.is_behind_loop);
  }

  // In the statement of the line; the declaration of what it uses, if `is_declared` finds it there.
  std::string replace(std::uint32_t number,
                      const std::vector<std::pair<std::regex, std::string>>& words,
                      bool in_declaration) {
    if (number == 0 || number > lines_.size()) {
      return "the source has no such line: it is not the one that was compiled";
    }
    const std::size_t line = number - 1;
    const std::size_t begin = start_of(line);
    for (std::size_t i = begin; i <= line; ++i) {
      if (replace_in(i, words)) {
        return "";
      }
    }
    for (std::size_t up = 1; in_declaration && up <= begin && up < kFarthestDeclaration; ++up) {
      if (replace_in(begin - up, words)) {
        return "";
      }
    }
    return "its line does not spell order and scope out: the access is to be written anew";
  }

  [[nodiscard]] SourceLines changed() const {
    SourceLines all;
    for (std::size_t i = 0; i <= lines_.size(); ++i) {
      if (const auto added = added_.find(i); added != added_.end()) {
        all.insert(all.end(), added->second.begin(), added->second.end());
      }
      if (i < lines_.size()) {
        const auto changed = changed_.find(i);
        all.push_back(changed == changed_.end() ? lines_[i] : changed->second);
      }
    }
    return all;
  }

  [[nodiscard]] const SourceLines& lines() const { return lines_; }

 private:
  [[nodiscard]] std::string_view code(std::size_t line) const { return trimmed(code_[line]); }

  [[nodiscard]] std::string indentation(std::size_t line) const {
    return lines_[line].substr(
        0, std::min(lines_[line].find_first_not_of(" \t"), lines_[line].size()));
  }

  // The line on which the statement begins that the line is a part of.
  [[nodiscard]] std::size_t start_of(std::size_t line) const {
    while (line > 0) {
      std::size_t above = line - 1;
      while (above > 0 && code(above).empty()) {
        --above;
      }
      const std::string_view text = code(above);
      if (text.empty() || std::string_view(";{}:").find(text.back()) != std::string_view::npos ||
          text.starts_with('#')) {
        return line;
      }
      line = above;
    }
    return line;
  }

  // Of the statement that begins there.
  [[nodiscard]] Extent extent_of(std::size_t begin) const {
    int parentheses = 0;
    int braces = 0;
    for (std::size_t line = begin; line < code_.size(); ++line) {
      const std::string& text = code_[line];
      for (std::size_t i = 0; i < text.size(); ++i) {
        parentheses += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
        if (text[i] == '{') {
          ++braces;
        } else if (text[i] == '}' && braces > 0) {
          --braces;
        } else if (text[i] != ';' || parentheses != 0) {
          continue;
        }
        if (braces == 0 && parentheses == 0) {
          return {.begin = begin, .end = line, .problem = after(line, i + 1)};
        }
      }
    }
    return {.begin = begin, .end = begin, .problem = "its statement has no end"};
  }

  // What keeps a line from being put behind this column.
  [[nodiscard]] std::string after(std::size_t line, std::size_t column) const {
    const std::string_view rest = trimmed(std::string_view(code_[line]).substr(column));
    if (!rest.empty() && rest != ";") {
      return "another statement stands on the line behind it";
    }
    std::size_t next = line + 1;
    while (next < code_.size() && code(next).empty()) {
      ++next;
    }
    return next < code_.size() && begins_with_word(code(next), "else")
               ? "an else follows, which would lose its if"
               : "";
  }

  std::string put_before(std::size_t line, const std::string& statement) {
    const std::size_t begin = start_of(line);
    if (code(begin).starts_with('}') || begins_with_word(code(begin), "else")) {
      return "its statement shares the line with the end of another one";
    }
    add(begin, indentation(begin) + statement + ";");
    return "";
  }

  std::string put_behind(std::size_t line, const std::string& statement, bool is_behind_loop) {
    const std::size_t begin = start_of(line);
    const bool is_choice =
        begins_with_word(code(begin), "if") || begins_with_word(code(begin), "switch");
    if (is_choice && !is_behind_loop) {
      return put_into_body(begin, line, statement);
    }
    const Extent extent = extent_of(begin);
    if (!extent.problem.empty()) {
      return extent.problem;
    }
    add(extent.end + 1, indentation(begin) + statement + ";");
    return "";
  }

  // What a condition reads is followed by the beginning of the body.
  std::string put_into_body(std::size_t begin, std::size_t line, const std::string& statement) {
    for (std::size_t i = begin; i <= line || i < std::min(begin + 4, code_.size()); ++i) {
      if (i >= line && code(i).ends_with('{')) {
        add(i + 1, indentation(begin) + "  " + statement + ";");
        return "";
      }
    }
    return "the statement under the condition has no braces of its own";
  }

  void add(std::size_t before, std::string text) {
    if (!lines_.empty() && lines_.front().ends_with('\r')) {
      text += '\r';
    }
    std::vector<std::string>& added = added_[before];
    if (std::ranges::find(added, text) == added.end()) {
      added.push_back(std::move(text));
    }
  }

  bool replace_in(std::size_t line, const std::vector<std::pair<std::regex, std::string>>& words) {
    std::string text = changed_.contains(line) ? changed_.at(line) : lines_[line];
    bool is_done = false;
    for (const auto& [word, by] : words) {
      const std::string made = std::regex_replace(text, word, by);
      is_done = is_done || made != text || std::regex_search(text, word);
      text = made;
    }
    if (is_done) {
      changed_[line] = text;
    }
    return is_done;
  }

  SourceLines lines_, code_;
  std::map<std::size_t, std::vector<std::string>> added_;  // before that line
  std::map<std::size_t, std::string> changed_;
};

const char* suffix_of(wire::Scope scope) {
  return scope == wire::Scope::kCta ? "_block" : scope == wire::Scope::kSys ? "_system" : "";
}

const char* scope_word(wire::Scope scope) {
  return scope == wire::Scope::kCta   ? "thread_scope_block"
         : scope == wire::Scope::kSys ? "thread_scope_system"
                                      : "thread_scope_device";
}

using Words = std::vector<std::pair<std::regex, std::string>>;

// How scopes are spelled: calls with a suffix, cuda::thread_scope_…, and PTX in asm.
Words scope_words(wire::Scope scope) {
  const std::string suffix = suffix_of(scope);
  return {
      {std::regex("__threadfence(_block|_system)?\\("), "__threadfence" + suffix + "("},
      {std::regex("\\b(atomic(Add|Sub|Exch|Min|Max|Inc|Dec|CAS|And|Or|Xor))(_block|_system)?\\("),
       "$1" + suffix + "("},
      {std::regex("\\bthread_scope_(thread|block|device|system)\\b"), scope_word(scope)},
      {std::regex("(fence|ld|st|atom|red)\\.(sc|acq_rel|relaxed|acquire|release)\\."
                  "(cta|cluster|gpu|sys)\\b"),
       "$1.$2." + std::string(ptx::word_of(scope))}};
}

std::string change(Source& source, const Edit& edit) {
  const std::uint32_t line = edit.lines.front().line;
  if (const auto* const scope = std::get_if<ptx::ChangeScope>(&change_of(edit))) {
    return source.replace(line, scope_words(scope->scope), true);
  }
  if (const auto* const order = std::get_if<ptx::ChangeOrder>(&change_of(edit))) {
    if (order->order == wire::MemoryOrder::kWeak) {
      return source.replace(line, {{std::regex("__ldg\\("), "*("}}, false);
    }
    const std::string word(ptx::word_of(order->order));
    return source.replace(
        line,
        {{std::regex("\\bmemory_order(_|::)(relaxed|acquire|release|acq_rel|seq_cst)\\b"),
          "memory_order$1" + word},
         {std::regex("(ld|st|atom|red)\\.(relaxed|acquire|release)\\."), "$1." + word + "."}},
        false);
  }
  return source.put_in(edit, cuda_spelling(edit));
}

}  // namespace

SourceChanges change_source(const std::vector<Edit>& edits, const ReadSource& read) {
  SourceChanges changes;
  std::map<std::string, Expected<Source>> sources;
  for (const Edit& edit : edits) {
    if (edit.lines.empty()) {
      changes.problems.emplace_back("no line is known: compile with -lineinfo");
      continue;
    }
    if (edit.within) {
      changes.problems.push_back(fmt::format("it belongs to {}:{}, within what that line calls",
                                             edit.within->file, edit.within->line));
      continue;
    }
    const std::string& file = edit.lines.front().file;
    auto known = sources.find(file);
    if (known == sources.end()) {
      known =
          sources
              .emplace(file,
                       read(file).map([](SourceLines&& lines) { return Source(std::move(lines)); }))
              .first;
    }
    changes.problems.push_back(known->second ? change(*known->second, edit)
                                             : "the source: " + known->second.error().to_string());
  }
  for (auto& [file, source] : sources) {
    if (source) {
      SourceLines after = source->changed();
      if (after != source->lines()) {
        changes.files[file] = {.before = source->lines(), .after = std::move(after)};
      }
    }
  }
  return changes;
}

}  // namespace barracuda::weak_memory
