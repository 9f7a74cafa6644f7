#include "report/shared_places.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/strong_id.h"
#include "report/element_name.h"

namespace barracuda::report {
namespace {

// What a kSharedPlace lists of a variable.
struct Listed {
  std::uint32_t number = 0;
  std::string_view bytes;
};

std::optional<Listed> find_listed(std::string_view list, std::string_view name) {
  Listed listed;
  for (std::size_t at = 0; at < list.size(); ++listed.number) {
    const std::string_view entry = list.substr(at, list.find(' ', at) - at);
    const std::size_t colon = entry.find(':');
    if (entry.substr(0, colon) == name) {
      listed.bytes = entry.substr(colon + 1);
      return listed;
    }
    at += entry.size() + 1;
  }
  return std::nullopt;
}

}  // namespace

ptx::Site with_shared_place(const RunData& run, ptx::Site site, const LaunchRecord* launch) {
  if (launch == nullptr || site.variable.find('@') != std::string::npos) {
    return site;
  }
  // Of several modules with such a kernel, the one that the access is in: its list comes last.
  const ptx::Site* telling = nullptr;
  for (const detector::SharedPlace& place : run.findings.shared_places) {
    const ptx::Site& candidate = run.sites[index_of(place.site)];
    if (candidate.id > site.id && candidate.function == launch->kernel &&
        (telling == nullptr || candidate.id < telling->id)) {
      telling = &candidate;
    }
  }
  const std::string_view name = without_stride(site.variable);
  const auto listed = telling == nullptr ? std::nullopt : find_listed(telling->variable, name);
  if (!listed) {
    return site;
  }
  std::optional<std::uint32_t> address;
  for (const detector::SharedPlace& place : run.findings.shared_places) {
    if (place.site == telling->id && place.number == listed->number) {
      if (address) {
        return site;  // it lies elsewhere on another device
      }
      address = place.address;
    }
  }
  if (address) {
    site.variable.insert(name.size(), fmt::format("@{}:{}", *address, listed->bytes));
  }
  return site;
}

}  // namespace barracuda::report
