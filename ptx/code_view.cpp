#include "ptx/code_view.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "base/assert.h"
#include "ptx/analysis/program.h"
#include "ptx/analysis/source_frames.h"
#include "ptx/analysis/uniform_blocks.h"
#include "ptx/control_flow.h"
#include "ptx/parse.h"

namespace barracuda::ptx {
namespace {

using Lines = std::vector<SourceFrame>;

bool is_same_line(const SourceFrame& left, const SourceFrame& right) {
  return left.file == right.file && left.line == right.line;
}

bool is_same_place(const Lines& left, const Lines& right) {
  return std::ranges::equal(left, right, is_same_line);
}

struct Loop {
  std::uint32_t header = 0;
  std::set<std::uint32_t> blocks;
};

// What is known of one function, once somebody asks.
struct Facts {
  const Function* function = nullptr;
  std::vector<std::size_t> instructions;  // statements, by ordinal - 1
  std::vector<Lines> frames;              // the same: innermost first
  std::vector<Lines> lines;               // the same, from the user's own line on
  ControlFlow flow;
  std::vector<Uniformity> uniform;  // by block
  std::vector<Loop> loops;          // inner ones have fewer blocks
};

// Between statements: before one, or behind one.
struct Cut {
  std::size_t statement = 0;
  bool is_before = false;
};

std::vector<Loop> find_loops(const ControlFlow& flow) {
  std::map<std::uint32_t, Loop> by_header;
  for (std::uint32_t block = 0; block < flow.blocks.size(); ++block) {
    for (const std::uint32_t header : flow.blocks[block].successors) {
      if (!flow.blocks[block].is_reachable || !flow.dominates(header, block)) {
        continue;
      }
      Loop& loop = by_header[header];
      loop.header = header;
      loop.blocks.insert(header);
      std::vector<std::uint32_t> rest = {block};
      while (!rest.empty()) {
        const std::uint32_t next = rest.back();
        rest.pop_back();
        if (loop.blocks.insert(next).second) {
          const auto& before = flow.blocks[next].predecessors;
          rest.insert(rest.end(), before.begin(), before.end());
        }
      }
    }
  }
  std::vector<Loop> loops;
  loops.reserve(by_header.size());
  for (auto& [header, loop] : by_header) {
    loops.push_back(std::move(loop));
  }
  std::ranges::stable_sort(loops, {}, [](const Loop& loop) { return loop.blocks.size(); });
  return loops;
}

}  // namespace

class CodeView::Text {
 public:
  Text(Module module, IsUserFile is_user_file)
      : module_(std::move(module)), is_user_file_(std::move(is_user_file)), index_(module_) {}

  const Facts* facts_of(const StatementName& name) { return facts_of(index_.function_of(name)); }

  // Null: a function that cannot be understood.
  const Facts* facts_of(const Function* function) {
    if (function == nullptr) {
      return nullptr;
    }
    const auto [known, is_new] = facts_.try_emplace(function);
    if (is_new) {
      known->second = read(*function);
    }
    const std::optional<Facts>& facts = known->second;
    return facts ? &*facts : nullptr;
  }

  std::optional<std::size_t> find(const StatementName& name) { return index_.find(name); }

  [[nodiscard]] const Statement& statement(std::size_t at) const { return module_.statements[at]; }

  [[nodiscard]] const Module& module() const { return module_; }

  [[nodiscard]] Effect effect(std::size_t at) const { return classify(statement(at).instruction); }

  static std::size_t ordinal_of(const Facts& facts, std::size_t statement) {
    const auto at = std::ranges::lower_bound(facts.instructions, statement);
    ASSERT(at != facts.instructions.end() && *at == statement);
    return static_cast<std::size_t>(at - facts.instructions.begin()) + 1;
  }

  static StatementName name_of(const Facts& facts, std::size_t statement) {
    return {.function = std::string(facts.function->name),
            .ordinal = static_cast<std::uint32_t>(ordinal_of(facts, statement))};
  }

  static const Lines& lines_of(const Facts& facts, std::size_t statement) {
    return facts.lines[ordinal_of(facts, statement) - 1];
  }

  static const Lines& frames_of(const Facts& facts, std::size_t statement) {
    return facts.frames[ordinal_of(facts, statement) - 1];
  }

  std::optional<SourceFrame> within(const Facts& facts, std::size_t at) {
    const Lines& frames = frames_of(facts, at);
    const Lines& own = lines_of(facts, at);
    if (frames.size() == own.size()) {
      return std::nullopt;  // it is the user's own
    }
    const bool is_one_of_several = std::ranges::any_of(facts.instructions, [&](std::size_t other) {
      return (may_touch_shared(effect(other)) ||
              effect(other).opcode_class == OpcodeClass::kBarrier) &&
             is_same_place(lines_of(facts, other), own) &&
             !is_same_place(frames_of(facts, other), frames);
    });
    return is_one_of_several ? std::optional(frames.front()) : std::nullopt;
  }

