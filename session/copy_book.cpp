#include "session/copy_book.h"

#include <set>
#include <utility>

#include "session/host_stack.h"

namespace barracuda::session {
CopyBook::Call CopyBook::open(bool is_memset, std::uint64_t stream) {
  Stack stack;
  if (stacks_taken_ < kMostStacks) {
    ++stacks_taken_;
    stack = host_stack();
  }
  const auto [call, is_new] =
      calls_.try_emplace(Key{std::move(stack), is_memset, stream}, report::CopyRecord{});
  if (is_new) {
    call->second = {.call = static_cast<std::uint32_t>(records_.size()),
                    .is_memset = is_memset,
                    .stream = stream,
                    .host_stack = std::get<Stack>(call->first),
                    .place = {}};
    records_.push_back(&call->second);
  }
  return {.number = call->second.call, .is_new = is_new};
}

std::vector<report::CopyRecord> CopyBook::named_in(const detector::Findings& findings) const {
  std::set<std::uint32_t> named;
  for (const detector::RaceEvent& race : findings.races) {
    for (const wire::SiteId site : {race.first.site, race.second.site}) {
      if (detector::is_call_site(site) && detector::call_of(site) < records_.size()) {
        named.insert(detector::call_of(site));
      }
    }
  }
  std::vector<report::CopyRecord> records;
  records.reserve(named.size());
  for (const std::uint32_t call : named) {
    records.push_back(record(call));
  }
  return records;
}

}  // namespace barracuda::session
