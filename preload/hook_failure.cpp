#include "preload/hook_failure.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/assert.h"
#include "base/log.h"
#include "preload/process.h"

namespace barracuda::preload {
namespace {

constexpr const char kNowhere[] = "a thread of its own";

// Never destroyed, because hooks may run until the process is gone.
struct Failures {
  std::mutex mutex;
  std::map<std::pair<std::string, std::string>, std::uint64_t> calls;  // by function and exception
};

Failures& failures() {
  static auto* const made = new Failures;
  return *made;
}

// What the environment asks for.
struct RequestedFailure {
  RequestedFailure();

  std::string name;
  HookCall::FailurePoint point = HookCall::FailurePoint::kNone;
  std::uint64_t first = 1;  // of its calls
};

RequestedFailure::RequestedFailure() {
  const char* const text = std::getenv("BARRACUDA_FAIL_HOOK");
  if (text == nullptr) {
    return;
  }
  const std::string_view all = text;
  name = all.substr(0, all.find(':'));
  const std::string_view rest = all.substr(std::min(name.size() + 1, all.size()));
  const std::string_view number = rest.substr(std::min(rest.find(':'), rest.size() - 1) + 1);
  (void)std::from_chars(number.begin(), number.end(), first);
  point = rest.starts_with("edge") ? HookCall::FailurePoint::kEdge : HookCall::FailurePoint::kWork;
}

HookCall::FailurePoint point_for(const char* name) {
  static const RequestedFailure& requested = *new RequestedFailure;
  static std::atomic<std::uint64_t> calls = 0;
  return !requested.name.empty() && requested.name == name && ++calls >= requested.first
             ? requested.point
             : HookCall::FailurePoint::kNone;
}

}  // namespace

HookCall::HookCall(const char* name, const void* caller, bool is_per_thread) noexcept
    : name_(name),
      is_per_thread_(is_per_thread),
      caller_(caller),
      outer_(g_current),
      told_(point_for(name)) {
  g_current = this;
}

HookCall::~HookCall() {
  DEBUG_ASSERT(g_current == this);
  g_current = outer_;
}

void HookCall::note_answer(const char* name, int status) noexcept {
  if (std::strcmp(name, name_) == 0) {
    answer_ = status;
  }
}

void HookCall::fail_if_told(FailurePoint here) {
  if (here == told_) {
    told_ = FailurePoint::kNone;
    throw std::runtime_error("BARRACUDA_FAIL_HOOK says so");
  }
}

std::string current_exception_text() {
  try {
    throw;
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "an unknown exception";
  }
}

void work_failed(Loss loss, const std::string& what) noexcept {
  try {
    if (loss == Loss::kNothing) {
      return;
    }
    if (loss == Loss::kReport) {
      tool_failed(what);
      return;
    }
    const HookCall* const call = HookCall::current();
    const std::string name = call == nullptr ? kNowhere : call->name();
    bool is_first = false;
    {
      const std::lock_guard lock(failures().mutex);
      is_first = failures().calls[{name, what}]++ == 0;
    }
    if (is_first) {
      log(Folder::kPreload, LogLevel::kWarning, "the tool failed in %s (%s): the program goes on%s",
          name.c_str(), what.c_str(),
          loss == Loss::kOrder ? ", later launches are not checked" : "");
    }
    if (loss == Loss::kOrder && !tool_is_off()) {
      process_session().launches().close("launched after the tool had failed in " + name);
    }
  } catch (...) {
    switch_tool_off();  // not even that: there is no memory at all
  }
}

std::vector<std::string> hook_failures() {
  std::vector<std::string> sentences;
  const std::lock_guard lock(failures().mutex);
  for (const auto& [place, calls] : failures().calls) {
    sentences.push_back(fmt::format("the tool failed in {} ({}): {} went on without it",
                                    place.first, place.second,
                                    calls == 1 ? "one call" : fmt::format("{} calls", calls)));
  }
  return sentences;
}

}  // namespace barracuda::preload
