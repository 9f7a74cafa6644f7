// The work of all streams that has been submitted and is not over. It runs on the threads that call
// CUDA: mostly at once and to its end, in the call that submits it. A kernel whose threads only
// poll is suspended: its call returns, and it goes on when the memory that it polls has changed, or
// when a call waits for it. What must come after it in its streams waits in the queue. A thread of
// our own runs what the program's threads do not run while they are busy: the host may poll what a
// kernel writes, or write what a kernel polls. docs/decisions/concurrent-kernels.md.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <variant>

#include "emulator/libcuda/stream/stream.h"
#include "emulator/libcuda/stream/work.h"

namespace barracuda::emulator::driver {

// What is no node of graphs. Must not fail.
using Call = std::function<void()>;

// Is over once that holds, which other threads and kernels may bring about.
struct Await {
  std::function<bool()> holds;
};

using Job = std::variant<Work, Call, Await>;

// One piece of submitted work.
class Submission;
using Ticket = std::shared_ptr<Submission>;

// Also of work that never was.
bool is_over(const Ticket& ticket);

// Puts the work into the stream, behind what comes before it there and behind `after`, and runs
// what can be run. Returns what the work says, if it is over then.
CUresult enqueue(const std::shared_ptr<Stream>& stream, Job job,
                 std::span<const Ticket> after = {});
// The same of the nodes of a graph, each as soon as those that it depends on are over. `end` is
// what the graph's last launch was, which comes before, and becomes what this one is.
CUresult enqueue_graph(const std::shared_ptr<Stream>& stream, const Graph& graph, Ticket& end);
// Returns when it is over.
void wait_for(const Ticket& ticket);
// The same of everything in the stream: for the legacy stream also of all blocking ones.
void wait_for_stream(const Stream& stream);
// Runs what can be run without waiting, and says whether everything in the stream is over.
bool poll_stream(const Stream& stream);
bool poll(const Ticket& ticket);

// While it lives, work that this thread submits is waited for where CUDA's synchronous calls do so.
class SynchronousCall {
 public:
  SynchronousCall();
  ~SynchronousCall();
  SynchronousCall(const SynchronousCall&) = delete;
  SynchronousCall& operator=(const SynchronousCall&) = delete;
};

}  // namespace barracuda::emulator::driver
