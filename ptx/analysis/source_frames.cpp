#include "ptx/analysis/source_frames.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "base/number_text.h"

namespace barracuda::ptx {
namespace {

// No compiler inlines deeper; hostile PTX must not make us build longer chains.
constexpr std::uint32_t kMaximumDepth = 256;
// Of a position that was inlined more often, the newest are told apart.
constexpr std::size_t kMostCandidates = 8;

bool is_same(const Location& left, const Location& right) {
  return left.file == right.file && left.line == right.line && left.column == right.column &&
         left.function_label == right.function_label &&
         left.function_offset == right.function_offset && left.inlined_file == right.inlined_file &&
         left.inlined_line == right.inlined_line && left.inlined_column == right.inlined_column;
}

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

}  // namespace

SourceFrames::SourceFrames(const Module& module) : module_(module) {
  for (const Statement& statement : module.statements) {
    if (statement.kind == StatementKind::kFile) {
      files_.emplace(statement.file_index, statement.file_name);
    } else if (statement.kind == StatementKind::kSection && statement.label == ".debug_str") {
      read_strings(statement.text);
    }
  }
}

// Labels and lines of .b8 with decimal bytes.
void SourceFrames::read_strings(std::string_view section) {
  const std::size_t open = section.find('{');
  if (open == std::string_view::npos) {
    return;
  }
  std::size_t at = open + 1;
  while (at < section.size() && section[at] != '}') {
    if (is_space(section[at]) || section[at] == ',') {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < section.size() && !is_space(section[end]) && section[end] != ',' &&
           section[end] != '}') {
      ++end;
    }
    const std::string_view word = section.substr(at, end - at);
    at = end;
    if (word.back() == ':') {
      labels_.insert_or_assign(std::string(word.substr(0, word.size() - 1)), strings_.size());
      continue;
    }
    if (const auto byte = parse_number<unsigned>(word)) {
      strings_ += static_cast<char>(*byte);
    }
  }
}

void SourceFrames::enter(const Function& function) {
  function_ = &function;
  next_ = function.body_begin;
  current_ = just_defined_ = last_ = before_last_ = kNone;
  inlinings_.clear();
  places_.clear();
  callers_.clear();
}

std::string SourceFrames::string_at(const Location& location) const {
  const auto found = labels_.find(std::string(location.function_label));
  if (found == labels_.end() || found->second + location.function_offset >= strings_.size()) {
    return {};
  }
  return strings_.c_str() + found->second + location.function_offset;
}

SourceFrames::Place SourceFrames::place_of(const Location& location) {
  return {.file = location.file, .line = location.line, .column = location.column};
}

SourceFrames::Place SourceFrames::call_of(const Location& location) {
  return {.file = location.inlined_file,
          .line = location.inlined_line,
          .column = location.inlined_column};
}

SourceFrames::Name SourceFrames::name_of(const Location& location) {
  return {location.function_label, location.function_offset};
}

SourceFrame SourceFrames::frame(std::string function, const Place& place) const {
  const auto file = files_.find(place.file);
  return {.function = std::move(function),
          .file = file == files_.end() ? std::string{} : std::string(file->second),
          .line = place.line,
          .column = place.column};
}

// Those in functions that are known to call it; all if none is.
std::vector<std::uint32_t> SourceFrames::known_callers(
    const Location& location, const std::vector<std::uint32_t>& candidates) const {
  const Place called = call_of(location);
  const auto known = callers_.find({name_of(location), called});
  if (known == callers_.end()) {
    return candidates;
  }
  std::vector<std::uint32_t> chosen;
  std::ranges::copy_if(candidates, std::back_inserter(chosen), [&](std::uint32_t at) {
    const Name name = name_of(*inlinings_[at].location);
    return std::ranges::find(known->second, name) != known->second.end();
  });
  return chosen.empty() ? candidates : chosen;
}

// One instruction of a call that had not come before stands between, and now it goes on.
bool SourceFrames::was_interrupted_at(const Location& location) const {
  return before_last_ != kNone && is_same(*inlinings_[before_last_].location, location) &&
         inlinings_[last_].outer != kNone &&
         inlinings_[inlinings_[last_].outer].made > before_last_at_;
}

// The one whose callers, outermost first, were in force last.
std::uint32_t SourceFrames::nearest(const std::vector<std::uint32_t>& candidates) const {
  if (candidates.size() == 1) {
    return candidates.front();
  }
  const std::size_t first = candidates.size() - std::min(candidates.size(), kMostCandidates);
  std::pair<std::vector<std::uint64_t>, std::uint32_t> best;
  for (std::size_t i = first; i < candidates.size(); ++i) {
    std::vector<std::uint64_t> used(inlinings_[candidates[i]].depth + std::size_t{1});
    for (std::uint32_t at = candidates[i]; at != kNone; at = inlinings_[at].outer) {
      used[inlinings_[at].depth] = inlinings_[at].used;
    }
    best = std::max(best, std::pair(std::move(used), candidates[i]));
  }
  return best.second;
}

// nvcc writes the .loc of each call that was inlined once, and then names it by its position alone,
// which calls of one function, and instances of one template, share. Where it is new, it stands
// directly before. Code that moved up to another call's has brought that call's .loc with it, which
// is then the newest one.
std::uint32_t SourceFrames::outer_of(const Location& location) {
  const Place called = call_of(location);
  const auto found = places_.find(called);
  if (location.function_label.empty() || found == places_.end()) {
    return kNone;
  }
  if (was_interrupted_at(location)) {
    return inlinings_[before_last_].outer;
  }
  std::uint32_t outer = just_defined_;
  if (outer != kNone && place_of(*inlinings_[outer].location) == called) {
    std::vector<Name>& callers = callers_[{name_of(location), called}];
    const Name caller = name_of(*inlinings_[outer].location);
    if (std::ranges::find(callers, caller) == callers.end()) {
      callers.push_back(caller);
    }
  } else {
    outer = nearest(known_callers(location, found->second));
  }
  return inlinings_[outer].depth == kMaximumDepth ? kNone : outer;
}

void SourceFrames::define(const Location& location) {
  const std::uint32_t outer = outer_of(location);
  std::vector<std::uint32_t>& here = places_[place_of(location)];
  const auto same = std::ranges::find_if(here, [&](std::uint32_t at) {
    return inlinings_[at].outer == outer && is_same(*inlinings_[at].location, location);
  });
  if (same == here.end()) {
    current_ = static_cast<std::uint32_t>(inlinings_.size());
    inlinings_.push_back({.location = &location,
                          .outer = outer,
                          .depth = outer == kNone ? 0 : inlinings_[outer].depth + 1,
                          .made = clock_ + 1});
    here.push_back(current_);
  } else {
    current_ = *same;
    inlinings_[current_].location = &location;
  }
  just_defined_ = current_;
  ++clock_;
  for (std::uint32_t at = current_; at != kNone; at = inlinings_[at].outer) {
    inlinings_[at].used = clock_;
  }
}

std::vector<SourceFrame> SourceFrames::at(std::size_t statement) {
  for (; next_ < statement; ++next_) {
    const Statement& passed = module_.statements[next_];
    if (passed.kind == StatementKind::kLocation) {
      define(passed.location);
    } else if (passed.kind == StatementKind::kInstruction) {
      just_defined_ = kNone;
      if (last_ != current_) {
        before_last_ = std::exchange(last_, current_);
        before_last_at_ = std::exchange(last_at_, clock_);
      }
    }
  }
  std::vector<SourceFrame> frames;
  if (current_ == kNone) {
    frames.push_back({.function = std::string(function_->name)});
    return frames;
  }
  for (std::uint32_t at = current_; at != kNone; at = inlinings_[at].outer) {
    const Location& location = *inlinings_[at].location;
    if (location.function_label.empty()) {
      frames.push_back(frame(std::string(function_->name), place_of(location)));
      break;
    }
    frames.push_back(frame(string_at(location), place_of(location)));
    if (inlinings_[at].outer == kNone) {
      frames.push_back(frame(std::string(function_->name), call_of(location)));
    }
  }
  return frames;
}

}  // namespace barracuda::ptx
