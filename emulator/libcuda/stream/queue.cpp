#include "emulator/libcuda/stream/queue.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <iterator>
#include <list>
#include <map>
#include <mutex>
#include <ranges>
#include <thread>
#include <utility>

#include "base/early_return.h"
#include "base/own_thread.h"
#include "base/signals_blocked.h"
#include "emulator/libcuda.h"
#include "emulator/libcuda/event/event.h"
#include "emulator/libcuda/graph/graph.h"
#include "emulator/libcuda/memory/allocation.h"
#include "emulator/libcuda/module/launch.h"

namespace barracuda::emulator::driver {

enum class Progress : std::uint8_t {
  kWaiting,  // for what comes before it
  kRunning,  // on some thread
  kPaused,   // a kernel that others are let run beside
  kPolling,  // a kernel whose threads only poll
  kOver,
};

class Submission {
 public:
  Submission(Job the_job, std::shared_ptr<Stream> its_stream, std::vector<Ticket> what_is_before)
      : job(std::move(the_job)), stream(std::move(its_stream)), after(std::move(what_is_before)) {}

  const Job job;
  const std::shared_ptr<Stream> stream;
  std::vector<Ticket> after;
  const LaunchOwner owner = current_launch_owner();
  bool is_part = false;  // of a graph, whose end is another one

  std::atomic<Progress> progress{Progress::kWaiting};
  std::uint64_t spent = 0;  // work of a kernel since it last stood aside
  StartedLaunch launch;
  CUresult status = CUDA_SUCCESS;

  [[nodiscard]] bool is_over() const { return progress == Progress::kOver; }

  [[nodiscard]] bool is_ready() {
    std::erase_if(after, [](const Ticket& ticket) { return ticket->is_over(); });
    const auto* const await = std::get_if<Await>(&job);
    return after.empty() && (await == nullptr || has_failed() || await->holds());
  }

  [[nodiscard]] bool has_failed() const { return owner.context->failure != CUDA_SUCCESS; }
};

namespace {

using std::chrono::steady_clock;

// In warp instructions. The call that launches a kernel does not wait for more than kLongWork of
// them; where several kernels run, each executes kShare at a time.
constexpr std::uint64_t kLongWork = std::uint64_t{1} << 24;
constexpr std::uint64_t kShare = 2048;
// A turn: who polls sees each step of the other.
constexpr std::uint64_t kShareBesidePolls = 1;
// What a piece counts at least, and one that ends with polls; and how much of the others' work one
// call does.
constexpr std::uint64_t kTurn = 128, kPollsFound = std::uint64_t{1} << 15;
constexpr std::uint64_t kMostOfOthers = 4 * kLongWork;
// About as many as a GPU takes before a launch has to wait.
constexpr std::size_t kMostUnfinished = 1024;
// So often in a row kernels that only poll are run on for who waits for them, before he leaves the
// processor to others in between.
constexpr std::uint32_t kEagerRounds = 256;
constexpr std::chrono::microseconds kBreak{500};
// Our own thread: how often it looks for a change of what is polled, after a change and else, and
// after which time without calls it runs kernels that are long, and those that only poll.
constexpr std::chrono::microseconds kLookSoon{50}, kLookLater{1000};
constexpr std::chrono::milliseconds kQuietForLong{20}, kQuietForPolls{1000};
// So often kernels that only poll are run on before they are ended with the process.
constexpr std::uint32_t kLastRounds = 16;

constinit thread_local unsigned g_synchronous_calls = 0;
// Pieces that this thread is in the middle of: host functions that call CUDA, or exit().
constinit thread_local std::size_t g_own_pieces = 0;

// What may be run.
enum class Reach : std::uint8_t {
  kShort,  // what will soon be over or suspended
  kLong,   // kernels that take long too
  kPolls,  // and those that only poll what has not changed
};

bool is_blocking(const Stream& stream) {
  return (stream.flags & CU_STREAM_NON_BLOCKING) == 0;
}

bool comes_after(const Stream& later, const Stream& earlier) {
  return &later == &earlier || (is_legacy(later) && is_blocking(earlier)) ||
         (is_legacy(earlier) && is_blocking(later));
}

class Queue {
 public:
  using Lock = std::unique_lock<std::mutex>;
  using Condition = std::function<bool()>;

  Lock lock() { return Lock(mutex_); }

