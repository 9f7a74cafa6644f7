#include "report/allocation_place.h"

#include <algorithm>
#include <ranges>

#include <fmt/format.h>

#include "report/coverage.h"

namespace barracuda::report {
namespace {

constexpr std::string_view kVariable = " variable ";

}  // namespace

std::string allocation_at(const std::vector<AllocationRecord>& allocations, std::uint64_t address) {
  const auto holds = [address](const AllocationRecord& record) {
    return address >= record.address && address - record.address < record.bytes;
  };
  const auto newest_first = std::views::reverse(allocations);
  const auto live = std::ranges::find_if(
      newest_first, [&](const AllocationRecord& record) { return !record.freed && holds(record); });
  const auto found = live != newest_first.end() ? live : std::ranges::find_if(newest_first, holds);
  if (found == newest_first.end()) {
    return "";
  }
  return fmt::format("byte {} of {} bytes at {:#x} ({}{})", address - found->address, found->bytes,
                     found->address, found->description, found->freed ? ", freed since" : "");
}

std::string describe_variable(std::string_view kind, std::string_view name) {
  return fmt::format("{}{}{}", kind, kVariable, name);
}

std::string_view variable_in(std::string_view description) {
  const std::size_t at = description.find(kVariable);
  return description.starts_with("__") && at != description.npos
             ? description.substr(at + kVariable.size())
             : std::string_view();
}

const AllocationRecord* variable_at(const std::vector<AllocationRecord>& allocations,
                                    std::uint64_t address) {
  const auto found = std::ranges::find_if(allocations, [address](const AllocationRecord& record) {
    return !record.freed && address >= record.address && address - record.address < record.bytes &&
           !variable_in(record.description).empty();
  });
  return found == allocations.end() ? nullptr : &*found;
}

std::string beside_allocation(const std::vector<AllocationRecord>& allocations,
                              std::uint64_t address, std::uint64_t bytes) {
  constexpr std::uint64_t kNullPage = 4096;
  // What is freed when the report is made was mostly there when the error was: the program saw the
  // error and ended. Farther away it may be long forgotten.
  constexpr std::uint64_t kNearby = 4096;
  const auto distance = [address](const AllocationRecord& record) {
    return address < record.address ? record.address - address
                                    : address - (record.address + record.bytes);
  };
  const auto is_nearer = [&](const AllocationRecord& record, const AllocationRecord* than) {
    return than == nullptr || distance(record) < distance(*than);
  };
  const AllocationRecord* nearest = nullptr;
  for (const AllocationRecord& record : allocations) {
    if (!record.freed && is_nearer(record, nearest)) {
      nearest = &record;
    }
  }
  for (const AllocationRecord& record : std::views::reverse(allocations)) {
    if (record.freed && distance(record) < kNearby && is_nearer(record, nearest)) {
      nearest = &record;
    }
  }
  if (address < kNullPage) {
    return address == 0 ? "none: a null pointer"
                        : fmt::format("none: byte {} behind a null pointer", address);
  }
  if (nearest == nullptr) {
    return "none: nothing is allocated";
  }
  const std::string what =
      fmt::format("the {} bytes at {:#x} ({}{})", nearest->bytes, nearest->address,
                  nearest->description, nearest->freed ? ", freed since" : "");
  if (address >= nearest->address) {
    return fmt::format("{} behind the end of {}", counted(distance(*nearest), "byte"), what);
  }
  return fmt::format("{} before {}{}", counted(distance(*nearest), "byte"), what,
                     address + bytes > nearest->address ? ", into which it reaches" : "");
}

}  // namespace barracuda::report