  static std::uint32_t loops_around(const Facts& facts, std::uint32_t block) {
    return static_cast<std::uint32_t>(std::ranges::count_if(
        facts.loops, [block](const Loop& loop) { return loop.blocks.contains(block); }));
  }

  // The innermost loop around the read, if it does nothing else to memory.
  const Loop* poll_of(const Facts& facts, std::size_t read) {
    const std::uint32_t block = facts.flow.block_of(read);
    const auto inner = std::ranges::find_if(
        facts.loops, [block](const Loop& loop) { return loop.blocks.contains(block); });
    if (inner == facts.loops.end()) {
      return nullptr;
    }
    const bool only_waits = std::ranges::all_of(inner->blocks, [&](std::uint32_t index) {
      const BasicBlock& part = facts.flow.blocks[index];
      for (std::size_t i = part.begin; i < std::min(part.end, facts.function->body_end); ++i) {
        if (statement(i).kind != StatementKind::kInstruction || i == read) {
          continue;
        }
        const Effect other = effect(i);
        const bool is_copy = other.opcode_class == effect(read).opcode_class &&
                             is_same_place(frames_of(facts, i), frames_of(facts, read));
        if ((may_touch_shared(other) && !is_copy) || other.opcode_class == OpcodeClass::kBarrier) {
          return false;
        }
      }
      return true;
    });
    return only_waits ? &*inner : nullptr;
  }

  // Whether control may come from behind `from` to `to` without a cut, or past a barrier.
  bool reaches(const Facts& facts, std::size_t from, std::size_t to, const std::optional<Cut>& cut,
               bool past_barriers) {
    const auto is_cut = [&](std::size_t at, bool is_before) {
      return cut && cut->statement == at && cut->is_before == is_before;
    };
    const auto stops = [&](std::size_t at) {
      return !past_barriers && statement(at).kind == StatementKind::kInstruction &&
             statement(at).instruction.predicate.empty() &&
             effect(at).opcode_class == OpcodeClass::kBarrier;
    };
    if (is_cut(from, false)) {
      return false;
    }
    std::vector<bool> seen(facts.flow.blocks.size());
    std::vector<std::pair<std::uint32_t, std::size_t>> rest = {
        {facts.flow.block_of(from), from + 1}};
    while (!rest.empty()) {
      const auto [block, begin] = rest.back();
      rest.pop_back();
      bool goes_on = true;
      for (std::size_t i = begin; i < facts.flow.blocks[block].end && goes_on; ++i) {
        const bool is_reached = !is_cut(i, true);
        if (is_reached && i == to) {
          return true;
        }
        goes_on = is_reached && !is_cut(i, false) && !stops(i);
      }
      for (const std::uint32_t next : facts.flow.blocks[block].successors) {
        if (goes_on && !seen[next]) {
          seen[next] = true;
          rest.emplace_back(next, facts.flow.blocks[next].begin);
        }
      }
    }
    return false;
  }

  // A strong read, or the read of a poll.
  bool may_acquire(const Facts& facts, std::size_t i) {
    const Effect its_effect = effect(i);
    return is_shared_access(its_effect) &&
           (its_effect.opcode_class == OpcodeClass::kLoad ||
            its_effect.opcode_class == OpcodeClass::kAtomic) &&
           (its_effect.order != wire::MemoryOrder::kWeak || poll_of(facts, i) != nullptr);
  }

  std::optional<std::size_t> first_instruction(const Facts& facts, std::uint32_t block) {
    const BasicBlock& at = facts.flow.blocks[block];
    for (std::size_t i = at.begin; i < std::min(at.end, facts.function->body_end); ++i) {
      if (statement(i).kind == StatementKind::kInstruction) {
        return i;
      }
    }
    return std::nullopt;
  }

  std::optional<std::size_t> last_instruction(const Facts& facts, std::uint32_t block) {
    const BasicBlock& at = facts.flow.blocks[block];
    for (std::size_t i = std::min(at.end, facts.function->body_end); i > at.begin;) {
      if (statement(--i).kind == StatementKind::kInstruction) {
        return i;
      }
    }
    return std::nullopt;
  }

  Gap gap_at(const Facts& facts, std::size_t statement, bool is_before) {
    const std::uint32_t block = facts.flow.block_of(statement);
    return {.at = name_of(facts, statement),
            .is_before = is_before,
            .at_line = lines_of(facts, statement),
            .is_line_before = is_before,
            .within = within(facts, statement),
            .loops = loops_around(facts, block),
            .is_for_all = facts.uniform[block] != Uniformity::kSome};
  }