  // The lock is held in all that follows.
  void add(Ticket submission) { unfinished_.push_back(std::move(submission)); }

  [[nodiscard]] const std::list<Ticket>& unfinished() const { return unfinished_; }

  // The last work of each stream that work of this one comes after.
  [[nodiscard]] std::vector<Ticket> before(const Stream& stream) const;
  // Runs what it can until then, or until it has done so much.
  void run_until(Lock& lock, const Condition& until, Reach reach,
                 std::uint64_t most = kMostOfOthers);
  void wait_until(Lock& lock, const Condition& until);
  // Our own thread runs what is left.
  void leave_rest();
  // Ends what will not end by itself.
  void end_all(Lock& lock);

 private:
  Ticket choose(Reach reach);
  // How much of it is run at once.
  [[nodiscard]] std::uint64_t share_of(const Submission& kernel) const;
  // Returns what it counts.
  std::uint64_t run(Lock& lock, const Ticket& chosen, Reach reach);
  void serve();
  std::chrono::microseconds serve_once(Lock& lock);

  std::mutex mutex_;
  std::condition_variable changed_, left_;
  std::list<Ticket> unfinished_;  // in the order of submission
  Ticket last_run_;
  std::size_t running_ = 0;  // that some thread runs now
  std::size_t drivers_ = 0;  // threads of the program that run what they can
  bool has_server_ = false;
  steady_clock::time_point last_call_ = steady_clock::now();
};

// Never destroyed: work may be submitted until the process is gone.
Queue& queue() {
  static auto* const instance = new Queue;
  return *instance;
}

std::vector<Ticket> Queue::before(const Stream& stream) const {
  std::vector<Ticket> found;
  for (const Ticket& each : std::views::reverse(unfinished_)) {
    const auto is_of_stream = [&](const Ticket& other) { return other->stream == each->stream; };
    if (!each->is_part && comes_after(stream, *each->stream) &&
        std::ranges::none_of(found, is_of_stream)) {
      found.push_back(each);
    }
  }
  return found;
}

bool may_run(Submission& each, Reach reach) {
  switch (each.progress.load()) {
    case Progress::kWaiting:
      return each.is_ready();
    case Progress::kPaused:
      return reach >= Reach::kLong || each.spent < kLongWork;
    case Progress::kPolling:
      return reach == Reach::kPolls || each.has_failed() || each.launch.running->is_woken();
    case Progress::kRunning:
    case Progress::kOver:
      break;
  }
  return false;
}

// In turn.
Ticket Queue::choose(Reach reach) {
  const auto last = std::ranges::find(unfinished_, last_run_);
  const auto first = last == unfinished_.end() ? unfinished_.begin() : std::next(last);
  const auto can_run = [&](const Ticket& each) { return may_run(*each, reach); };
  auto found = std::find_if(first, unfinished_.end(), can_run);
  if (found == unfinished_.end()) {
    found = std::find_if(unfinished_.begin(), first, can_run);
    if (found == first) {
      return nullptr;
    }
  }
  return *found;
}

std::uint64_t Queue::share_of(const Submission& kernel) const {
  std::uint64_t share = kLongWork;
  for (const Ticket& each : unfinished_) {
    const Progress progress = each->progress;
    if (each.get() != &kernel &&
        (progress == Progress::kPolling || progress == Progress::kPaused)) {
      share = std::min(share, progress == Progress::kPolling ? kShareBesidePolls : kShare);
    }
  }
  return share;
}

// Until it is over or suspended.
Progress run_kernel(Submission& chosen, const KernelWork& work, const RunLimit& limit) {
  StartedLaunch& launch = chosen.launch;
  if (launch.running == nullptr) {
    chosen.status = start(work, launch, chosen.owner);
    if (launch.running == nullptr) {
      return Progress::kOver;
    }
  }
  const RunResult result = launch.running->run(limit);
  if (result == RunResult::kEnded) {
    finish(work, launch, chosen.owner);
    return Progress::kOver;
  }
  chosen.spent = result == RunResult::kPolling ? 0 : chosen.spent + std::max(limit.work, kTurn);
  return result == RunResult::kPolling ? Progress::kPolling : Progress::kPaused;
}

Progress run_piece(Submission& chosen, const RunLimit& limit) {
  if (chosen.has_failed()) {
    // Its context is gone, and it with it.
    chosen.launch = {};
  } else if (const auto* const call = std::get_if<Call>(&chosen.job)) {
    (*call)();
  } else if (std::holds_alternative<Await>(chosen.job)) {
    return Progress::kOver;
  } else if (const Work& work = std::get<Work>(chosen.job);
             const auto* const kernel = std::get_if<KernelWork>(&work)) {
    return run_kernel(chosen, *kernel, limit);
  } else {
    chosen.status = driver::run(work);
  }
  return Progress::kOver;
}

std::uint64_t Queue::run(Lock& lock, const Ticket& chosen, Reach reach) {
  const RunLimit limit{
      .work = share_of(*chosen),
      .polls_on = chosen->progress == Progress::kPolling && reach == Reach::kPolls};
  chosen->progress = Progress::kRunning;
  last_run_ = chosen;
  ++running_;
  lock.unlock();
  ++g_own_pieces;
  const Progress progress = run_piece(*chosen, limit);
  --g_own_pieces;
  lock.lock();
  --running_;
  chosen->progress = progress;
  if (progress == Progress::kOver) {
    unfinished_.remove(chosen);
  }
  changed_.notify_all();
  return progress == Progress::kPolling  ? kPollsFound
         : progress == Progress::kPaused ? std::max(limit.work, kTurn)
                                         : kTurn;
}

void Queue::run_until(Lock& lock, const Condition& until, Reach reach, std::uint64_t most) {
  ++drivers_;
  for (std::uint64_t done = 0; done < most && !until();) {
    const Ticket chosen = choose(reach);
    if (chosen == nullptr) {
      break;
    }
    done += run(lock, chosen, reach);
  }
  --drivers_;
  last_call_ = steady_clock::now();
}

void Queue::wait_until(Lock& lock, const Condition& until) {
  ++drivers_;
  for (std::uint32_t rounds = 0; !until();) {
    if (const Ticket chosen = choose(Reach::kLong)) {
      run(lock, chosen, Reach::kLong);
      rounds = 0;
    } else if (const Ticket polling = running_ == g_own_pieces ? choose(Reach::kPolls) : nullptr) {
      run(lock, polling, Reach::kPolls);
      if (++rounds > kEagerRounds) {
        changed_.wait_for(lock, kBreak);
      }
    } else if (running_ == g_own_pieces && g_own_pieces != 0) {
      break;  // it comes after what this thread is in the middle of
    } else {
      changed_.wait_for(lock, kBreak);  // somebody else runs it, or writes what is awaited
    }
  }
  --drivers_;
  last_call_ = steady_clock::now();
}

void Queue::leave_rest() {
  if (unfinished_.empty()) {
    last_run_ = nullptr;
    return;
  }
  if (!std::exchange(has_server_, true)) {
    const SignalsBlocked in_our_thread;
    const NamedAsOwn while_it_starts;
    std::thread([this] { serve(); }).detach();
  }
  left_.notify_one();
}

// The pause before the next time.
std::chrono::microseconds Queue::serve_once(Lock& lock) {
  if (drivers_ != 0) {
    return kLookLater;
  }
  const auto quiet = steady_clock::now() - last_call_;
  const Reach reach = quiet > kQuietForPolls  ? Reach::kPolls
                      : quiet > kQuietForLong ? Reach::kLong
                                              : Reach::kShort;
  for (const Reach each : {Reach::kShort, Reach::kLong, Reach::kPolls}) {
    const Ticket chosen = each <= reach ? choose(each) : nullptr;
    if (chosen != nullptr) {
      run(lock, chosen, each);
      return each == Reach::kPolls ? kLookLater : std::chrono::microseconds{0};
    }
  }
  return std::chrono::microseconds{-1};
}

void Queue::serve() {
  name_own_thread();
  Lock lock(mutex_);
  auto last_change = steady_clock::now();
  for (;;) {
    if (unfinished_.empty()) {
      left_.wait(lock);
      continue;
    }
    const std::chrono::microseconds pause = serve_once(lock);
    const auto now = steady_clock::now();
    if (pause.count() == 0) {
      last_change = now;
      continue;
    }
    constexpr std::chrono::milliseconds kLively{20};
    left_.wait_for(lock, pause.count() > 0             ? pause
                         : now - last_change < kLively ? kLookSoon
                                                       : kLookLater);
  }
}

void Queue::end_all(Lock& lock) {
  const auto is_empty = [this] { return unfinished_.empty(); };
  for (std::uint32_t round = 0; round < kLastRounds * (unfinished_.size() + 1); ++round) {
    run_until(lock, is_empty, Reach::kLong, ~std::uint64_t{0});
    run_until(lock, is_empty, Reach::kPolls, 1);
  }
  for (const Ticket& each : unfinished_) {
    if (each->progress == Progress::kPolling) {
      each->launch.running->end(DeviceErrorCode::kUnended,
                                "was still running when the program ended, and only polled");
    }
  }
  run_until(lock, is_empty, Reach::kPolls, ~std::uint64_t{0});
}

// --- when a call must wait ---

bool is_pageable(std::uint64_t address) {
  return !find_memory(address);
}

bool is_of_host(std::uint64_t address) {
  const auto memory = find_memory(address);
  return !memory || memory->kind == AllocationKind::kHost ||
         memory->kind == AllocationKind::kRegisteredHost ||
         memory->kind == AllocationKind::kManaged;
}

template <typename Predicate>
bool any_side(const CUDA_MEMCPY3D& copy, const Predicate& holds) {
  const auto holds_for = [&](CUmemorytype type, const void* host, CUdeviceptr device) {
    return type != CU_MEMORYTYPE_ARRAY &&
           holds(type == CU_MEMORYTYPE_HOST ? reinterpret_cast<std::uint64_t>(host) : device);
  };
  return holds_for(copy.srcMemoryType, copy.srcHost, copy.srcDevice) ||
         holds_for(copy.dstMemoryType, copy.dstHost, copy.dstDevice);
}

// "API synchronization behavior" of the driver API: copies of pageable memory, and calls without a
// stream that touch the host's.
bool waits(const Job& job) {
  const auto* const work = std::get_if<Work>(&job);
  const auto* const copy = work == nullptr ? nullptr : std::get_if<CopyWork>(work);
  return copy != nullptr &&
         any_side(copy->copy, g_synchronous_calls != 0 ? is_of_host : is_pageable);
}

CUresult check_job(const Job& job) {
  const auto* const work = std::get_if<Work>(&job);
  return work == nullptr ? CUDA_SUCCESS : check(*work);
}

// Runs what it can of what was added, the last of which is `end`.
CUresult run_added(Queue::Lock& lock, const Ticket& end, bool must_wait) {
  const auto is_over = [&] { return end->is_over(); };
  const auto never = [] { return false; };
  Queue& all = queue();
  if (must_wait) {
    all.wait_until(lock, is_over);
  }
  all.run_until(lock, never, Reach::kShort);
  if (all.unfinished().size() > kMostUnfinished) {
    all.run_until(lock, [&] { return all.unfinished().size() <= kMostUnfinished; }, Reach::kLong);
  }
  all.leave_rest();
  return end->is_over() ? end->status : CUDA_SUCCESS;
}

void add_tickets(std::vector<Ticket>& to, std::span<const Ticket> more) {
  std::ranges::copy_if(more, std::back_inserter(to),
                       [](const Ticket& ticket) { return !is_over(ticket); });
}

// Its event is recorded, or waited for, from where it is submitted on.
void note_event(const Job& job, const Ticket& ticket) {
  const auto* const work = std::get_if<Work>(&job);
  if (work == nullptr) {
    return;
  }
  if (const auto* const record = std::get_if<EventRecordWork>(work)) {
    set_ticket(record->event, ticket);
  } else if (const auto* const wait = std::get_if<EventWaitWork>(work)) {
    if (const Ticket recorded = ticket_of(wait->event); !is_over(recorded)) {
      ticket->after.push_back(recorded);
    }
  } else if (const auto* const kernel = std::get_if<KernelWork>(work)) {
    for (const CUevent event : events_of(*kernel)) {
      set_ticket(event, ticket);
    }
  }
}

// The nodes of a graph, behind `roots`; returns what each that nothing depends on is.
std::vector<Ticket> add_nodes(const std::shared_ptr<Stream>& stream, const Graph& graph,
                              const std::vector<Ticket>& roots) {
  std::map<const GraphNode*, Ticket> tickets;
  std::vector<Ticket> ends;
  const auto order = graph.order();
  for (GraphNode* const node : order.value_or(std::vector<GraphNode*>())) {
    std::vector<Ticket> after = node->dependencies.empty() ? roots : std::vector<Ticket>();
    for (const GraphEdge& edge : node->dependencies) {
      after.push_back(tickets[edge.from]);
      std::erase(ends, tickets[edge.from]);
    }
    const auto* const child = node->is_enabled ? std::get_if<ChildGraphWork>(&node->work) : nullptr;
    if (child != nullptr) {
      after = add_nodes(stream, *child->graph, after);
    }
    Work work = child != nullptr || !node->is_enabled ? Work(EmptyWork{}) : node->work;
    const auto ticket = std::make_shared<Submission>(std::move(work), stream, std::move(after));
    ticket->is_part = true;
    note_event(ticket->job, ticket);
    queue().add(ticket);
    tickets[node] = ticket;
    ends.push_back(ticket);
  }
  return ends.empty() ? roots : ends;
}

std::vector<Ticket> work_of(const Stream& stream) {
  std::vector<Ticket> found;
  std::ranges::copy_if(queue().unfinished(), std::back_inserter(found), [&](const Ticket& each) {
    return each->stream.get() == &stream || (is_legacy(stream) && is_blocking(*each->stream));
  });
  return found;
}

bool are_over(const std::vector<Ticket>& tickets) {
  return std::ranges::all_of(tickets, [](const Ticket& each) { return each->is_over(); });
}

bool poll(const std::vector<Ticket>& tickets, Queue::Lock& lock) {
  const auto is_done = [&] { return are_over(tickets); };
  queue().run_until(lock, is_done, Reach::kShort);
  queue().run_until(lock, is_done, Reach::kLong, 1);
  return is_done();
}

}  // namespace

bool is_over(const Ticket& ticket) {
  return ticket == nullptr || ticket->is_over();
}

CUresult enqueue(const std::shared_ptr<Stream>& stream, Job job, std::span<const Ticket> after) {
  auto lock = queue().lock();
  if (!queue().unfinished().empty()) {
    if (const CUresult status = check_job(job); status != CUDA_SUCCESS) {
      return status;  // as it would say if it ran at once
    }
  }
  const bool must_wait = waits(job);
  std::vector<Ticket> before = queue().before(*stream);
  add_tickets(before, after);
  const auto ticket = std::make_shared<Submission>(std::move(job), stream, std::move(before));
  note_event(ticket->job, ticket);
  queue().add(ticket);
  return run_added(lock, ticket, must_wait);
}

CUresult enqueue_graph(const std::shared_ptr<Stream>& stream, const Graph& graph, Ticket& end) {
  RETURN_IF(!graph.order(), CUDA_ERROR_INVALID_VALUE);
  auto lock = queue().lock();
  std::vector<Ticket> before = queue().before(*stream);
  add_tickets(before, std::span(&end, 1));
  std::vector<Ticket> ends = add_nodes(stream, graph, before);
  end = std::make_shared<Submission>(Work(EmptyWork{}), stream, std::move(ends));
  queue().add(end);
  return run_added(lock, end, false);
}

void wait_for(const Ticket& ticket) {
  if (!is_over(ticket)) {
    auto lock = queue().lock();
    queue().wait_until(lock, [&] { return ticket->is_over(); });
  }
}

void wait_for_stream(const Stream& stream) {
  auto lock = queue().lock();
  const std::vector<Ticket> tickets = work_of(stream);
  queue().wait_until(lock, [&] { return are_over(tickets); });
}

bool poll_stream(const Stream& stream) {
  auto lock = queue().lock();
  return poll(work_of(stream), lock);
}

bool poll(const Ticket& ticket) {
  if (is_over(ticket)) {
    return true;
  }
  auto lock = queue().lock();
  return poll(std::vector{ticket}, lock);
}

void finish_all_streams() {
  auto lock = queue().lock();
  const std::vector<Ticket> tickets(queue().unfinished().begin(), queue().unfinished().end());
  queue().wait_until(lock, [&] { return are_over(tickets); });
}

void end_unfinished_launches() {
  auto lock = queue().lock();
  queue().end_all(lock);
}

SynchronousCall::SynchronousCall() {
  ++g_synchronous_calls;
}

SynchronousCall::~SynchronousCall() {
  --g_synchronous_calls;
}

}  // namespace barracuda::emulator::driver
