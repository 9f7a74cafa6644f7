#include "ptx/analysis/block_publications.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace barracuda::ptx {
namespace {

using Stops = std::vector<NearStops::Stop>;

Stops stops_at(const std::vector<std::size_t>& statements, bool are_meant) {
  Stops stops;
  stops.reserve(statements.size());
  for (const std::size_t statement : statements) {
    stops.push_back({.statement = statement, .is_meant = are_meant});
  }
  return stops;
}

Stops merged(const Stops& left, const Stops& right) {
  Stops all(left.size() + right.size());
  std::ranges::merge(left, right, all.begin(), {}, &NearStops::Stop::statement,
                     &NearStops::Stop::statement);
  return all;
}

}  // namespace

BlockPublications::BlockPublications(const ControlFlow& flow, const Places& places)
    : flow_(flow),
      publications_(flow, stops_at(places.publications, true)),
      meetings_(flow, leading_meetings(places)) {}

bool BlockPublications::come_after(std::size_t statement) const {
  return publications_.come_after(statement) || meetings_.come_after(statement);
}

Stops BlockPublications::leading_meetings(const Places& places) const {
  std::vector<std::size_t> leading;
  std::ranges::copy_if(places.meetings, std::back_inserter(leading),
                       [&](std::size_t meeting) { return publications_.come_after(meeting); });
  if (leading.empty() || flow_.blocks.empty()) {
    return {};
  }
  // The kernel's begin is the first of them.
  std::vector<std::size_t> begins = places.barriers;
  const std::size_t entry = flow_.blocks.front().begin;
  const auto is_entry = [&](const std::vector<std::size_t>& list) {
    return !list.empty() && list.front() == entry;
  };
  if (is_entry(places.meetings)) {
    return stops_at(places.meetings, true);
  }
  if (!is_entry(begins)) {
    begins.insert(begins.begin(), entry);
  }
  const NearStops ahead(flow_, merged(stops_at(begins, false), stops_at(leading, true)));
  Stops met_from = stops_at(begins, false);
  for (NearStops::Stop& begin : met_from) {
    begin.is_meant = ahead.come_after(begin.statement);
  }
  const NearStops behind(flow_, std::move(met_from));
  std::vector<std::size_t> found;
  std::ranges::copy_if(places.meetings, std::back_inserter(found),
                       [&](std::size_t meeting) { return behind.come_before(meeting); });
  return stops_at(found, true);
}

}  // namespace barracuda::ptx
