#include "session/copy_book.h"

#include <set>
#include <utility>

#include "session/host_stack.h"

namespace barracuda::session {

bool CopyBook::is_valid() const {
  bool are_numbered = calls_.size() == records_.size();
  for (std::uint32_t number = 0; are_numbered && number < records_.size(); ++number) {
    are_numbered = records_[number]->call == detector::CallId{number};
  }
  return are_numbered;
}

CopyBook::Call CopyBook::open(detector::HostOperation operation, std::uint64_t stream) {
  Stack stack;
  if (stacks_taken_ < kMostStacks) {
    ++stacks_taken_;
    stack = host_stack();
  }
  const auto [call, is_new] =
      calls_.try_emplace(Key{std::move(stack), operation, stream}, report::CopyRecord{});
  if (is_new) {
    call->second = {.call = detector::CallId{static_cast<std::uint32_t>(records_.size())},
                    .operation = operation,
                    .stream = stream,
                    .host_stack = std::get<Stack>(call->first),
                    .place = {}};
    records_.push_back(&call->second);
    DEBUG_ASSERT(is_valid());
  }
  return {.number = call->second.call, .is_new = is_new};
}

std::vector<report::CopyRecord> CopyBook::named_in(const detector::Findings& findings) const {
  std::set<detector::CallId> named;
  for (const detector::RaceEvent& race : findings.races) {
    for (const detector::AccessSite site : {race.first.site, race.second.site}) {
      if (site.is_call() && index_of(site.call()) < records_.size()) {
        named.insert(site.call());
      }
    }
  }
  std::vector<report::CopyRecord> records;
  records.reserve(named.size());
  for (const detector::CallId call : named) {
    records.push_back(record(call));
  }
  return records;
}

}  // namespace barracuda::session
