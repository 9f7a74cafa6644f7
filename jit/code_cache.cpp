#include "jit/code_cache.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <memory>
#include <thread>

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

Code CodeCache::find_or_compile(const Request& request) {
  const Hash128 key = key_of(request);
  Entry* entry = nullptr;
  {
    const std::lock_guard lock(mutex_);
    entry = &entries_[key];
  }
  const std::lock_guard lock(entry->mutex);
  if (entry->code) {
    return {.bytes = *entry->code, .source = CodeSource::kMemory};
  }
  entry->code = files_.find(key);
  if (entry->code) {
    return {.bytes = *entry->code, .source = CodeSource::kDisk};
  }
  return compile(request, key, *entry);
}

// That a text is refused is kept as well, as no code at all: the next run leaves it to the driver
// at once.
Code CodeCache::compile(const Request& request, const Hash128& key, Entry& entry) {
  Compilation compilation = compiler_.compile(request.text, request.flags);
  entry.code = std::move(compilation.code);
  Code code{.bytes = *entry.code,
            .source = CodeSource::kCompiler,
            .message = std::move(compilation.message)};
  if (compilation.verdict != Verdict::kFailed) {
    if (const Expected<void> kept = files_.store(key, code.bytes); !kept) {
      code.message += (code.message.empty() ? "" : "; ") + kept.error().to_string();
    }
  }
  return code;
}

void CodeCache::compile_ahead(std::vector<Request> requests) {
  struct Work {
    std::vector<Request> requests;
    std::atomic<std::size_t> next = 0;
  };

  const std::size_t most = std::max(1U, std::thread::hardware_concurrency());
  const std::size_t count = std::min(requests.size(), most);
  const auto work = std::make_shared<Work>(std::move(requests));
  sigset_t all;
  sigset_t previous;
  (void)sigfillset(&all);  // the program's signals are for its own threads
  (void)pthread_sigmask(SIG_SETMASK, &all, &previous);
  for (std::size_t thread = 0; thread < count; ++thread) {
    std::thread([this, work] {
      for (std::size_t at = work->next++; at < work->requests.size(); at = work->next++) {
        (void)find_or_compile(work->requests[at]);
      }
    }).detach();
  }
  (void)pthread_sigmask(SIG_SETMASK, &previous, nullptr);
}

void CodeCache::forget(const Request& request) {
  const Hash128 key = key_of(request);
  files_.remove(key);
  Entry* entry = nullptr;
  {
    const std::lock_guard lock(mutex_);
    entry = &entries_[key];
  }
  const std::lock_guard lock(entry->mutex);
  entry->code = "";
}

}  // namespace barracuda::jit
