#include "jit/code_cache.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "base/assert.h"
#include "base/held_lock.h"
#include "base/own_thread.h"
#include "base/signals_blocked.h"

namespace barracuda::jit {
namespace {

Hash128 key_of(const Request& request) {
  std::string how = std::string(Compiler::version()) + '\n' + request.device;
  for (const std::string& flag : request.flags) {
    how += '\n' + flag;
  }
  const Hash128 hash = hash128(how);
  const Hash128 text = hash128(request.text, hash.low);
  return {.high = hash.high ^ text.high, .low = text.low};
}

}  // namespace

CodeCache::Entry& CodeCache::entry_of(const Hash128& key) {
  const HeldLock lock(mutex_);
  return entries_[key];
}

Code CodeCache::find_or_compile(const Request& request) {
  ASSERT(!request.text.empty());
  const Hash128 key = key_of(request);
  Entry& entry = entry_of(key);
  const HeldLock lock(entry.mutex);
  make(request, key, entry, 0);
  DEBUG_ASSERT(entry.is_made);
  return {.bytes = entry.is_refused ? std::string_view() : std::string_view(entry.code),
          .source = std::exchange(entry.source, CodeSource::kMemory),
          .message = std::exchange(entry.message, {})};
}

bool CodeCache::is_at_hand(const Request& request) {
  const Hash128 key = key_of(request);
  Entry& entry = entry_of(key);
  const std::unique_lock lock(entry.mutex, std::try_to_lock);
  return lock.owns_lock() && (entry.is_made || files_.find(key).has_value());
}

// That a text is refused is kept as well, as no code at all: the next run leaves it to the driver
// at once.
void CodeCache::make(const Request& request, const Hash128& key, Entry& entry,
                     std::size_t threads) {
  if (std::exchange(entry.is_made, true)) {
    return;
  }
  if (std::optional<std::string> kept = files_.find(key)) {
    entry.source = CodeSource::kDisk;
    entry.code = std::move(*kept);
    return;
  }
  Compilation compilation = compiler_.compile(request.text, request.flags, threads);
  entry.source = CodeSource::kCompiler;
  entry.code = std::move(compilation.code);
  entry.message = std::move(compilation.message);
  if (compilation.verdict != Verdict::kFailed) {
    if (const Expected<void> kept = files_.store(key, entry.code); !kept) {
      entry.message += (entry.message.empty() ? "" : "; ") + kept.error().to_string();
    }
  }
}

void CodeCache::compile_ahead(std::vector<Request> requests) {
  struct Work {
    std::vector<Request> requests;
    std::atomic<std::size_t> next = 0;
  };

  if (requests.empty()) {
    return;
  }
  const std::size_t most = std::max(1U, std::thread::hardware_concurrency());
  const std::size_t count = std::min(requests.size(), most);
  const std::size_t threads_of_each = (most + count - 1) / count;
  ASSERT(count >= 1 && threads_of_each >= 1 && count * threads_of_each >= most);
  const auto work = std::make_shared<Work>(std::move(requests));
  const SignalsBlocked for_the_threads;
  const auto run = [this, work, threads_of_each] {
    name_own_thread();
    try {
      for (std::size_t at = work->next++; at < work->requests.size(); at = work->next++) {
        const Request& request = work->requests[at];
        const Hash128 key = key_of(request);
        Entry& entry = entry_of(key);
        const HeldLock lock(entry.mutex);
        make(request, key, entry, threads_of_each);
      }
    } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
      // No memory: what is left is compiled when it is loaded.
    }
  };
  try {
    for (std::size_t thread = 0; thread < count; ++thread) {
      std::thread(run).detach();
    }
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
    // No more threads, or no memory for them: what they leave is compiled when it is loaded.
  }
}

void CodeCache::forget(const Request& request, bool takes_text) {
  const Hash128 key = key_of(request);
  if (!takes_text || !files_.store(key, {})) {
    files_.remove(key);
  }
  Entry& entry = entry_of(key);
  const HeldLock lock(entry.mutex);
  entry.is_refused = true;
}

}  // namespace barracuda::jit
