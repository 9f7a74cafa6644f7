// Gaps in what the tool saw, a sentence each: printed to stderr once, as they happen, and listed in
// the report. Thread-safe.
#pragma once

#include <mutex>
#include <string>
#include <vector>

namespace barracuda::session {

class Problems {
 public:
  void add(const std::string& sentence);
  [[nodiscard]] std::vector<std::string> sentences() const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> sentences_;
};

}  // namespace barracuda::session
