#include "session/problems.h"

#include <algorithm>

#include "base/log.h"

namespace barracuda::session {

void Problems::add(const std::string& sentence) {
  const std::lock_guard lock(mutex_);
  if (std::ranges::find(sentences_, sentence) != sentences_.end()) {
    return;
  }
  log(Folder::kSession, LogLevel::kWarning, "%s", sentence.c_str());
  sentences_.push_back(sentence);
}

std::vector<std::string> Problems::sentences() const {
  const std::lock_guard lock(mutex_);
  return sentences_;
}

}  // namespace barracuda::session
