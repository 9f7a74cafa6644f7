#include "emulator/state/commit_history.h"

#include <algorithm>

#include "base/assert.h"

namespace barracuda::emulator {

namespace {

constexpr std::size_t kMostCommits = 64;       // of a granule
constexpr std::size_t kMostGranules = 16'384;  // less than 64 MiB with all their commits
static_assert(kMostCommits * kMostGranules * sizeof(Commit) <= std::size_t{64} << 20);

}  // namespace

void CommitHistory::add(std::uint64_t granule, const Commit& commit) {
  if (granules_.size() >= kMostGranules && !knows(granule)) {
    granules_.clear();
    begin_ = commit.visible;
  }
  const auto [place, is_new] = granules_.try_emplace(granule);
  Past& past = place->second;
  if (is_new) {
    past.begin = begin_;
  }
  if (past.commits.size() == kMostCommits) {
    past.begin = std::max(past.begin, past.commits.front().visible);
    past.commits.erase(past.commits.begin());
  }
  // Moments go on; a block sees its own stores no later than all others do.
  DEBUG_ASSERT(past.commits.empty() || past.commits.back().visible <= commit.visible);
  DEBUG_ASSERT(commit.visible_own <= commit.visible && commit.mask != 0);
  past.commits.push_back(commit);
}

void CommitHistory::forget(std::uint64_t begin, std::uint64_t end) {
  for (std::uint64_t granule = granule_of(begin); granule * kGranuleBytes < end; ++granule) {
    granules_.erase(granule);
  }
}

std::uint64_t CommitHistory::begin(std::uint64_t granule) const {
  const auto found = granules_.find(granule);
  return found == granules_.end() ? begin_ : found->second.begin;
}

void CommitHistory::turn_back(std::uint64_t granule, std::uint64_t block, std::uint64_t moment,
                              Granule& bytes) const {
  const auto found = granules_.find(granule);
  if (found == granules_.end()) {
    return;
  }
  const auto& commits = found->second.commits;
  for (std::size_t byte = 0; byte < bytes.size(); ++byte) {
    // The latest commit that was visible then is what the thread saw, and what came after is
    // undone.
    for (std::size_t i = commits.size(); i-- > 0;) {
      const Commit& commit = commits[i];
      if ((commit.mask >> byte & 1) == 0) {
        continue;
      }
      if ((commit.block == block ? commit.visible_own : commit.visible) <= moment) {
        break;
      }
      bytes[byte] = commit.before[byte];
    }
  }
}

}  // namespace barracuda::emulator