 private:
  std::optional<Facts> read(const Function& function) {
    Facts facts{.function = &function,
                .instructions = {},
                .frames = {},
                .lines = {},
                .flow = {},
                .uniform = {},
                .loops = {}};
    auto flow = build_control_flow(module_, function);
    if (!flow) {
      return std::nullopt;
    }
    facts.flow = std::move(*flow);
    facts.uniform = find_uniform_blocks(module_, function, facts.flow);
    facts.loops = find_loops(facts.flow);
    SourceFrames frames(module_);
    frames.enter(function);
    for (std::size_t i = function.body_begin; i < function.body_end; ++i) {
      if (statement(i).kind == StatementKind::kInstruction) {
        facts.instructions.push_back(i);
        facts.frames.push_back(frames.at(i));
        facts.lines.push_back(own_lines(facts.frames.back()));
      }
    }
    return facts;
  }

  // All of them, where none is the user's.
  [[nodiscard]] Lines own_lines(const Lines& frames) const {
    const auto own = std::ranges::find_if(frames, [this](const SourceFrame& frame) {
      return !frame.file.empty() && frame.line != 0 && is_user_file_(frame.file);
    });
    return own == frames.end() ? frames : Lines(own, frames.end());
  }

  Module module_;
  IsUserFile is_user_file_;
  StatementIndex index_;
  std::map<const Function*, std::optional<Facts>> facts_;
};

CodeView::CodeView(std::unique_ptr<Text> text) : text_(std::move(text)) {}

CodeView::CodeView(CodeView&&) noexcept = default;
CodeView& CodeView::operator=(CodeView&&) noexcept = default;
CodeView::~CodeView() = default;

Expected<CodeView> CodeView::read(std::string_view ptx, IsUserFile is_user_file) {
  TRY(Module module, parse(std::string(ptx)));
  return CodeView(std::make_unique<Text>(std::move(module), std::move(is_user_file)));
}

std::optional<CodePoint> CodeView::find(const StatementName& name) const {
  const Facts* const facts = text_->facts_of(name);
  const auto at = facts == nullptr ? std::nullopt : text_->find(name);
  if (!at) {
    return std::nullopt;
  }
  return CodePoint{.name = name,
                   .effect = text_->effect(*at),
                   .instruction = ptx::name_of(text_->statement(*at).instruction),
                   .lines = Text::lines_of(*facts, *at),
                   .within = text_->within(*facts, *at),
                   .loops = Text::loops_around(*facts, facts->flow.block_of(*at)),
                   .is_in_poll = text_->poll_of(*facts, *at) != nullptr};
}

std::vector<StatementName> CodeView::copies_of(const StatementName& name) const {
  const Facts* const facts = text_->facts_of(name);
  const auto at = facts == nullptr ? std::nullopt : text_->find(name);
  if (!at) {
    return {};
  }
  const Lines& frames = Text::frames_of(*facts, *at);
  std::vector<StatementName> copies;
  for (const std::size_t other : facts->instructions) {
    const bool is_copy =
        other == *at || (!frames.empty() && is_same_place(Text::frames_of(*facts, other), frames) &&
                         ptx::name_of(text_->statement(other).instruction) ==
                             ptx::name_of(text_->statement(*at).instruction));
    if (is_copy) {
      copies.push_back(Text::name_of(*facts, other));
    }
  }
  return copies;
}

std::vector<Gap> CodeView::gaps_between(const StatementName& from, const StatementName& to,
                                        bool past_barriers) const {
  const Facts* const facts = text_->facts_of(from);
  const auto first = facts == nullptr ? std::nullopt : text_->find(from);
  const auto second = first ? text_->find(to) : std::nullopt;
  if (!second) {
    return {};
  }
  std::vector<Cut> cuts = {{.statement = *first, .is_before = false},
                           {.statement = *second, .is_before = true}};
  if (from.function != to.function) {
    std::vector<Gap> gaps = {text_->gap_at(*facts, *first, false)};
    const Facts* const other = text_->facts_of(to);
    if (other != nullptr) {
      gaps.push_back(text_->gap_at(*other, *second, true));
    }
    return gaps;
  }
  if (!text_->reaches(*facts, *first, *second, std::nullopt, past_barriers)) {
    return {};
  }
  const auto& blocks = facts->flow.blocks;
  for (std::uint32_t block = blocks[facts->flow.block_of(*first)].immediate_post_dominator;
       block != kNoBlock; block = blocks[block].immediate_post_dominator) {
    if (const auto at = text_->first_instruction(*facts, block)) {
      cuts.push_back({.statement = *at, .is_before = true});
    }
  }
  for (std::uint32_t block = blocks[facts->flow.block_of(*second)].immediate_dominator;
       block != kNoBlock; block = blocks[block].immediate_dominator) {
    if (const auto at = text_->last_instruction(*facts, block)) {
      cuts.push_back({.statement = *at, .is_before = true});
    }
  }
  std::vector<Gap> gaps;
  for (const Cut& cut : cuts) {
    if (text_->reaches(*facts, *first, *second, cut, true)) {
      continue;
    }
    Gap gap = text_->gap_at(*facts, cut.statement, cut.is_before);
    if (std::ranges::find(gaps, gap) == gaps.end()) {
      gaps.push_back(std::move(gap));
    }
  }
  std::ranges::stable_sort(gaps, {}, &Gap::loops);
  return gaps;
}

std::optional<Gap> CodeView::gap_behind_read(const StatementName& read) const {
  const Facts* const facts = text_->facts_of(read);
  const auto at = facts == nullptr ? std::nullopt : text_->find(read);
  if (!at) {
    return std::nullopt;
  }
  const Loop* const loop = text_->poll_of(*facts, *at);
  if (loop == nullptr) {
    return text_->gap_at(*facts, *at, false);
  }
  for (const std::uint32_t block : loop->blocks) {
    for (const std::uint32_t next : facts->flow.blocks[block].successors) {
      const auto first = text_->first_instruction(*facts, next);
      if (loop->blocks.contains(next) || !first) {
        continue;
      }
      Gap gap = text_->gap_at(*facts, *first, true);
      gap.at_line = Text::lines_of(*facts, *at);
      gap.within = text_->within(*facts, *at);
      gap.is_line_before = false;
      gap.is_behind_loop = true;
      return gap;
    }
  }
  return std::nullopt;
}

std::vector<StatementName> CodeView::reads_before(const StatementName& name) const {
  std::vector<StatementName> found;
  const Facts* const own = text_->facts_of(name);
  const auto at = own == nullptr ? std::nullopt : text_->find(name);
  const auto look = [&](const Facts& facts, bool is_own) {
    std::vector<std::size_t> reads;
    std::ranges::copy_if(facts.instructions, std::back_inserter(reads), [&](std::size_t i) {
      return i != at && text_->may_acquire(facts, i) &&
             (!is_own || text_->reaches(facts, i, *at, std::nullopt, true));
    });
    // The nearest first: those above it from below, then those that a loop brings there.
    std::ranges::stable_sort(reads, {}, [&](std::size_t i) {
      return !is_own ? i : i < *at ? *at - i : i + facts.function->body_end;
    });
    std::ranges::transform(reads, std::back_inserter(found),
                           [&](std::size_t i) { return Text::name_of(facts, i); });
  };
  if (!at) {
    return found;
  }
  look(*own, true);
  for (const Function& function : text_->module().functions) {
    const Facts* const facts =
        function.has_body && &function != own->function ? text_->facts_of(&function) : nullptr;
    if (facts != nullptr && !function.is_entry) {
      look(*facts, false);
    }
  }
  return found;
}

std::vector<StatementName> CodeView::writes_behind(const StatementName& name) const {
  std::vector<StatementName> found;
  const Facts* const own = text_->facts_of(name);
  const auto at = own == nullptr ? std::nullopt : text_->find(name);
  if (!at) {
    return found;
  }
  const auto writes_some = [&](std::size_t i) {
    const Effect effect = text_->effect(i);
    return is_shared_access(effect) && effect.opcode_class != OpcodeClass::kLoad &&
           (effect.order != wire::MemoryOrder::kWeak || effect.opcode_class == OpcodeClass::kStore);
  };
  // A plain store may be a flag as well: those of the own function behind the others.
  for (const bool is_strong : {true, false}) {
    for (const std::size_t i : own->instructions) {
      if (i != *at && writes_some(i) &&
          (text_->effect(i).order != wire::MemoryOrder::kWeak) == is_strong &&
          text_->reaches(*own, *at, i, std::nullopt, true)) {
        found.push_back(Text::name_of(*own, i));
      }
    }
  }
  for (const Function& function : text_->module().functions) {
    const Facts* const facts =
        function.has_body && &function != own->function ? text_->facts_of(&function) : nullptr;
    if (facts == nullptr || function.is_entry) {
      continue;
    }
    for (const std::size_t i : facts->instructions) {
      if (writes_some(i)) {
        found.push_back(Text::name_of(*facts, i));
      }
    }
  }
  return found;
}

}  // namespace barracuda::ptx
