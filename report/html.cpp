#include "report/html.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "base/text_lines.h"
#include "report/bug.h"
#include "report/coverage.h"
#include "report/html_page_text.h"
#include "report/json_parts.h"
#include "report/json_writer.h"
#include "report/sentences.h"
#include "report/source_text.h"
#include "report/text_writer.h"

namespace barracuda::report {
namespace {

constexpr std::uint32_t kLinesAround = 4;
constexpr std::size_t kMostOfALine = 400;  // generated sources have lines without end

// The lines that the page shows, by file.
class Excerpts {
 public:
  void want(const Frame& place) {
    for (std::uint32_t line = place.line - std::min(place.line, kLinesAround);
         place.line != 0 && line <= place.line + kLinesAround; ++line) {
      wanted_[place.file].insert(line);
    }
  }

  // This line alone.
  void want_line(const Frame& place) {
    if (place.line != 0) {
      wanted_[place.file].insert(place.line);
    }
  }

  // {file: {line: text}}; a file that cannot be read is left out.
  [[nodiscard]] Json json() const {
    Json sources = Json::object();
    for (const auto& [file, lines] : wanted_) {
      const std::string text = source_file(file);
      TextLines rest(text);
      for (auto line = rest.next(); line && rest.number() <= *lines.rbegin(); line = rest.next()) {
        if (lines.contains(rest.number())) {
          sources[file][std::to_string(rest.number())] = line->substr(0, kMostOfALine);
        }
      }
    }
    return sources;
  }

 private:
  std::map<std::string, std::set<std::uint32_t>> wanted_;
};

// The page takes what is not there for not known; with hundreds of findings that is half of it.
void drop_nulls(Json& json) {
  if (json.is_object()) {
    for (auto member = json.begin(); member != json.end();) {
      member = member->is_null() ? json.erase(member) : std::next(member);
    }
  }
  if (json.is_structured()) {
    for (Json& child : json) {
      drop_nulls(child);
    }
  }
}

// Each place of a synchronisation once: hundreds of findings have the same barriers.
class SyncTable {
 public:
  // What the page has of an access's synchronisations: {complete, steps: [[when, index]]}
  Json taken(const Access& access, Excerpts& excerpts) {
    Json steps = Json::array();
    for (const Sync& sync : access.syncs) {
      Json place = frame_json(sync.place);
      place["instruction"] = sync.instruction;
      const auto [known, is_new] = indices_.try_emplace(place.dump(), places_.size());
      if (is_new) {
        places_.push_back(std::move(place));
        excerpts.want_line(sync.place);
      }
      steps.push_back({name_of(sync.when), known->second});
    }
    return {{"complete", access.has_all_syncs}, {"steps", std::move(steps)}};
  }

  [[nodiscard]] const Json& json() const { return places_; }

 private:
  Json places_ = Json::array();
  std::map<std::string, std::size_t> indices_;
};

Json bug_json(const Bug& bug, const Report& report, Excerpts& excerpts, SyncTable& syncs) {
  Json json = Json::parse(json_line(bug, report.model));
  for (Json& variant : json["variants"]) {
    variant.erase("accesses");
  }
  const Finding& shown = bug.shown();
  for (std::size_t i = 0; i < shown.accesses.size(); ++i) {
    Json& access = json["accesses"][i];
    access["what"] = what_happened(shown, shown.accesses[i]);
    access.erase("last_sync");
    if (!access["syncs"].is_null()) {
      access["syncs"] = syncs.taken(shown.accesses[i], excerpts);
    }
    excerpts.want(shown.accesses[i].place);
  }
  drop_nulls(json);
  return json;
}

bool is_of_bug(const std::string& type) {
  constexpr FindingType kTypes[] = {FindingType::kRace,        FindingType::kBarrierDivergence,
                                    FindingType::kMemoryError, FindingType::kTimeout,
                                    FindingType::kDeadlock,    FindingType::kAsyncRegister};
  return std::ranges::find(kTypes, type, [](FindingType of) { return name_of(of); }) !=
         std::end(kTypes);
}

// What is neither a bug nor the summary.
Json more_json(std::string_view text) {
  Json more = Json::array();
  TextLines lines(text);
  for (auto line = lines.next(); line; line = lines.next()) {
    Json json = line->empty() ? Json() : Json::parse(*line);
    const std::string type = json.is_object() ? json.value("type", "") : "";
    if (!type.empty() && type != "summary" && !is_of_bug(type)) {
      drop_nulls(json);
      more.push_back(std::move(json));
    }
  }
  return more;
}

Json coverage_json(const Report& report) {
  return {{"complete", report.covers_everything()},
          {"launches", report.coverage.launches},
          {"gaps", gaps_and_failures(report)},
          {"checked", report.coverage.instrumented},
          {"unchecked", report.coverage.not_instrumented}};
}

// As the content of a script element: no text of the program may end it.
std::string as_script(const Json& data) {
  std::string text;
  for (const char c : data.dump(-1, ' ', false, Json::error_handler_t::replace)) {
    c == '<' ? text += "\\u003c" : text += c;
  }
  return text;
}

}  // namespace

std::string html_report(const Report& report, std::string_view more) {
  Excerpts excerpts;
  SyncTable syncs;
  Json bugs = Json::array();
  for (const Bug& bug : bugs_of(report.findings)) {
    bugs.push_back(bug_json(bug, report, excerpts, syncs));
  }
  const Json data = {{"program", report.processes.empty() ? "" : report.processes.front().program},
                     {"device", report.device},
                     {"model", report.model},
                     {"summary", summary_line(report)},
                     {"coverage", coverage_json(report)},
                     {"bugs", std::move(bugs)},
                     {"more", more_json(more)},
                     {"syncs", syncs.json()},
                     {"sources", excerpts.json()}};
  std::string page(kPage);
  constexpr std::string_view kPlace = "@DATA@";
  return page.replace(page.find(kPlace), kPlace.size(), as_script(data));
}

}  // namespace barracuda::report
