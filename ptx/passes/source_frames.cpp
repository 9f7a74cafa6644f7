#include "ptx/passes/source_frames.h"

#include <charconv>
#include <utility>

namespace barracuda::ptx {
namespace {

// No compiler inlines deeper; a cycle of .loc lines must not hang us.
constexpr int kMaximumDepth = 256;

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
    unsigned byte = 0;
    const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), byte);
    if (error == std::errc{} && stop == word.data() + word.size()) {
      strings_ += static_cast<char>(byte);
    }
  }
}

void SourceFrames::enter(const Function& function) {
  function_ = &function;
  next_ = function.body_begin;
  current_ = nullptr;
  places_.clear();
}

std::string SourceFrames::string_at(const Location& location) const {
  const auto found = labels_.find(std::string(location.function_label));
  if (found == labels_.end() || found->second + location.function_offset >= strings_.size()) {
    return {};
  }
  return strings_.c_str() + found->second + location.function_offset;
}

SourceFrame SourceFrames::frame(std::string function, const Place& place) const {
  const auto file = files_.find(place.file);
  return {.function = std::move(function),
          .file = file == files_.end() ? std::string{} : std::string(file->second),
          .line = place.line,
          .column = place.column};
}

std::vector<SourceFrame> SourceFrames::at(std::size_t statement) {
  for (; next_ < statement; ++next_) {
    if (module_.statements[next_].kind == StatementKind::kLocation) {
      current_ = &module_.statements[next_].location;
      places_.insert_or_assign(Place{current_->file, current_->line, current_->column}, current_);
    }
  }
  std::vector<SourceFrame> frames;
  if (current_ == nullptr) {
    frames.push_back({.function = std::string(function_->name)});
    return frames;
  }
  const Location* location = current_;
  Place place{location->file, location->line, location->column};
  while (location != nullptr && !location->function_label.empty() &&
         frames.size() < kMaximumDepth) {
    frames.push_back(frame(string_at(*location), place));
    place = {location->inlined_file, location->inlined_line, location->inlined_column};
    const auto outer = places_.find(place);
    location = outer == places_.end() ? nullptr : outer->second;
  }
  frames.push_back(frame(std::string(function_->name), place));
  return frames;
}

}  // namespace barracuda::ptx
