#include "report/script_frame.h"

#include <map>
#include <mutex>
#include <tuple>
#include <vector>

namespace barracuda::report {
namespace {

constexpr std::uint64_t kFirstAddress = std::uint64_t{1} << 63;  // the half that the kernel has
constexpr std::size_t kMostPlaces = std::size_t{1} << 20;

using Place = std::tuple<std::string, std::string, std::uint32_t>;  // function, file, line

struct Places {
  std::mutex mutex;
  std::map<Place, std::uint64_t> addresses;
  std::vector<const Place*> by_number;
};

Places& places() {
  static auto* const instance = new Places;
  return *instance;
}

}  // namespace

std::uint64_t script_address(const std::string& function, const std::string& file,
                             std::uint32_t line) {
  Places& known = places();
  const std::lock_guard lock(known.mutex);
  if (known.by_number.size() == kMostPlaces) {
    return 0;
  }
  const auto [entry, is_new] = known.addresses.try_emplace(Place{function, file, line},
                                                           kFirstAddress + known.by_number.size());
  if (is_new) {
    known.by_number.push_back(&entry->first);
  }
  return entry->second;
}

bool is_script_address(std::uint64_t address) {
  return address >= kFirstAddress && address < kFirstAddress + kMostPlaces;
}

HostFrame script_frame(std::uint64_t address) {
  Places& known = places();
  const std::lock_guard lock(known.mutex);
  const auto& [function, file, line] = *known.by_number.at(address - kFirstAddress);
  return {.function = function,
          .file = file,
          .line = line,
          .module = {},
          .offset = 0,
          .is_script = true};
}

}  // namespace barracuda::report
