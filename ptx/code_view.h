// The code of a program as a repair looks at it: what an instruction is, where its source stands,
// and the gaps between instructions in which a barrier or a fence could stand. Of a linked module
// without edits; instructions are named as in statement_name.h.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/expected.h"
#include "ptx/fence_places.h"
#include "ptx/opcode.h"
#include "ptx/site_table.h"
#include "ptx/statement_name.h"

namespace barracuda::ptx {

struct CodePoint {
  StatementName name;
  Effect effect;
  std::string instruction;         // "st.global.u32"
  std::vector<SourceFrame> lines;  // the user's own line first, then where it was inlined
  // The line calls a function of somebody else's, whose line this is, and which accesses memory
  // more than once: next to the user's line is not next to the instruction. Mostly nothing.
  std::optional<SourceFrame> within;
  std::uint32_t loops = 0;  // that it is inside of
  bool is_in_poll = false;  // of a loop that does nothing but wait for it
};

// Between two instructions. In the source that is before or behind the statement that holds the
// line of `at_line`.
struct Gap {
  StatementName at;
  bool is_before = false;
  std::vector<SourceFrame> at_line;  // empty: not known
  bool is_line_before = false;
  bool is_behind_loop = false;        // of which that line is the head
  std::optional<SourceFrame> within;  // as of an instruction
  std::uint32_t loops = 0;
  bool is_for_all = false;  // every thread of the block comes there, but for those that have left

  friend bool operator==(const Gap& left, const Gap& right) {
    return left.at == right.at && left.is_before == right.is_before;
  }
};

class CodeView {
 public:
  // Errors: those of the parser.
  static Expected<CodeView> read(std::string_view ptx, IsUserFile is_user_file);
  CodeView(CodeView&&) noexcept;
  CodeView& operator=(CodeView&&) noexcept;
  CodeView(const CodeView&) = delete;
  CodeView& operator=(const CodeView&) = delete;
  ~CodeView();

  // None: no such function, or it has fewer instructions.
  [[nodiscard]] std::optional<CodePoint> find(const StatementName& name) const;

  // The instructions of that one's function that the compiler made of the same place of the source
  // and that do the same to memory, itself included: copies of a loop's body, of a branch. Places
  // are the innermost lines, whosever they are.
  [[nodiscard]] std::vector<StatementName> copies_of(const StatementName& name) const;

  // Where a barrier would stand on every way from the one to the other; those in fewer loops first.
  // Those that a barrier of the block lies before already are none, unless that is too little.
  [[nodiscard]] std::vector<Gap> gaps_between(const StatementName& from, const StatementName& to,
                                              bool past_barriers = false) const;

  // Directly behind a read; behind the loop that polls by it.
  [[nodiscard]] std::optional<Gap> gap_behind_read(const StatementName& read) const;

  // Strong accesses, and what a loop polls, from which control may come to the instruction, or to
  // which it may go from it; the nearest in the text first. Of its function, then of the others.
  [[nodiscard]] std::vector<StatementName> reads_before(const StatementName& name) const;
  [[nodiscard]] std::vector<StatementName> writes_behind(const StatementName& name) const;

 private:
  class Text;
  explicit CodeView(std::unique_ptr<Text> text);

  std::unique_ptr<Text> text_;
};

}  // namespace barracuda::ptx
