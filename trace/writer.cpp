#include "trace/writer.h"

#include <ctime>
#include <unistd.h>
#include <utility>

#include "base/assert.h"
#include "base/hash.h"
#include "trace/block.h"

namespace barracuda::trace {

Writer::Writer(TraceFile file, std::uint64_t stream) : file_(std::move(file)), stream_(stream) {
  events_.reserve(kBlockBytes + kBlockBytes / 8);
}

void Writer::flush() {
  if (error_ || events_.empty()) {
    return;
  }
  write_events();
  if (!error_) {
    return;
  }
  // There may be room for this much, now that a large block has been taken back.
  const Diagnostic first = *std::exchange(error_, std::nullopt);
  events_.clear();
  encode(RecordingFailed{first.message}, events_);
  write_events();
  error_ = first;
}

void Writer::write_events() {
  ASSERT(!error_ && !events_.empty());
  if (events_.size() > kMaximumBlockBytes) {
    error_ = Diagnostic{.message = "an event is too large for a trace"};
    return;
  }
  auto written = file_.append(make_block(stream_, number_, events_));
  if (!written) {
    error_ = std::move(written).error();
    return;
  }
  ++number_;
  ASSERT(number_ != 0);  // a stream's blocks are counted in 32 bits
  events_.clear();
}

std::uint64_t new_stream() {
  struct {
    timespec now{};
    std::int64_t process = 0;
  } seed;

  (void)clock_gettime(CLOCK_REALTIME, &seed.now);
  seed.process = getpid();
  return hash128({reinterpret_cast<const char*>(&seed), sizeof seed}).low;
}

}  // namespace barracuda::trace
