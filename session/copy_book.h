// The program's calls that copy, set, allocate or free memory in the order of a stream, each once
// for a place in the program and a stream. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "base/assert.h"
#include "base/strong_id.h"
#include "host_detector/race_event.h"
#include "report/run_data.h"
#include "session/copy_request.h"

namespace barracuda::session {

class CopyBook {
 public:
  struct Call {
    detector::CallId number{};
    bool is_new = false;
  };

  // The call that this thread is in.
  Call open(detector::HostOperation operation, std::uint64_t stream);

  // A number in the order of launches that no copy had.
  detector::CopyId next_id() { return detector::CopyId{++last_id_}; }

  // The newest number was not needed.
  void take_back(detector::CopyId newest) {
    last_id_ -= newest == detector::CopyId{last_id_} ? 1U : 0U;
  }

  [[nodiscard]] const report::CopyRecord& record(detector::CallId call) const {
    ASSERT(index_of(call) < records_.size());
    return *records_[index_of(call)];
  }

  // The calls that the findings name.
  [[nodiscard]] std::vector<report::CopyRecord> named_in(const detector::Findings& findings) const;

  // Every call has the number under which it is found.
  [[nodiscard]] bool is_valid() const;

 private:
  using Stack = std::vector<std::uint64_t>;
  using Key =
      std::tuple<Stack, detector::HostOperation, std::uint64_t>;  // with what record() says of it

  std::map<Key, report::CopyRecord> calls_;
  std::vector<const report::CopyRecord*> records_;  // by number
  std::uint64_t stacks_taken_ = 0;
  std::uint32_t last_id_ = 0;
};

}  // namespace barracuda::session
