#include "session/weak_log.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/number_text.h"
#include "base/percent_code.h"
#include "base/text_lines.h"

namespace barracuda::session {

namespace {

using emulator::CodePlace;
using emulator::Decision;
using emulator::Dim3;
using emulator::WeakEvent;
using emulator::WeakLog;
using emulator::WeakSpace;

constexpr std::array<std::string_view, 3> kKinds = {"store", "stale", "late"};
constexpr std::array<std::string_view, emulator::kWeakSpaces> kSpaces = {"global", "shared"};
constexpr std::array<std::string_view, emulator::kWeakEnds> kEnds = {
    "release", "barrier", "age",        "poll", "capacity",
    "settle",  "exit",    "launch-end", "held", "read"};

template <class Enum, std::size_t Count>
std::string_view name_of(const std::array<std::string_view, Count>& names, Enum value) {
  return names[static_cast<std::size_t>(value)];
}

template <class Enum, std::size_t Count>
bool read_name(const std::array<std::string_view, Count>& names, std::string_view text,
               Enum& value) {
  const auto found = std::ranges::find(names, text);
  if (found == names.end()) {
    return false;
  }
  value = static_cast<Enum>(found - names.begin());
  return true;
}

// --- values ---

bool decode(std::string_view text, std::string& value) {
  auto decoded = percent_decoded(text);
  value = decoded ? std::move(*decoded) : "";
  return decoded.has_value();
}

template <class Number>
bool read_number(std::string_view text, Number& value) {
  const auto number = parse_prefixed_number<Number>(text);
  value = number.value_or(value);
  return number.has_value();
}

std::string text_of(const Dim3& place) {
  return fmt::format("{},{},{}", place.x, place.y, place.z);
}

bool read_dim3(std::string_view text, Dim3& place) {
  const std::size_t first = text.find(',');
  const std::size_t second = first == text.npos ? text.npos : text.find(',', first + 1);
  return second != text.npos && read_number(text.substr(0, first), place.x) &&
         read_number(text.substr(first + 1, second - first - 1), place.y) &&
         read_number(text.substr(second + 1), place.z);
}

std::string text_of(const CodePlace& place) {
  return fmt::format("{}:{}", percent_encoded(place.file), place.line);
}

bool read_place(std::string_view text, CodePlace& place) {
  const std::size_t colon = text.rfind(':');
  return colon != text.npos && decode(text.substr(0, colon), place.file) &&
         read_number(text.substr(colon + 1), place.line);
}

std::string event_text(std::string_view word, const WeakEvent& event) {
  std::string text = decision_text(event.decision);
  text.replace(0, text.find(' '), word);
  text += fmt::format(" until={} turns={} space={} address={:#x} bytes={} at={}",
                      name_of(kEnds, event.until), event.turns, name_of(kSpaces, event.space),
                      event.address, event.bytes, text_of(event.at));
  if (event.was_read) {
    text +=
        fmt::format(" reader-block={} reader-thread={} reader-at={}", text_of(event.reader.block),
                    text_of(event.reader.thread), text_of(event.reader.at));
  }
  return text + '\n';
}

std::string counts_text(const emulator::WeakCounts& counts) {
  std::string text;
  if (counts.instructions != 0) {
    text += fmt::format("instructions count={}\n", counts.instructions);
  }
  for (std::size_t space = 0; space < kSpaces.size(); ++space) {
    if (counts.stores[space] != 0) {
      text += fmt::format("stores space={} count={}\n", kSpaces[space], counts.stores[space]);
    }
  }
  for (const emulator::WeakCounts::Fences& fences : counts.fences) {
    text += fmt::format("fences at={} count={}\n", text_of(fences.at), fences.count);
  }
  return text;
}

// --- lines ---

// One `key=value` of a line of an event; false: it is not one.
bool read_key(std::string_view key, std::string_view value, WeakEvent& event) {
  Decision& decision = event.decision;
  if (read_name(kKinds, key, decision.kind)) {
    return read_number(value, decision.number) && decision.number != 0;
  }
  event.was_read = event.was_read || key.starts_with("reader-");
  return key == "launch"          ? read_number(value, decision.launch) && decision.launch != 0
         : key == "kernel"        ? decode(value, decision.kernel)
         : key == "block"         ? read_dim3(value, decision.block)
         : key == "thread"        ? read_dim3(value, decision.thread)
         : key == "until"         ? read_name(kEnds, value, event.until)
         : key == "turns"         ? read_number(value, event.turns)
         : key == "space"         ? read_name(kSpaces, value, event.space)
         : key == "address"       ? read_number(value, event.address)
         : key == "bytes"         ? read_number(value, event.bytes)
         : key == "at"            ? read_place(value, event.at)
         : key == "reader-block"  ? read_dim3(value, event.reader.block)
         : key == "reader-thread" ? read_dim3(value, event.reader.thread)
         : key == "reader-at"     ? read_place(value, event.reader.at)
                                  : false;
}

// The next word of the line, which is cut off it; empty: there is none.
std::string_view next_word(std::string_view& line) {
  const std::size_t begin = std::min(line.find_first_not_of(" \t\r\n"), line.size());
  const std::size_t end = std::min(line.find_first_of(" \t\r\n", begin), line.size());
  const std::string_view word = line.substr(begin, end - begin);
  line.remove_prefix(end);
  return word;
}

// What is wrong with the rest of a line of an event; empty: nothing.
std::string read_event(std::string_view line, WeakEvent& event) {
  for (std::string_view word = next_word(line); !word.empty(); word = next_word(line)) {
    const std::size_t equals = word.find('=');
    if (equals == word.npos || !read_key(word.substr(0, equals), word.substr(equals + 1), event)) {
      return fmt::format("\"{}\" is not known here", word);
    }
  }
  const bool is_whole =
      event.decision.launch != 0 && event.decision.number != 0 && !event.decision.kernel.empty();
  return is_whole ? std::string() : "launch=, kernel= and store=, stale= or late= must be given";
}

// count=N and what else the line has to say.
std::string read_counts(std::string_view word, std::string_view line,
                        emulator::WeakCounts& counts) {
  auto space = WeakSpace::kGlobal;
  CodePlace at;
  std::uint64_t count = 0;
  for (std::string_view next = next_word(line); !next.empty(); next = next_word(line)) {
    const std::size_t equals = std::min(next.find('='), next.size() - 1);
    const std::string_view key = next.substr(0, equals), value = next.substr(equals + 1);
    const bool is_known = key == "count" ? read_number(value, count)
                          : word == "stores" && key == "space"
                              ? read_name(kSpaces, value, space)
                              : word == "fences" && key == "at" && read_place(value, at);
    if (!is_known) {
      return fmt::format("\"{}\" is not known here", next);
    }
  }
  if (word == "instructions") {
    counts.instructions += count;
  } else if (word == "stores") {
    counts.stores[static_cast<std::size_t>(space)] += count;
  } else {
    counts.add_fences(at, count);
  }
  return {};
}

std::string read_drains(std::string_view line, WeakLog& log) {
  auto space = WeakSpace::kGlobal;
  std::uint64_t stores = 0, count = 0;
  for (std::string_view word = next_word(line); !word.empty(); word = next_word(line)) {
    const std::size_t equals = std::min(word.find('='), word.size() - 1);
    const std::string_view key = word.substr(0, equals), value = word.substr(equals + 1);
    const bool is_known = key == "space"    ? read_name(kSpaces, value, space)
                          : key == "stores" ? read_number(value, stores)
                                            : key == "count" && read_number(value, count);
    if (!is_known || stores >= std::tuple_size_v<emulator::DrainLengths>) {
      return fmt::format("\"{}\" is not known here", word);
    }
  }
  log.drains[static_cast<std::size_t>(space)][stores] += count;
  return {};
}

std::string read_line(std::string_view line, WeakLog& log) {
  const std::string_view word = next_word(line);
  if (word.empty() || word.starts_with('#')) {
    return {};
  }
  if (word == "drains") {
    return read_drains(line, log);
  }
  if (word == "instructions" || word == "stores" || word == "fences") {
    return read_counts(word, line, log.counts);
  }
  if (word != "decision" && word != "starvation") {
    return fmt::format("a line of a log of decisions cannot begin with \"{}\"", word);
  }
  auto& events = word == "decision" ? log.events : log.starvations;
  return read_event(line, events.emplace_back());
}

}  // namespace

std::string decision_text(const Decision& decision) {
  return fmt::format("decision launch={} kernel={} block={} thread={} {}={}", decision.launch,
                     percent_encoded(decision.kernel), text_of(decision.block),
                     text_of(decision.thread), name_of(kKinds, decision.kind), decision.number);
}

Expected<Decision> parse_decision(std::string_view line) {
  WeakEvent event;
  std::string_view rest = line;
  if (next_word(rest) != "decision") {
    return unexpected(Diagnostic{.message = "a decision begins with the word \"decision\""});
  }
  if (std::string wrong = read_event(rest, event); !wrong.empty()) {
    return unexpected(Diagnostic{.message = std::move(wrong)});
  }
  return std::move(event.decision);
}

std::string weak_log_text(const WeakLog& log) {
  std::string text;
  for (const WeakEvent& event : log.events) {
    text += event_text("decision", event);
  }
  for (const WeakEvent& event : log.starvations) {
    text += event_text("starvation", event);
  }
  for (std::size_t space = 0; space < kSpaces.size(); ++space) {
    for (std::size_t stores = 0; stores < log.drains[space].size(); ++stores) {
      if (log.drains[space][stores] != 0) {
        text += fmt::format("drains space={} stores={} count={}\n", kSpaces[space], stores,
                            log.drains[space][stores]);
      }
    }
  }
  return text + counts_text(log.counts);
}

Expected<WeakLog> parse_weak_log(std::string_view text) {
  WeakLog log;
  TextLines lines(text);
  while (const auto line = lines.next()) {
    if (std::string wrong = read_line(*line, log); !wrong.empty()) {
      return unexpected(Diagnostic{.message = std::move(wrong), .line = lines.number()});
    }
  }
  return log;
}

Expected<std::vector<CodePlace>> parse_places(std::string_view text) {
  std::vector<CodePlace> places;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    const std::string_view word = text.substr(0, end);
    const std::size_t colon = word.rfind(':');
    CodePlace place;
    const bool is_place = colon != word.npos && colon != 0 &&
                          read_number(word.substr(colon + 1), place.line) && place.line != 0;
    if (!is_place) {
      return unexpected(Diagnostic{
          .message = fmt::format("\"{}\" is no place: write FILE:LINE,FILE:LINE", word)});
    }
    place.file = word.substr(0, colon);
    places.push_back(std::move(place));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return places;
}

void append_weak_log(const std::string& path, const WeakLog& log) {
  const std::string text = weak_log_text(log);
  if (std::FILE* file = std::fopen(path.c_str(), "ab"); file != nullptr) {
    (void)std::fwrite(text.data(), 1, text.size(), file);
    (void)std::fclose(file);
  }
}

}  // namespace barracuda::session
