// How many records a second a device can log, and host threads read: in the paper's layout and in
// ours, into rings in pinned host memory, which the readers poll in place, and into rings in device
// memory, which they drain by copies of whole chunks. Prints the table of
// docs/decisions/queue-memory.md. For a GPU: the figures of the emulated device mean nothing.
//   queue_memory [--blocks N] [--records N] [--queues N]
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "../../examples/cuda_check.h"

namespace {

using u32 = std::uint32_t;
using u64 = unsigned long long;

// kFull: 16 bytes of header and 32 addresses, as the paper's records. kCompact: base and stride.
// Both become valid by the tag in the header, behind a fence. kTagged: the compact one whose two
// halves have the tag each, without a fence: right where 16-byte stores land whole.
enum class Layout { kFull, kCompact, kTagged };
enum class Place { kPinned, kDevice };

constexpr u32 kThreads = 256, kWarps = kThreads / 32;
constexpr std::size_t kRingBytes = std::size_t{128} << 20;
constexpr std::size_t kChunkBytes = std::size_t{256} << 10;  // drained by one copy
constexpr std::size_t kMostChunks = std::size_t{1} << 16;
constexpr u32 kMostQueues = 256, kMostReaders = 8;
constexpr u32 kBurst = 256;   // records of one queue before a reader publishes how far it is
constexpr int kPatience = 8;  // seconds without progress after which all sides give up

__host__ __device__ constexpr u32 record_bytes(Layout layout) {
  return layout == Layout::kFull ? 272 : 32;
}

// All queues of one run. `heads`, in device memory, and `tails`, in pinned memory, have a line for
// each queue, so that queues do not slow each other down.
struct Queues {
  char* slots;
  u64* heads;
  volatile u32* tails;
  volatile u32* stop;  // pinned: one side gave up
  u32* committed;      // device: records that lie in each chunk, since the beginning
  u32 count, slot_count, chunk_records, chunk_count;
  u32 first_tag;  // a tag belongs to one record of one run
  int records_of_warp;
  bool has_readers;  // without, rings are overwritten

  [[nodiscard]] volatile __host__ __device__ u32& tail(u32 queue) const {
    return tails[queue * 16];
  }

  [[nodiscard]] __host__ __device__ char* ring(u32 queue, u32 bytes) const {
    return slots + std::size_t{queue} * slot_count * bytes;
  }
};

__device__ u64 device_time() {
  u64 time = 0;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(time));
  return time;
}

__device__ void store_half(char* to, u32 a, u32 b, u32 c, u32 d) {
  asm volatile("st.volatile.v4.u32 [%0], {%1,%2,%3,%4};" ::"l"(to), "r"(a), "r"(b), "r"(c), "r"(d)
               : "memory");
}

template <Place kWhere>
__device__ void fence() {
  if (kWhere == Place::kDevice) {
    __threadfence();
  } else {
    __threadfence_system();
  }
}

// False if one side gave up.
__device__ bool wait_for_room(const Queues& queues, u32 queue, u32 slot, u32& known_tail) {
  const u64 start = device_time();
  while (slot - known_tail >= queues.slot_count) {
    known_tail = queues.tail(queue);
    if (*queues.stop != 0 || device_time() - start > u64{kPatience} * 1000000000) {
      *queues.stop = 1;
      return false;
    }
    __nanosleep(500);
  }
  return true;
}

template <Layout kLayout, Place kWhere>
__device__ void write_record(char* record, u32 lane, u32 tag, u32 warp, u64 address) {
  if (kLayout == Layout::kFull) {
    reinterpret_cast<volatile u64*>(record + 16)[lane] = address;
    fence<kWhere>();
    __syncwarp();
  }
  if (lane != 0) {
    return;
  }
  const auto low = static_cast<u32>(address), high = static_cast<u32>(address >> 32);
  if (kLayout == Layout::kCompact) {
    store_half(record + 16, low, high, 4, ~0U);
    fence<kWhere>();
  } else if (kLayout == Layout::kTagged) {
    store_half(record + 16, tag, low, high, 4);
  }
  store_half(record, tag, ~0U, warp, 0);
}

template <Layout kLayout, Place kWhere>
__global__ void log_records(Queues queues) {
  const u32 lane = threadIdx.x % 32, warp = blockIdx.x * kWarps + threadIdx.x / 32;
  const u32 queue = warp % queues.count;
  u32 known_tail = 0;
  // The low half is at least 2^31, so what an overwritten record leaves never looks like a tag.
  u64 address = 0x7f0080000000 + u64{warp} * 4096 + lane * 4;
  for (int i = 0; i < queues.records_of_warp; ++i, address += 128) {
    u32 slot = 0;
    bool has_room = true;
    if (lane == 0) {
      slot = static_cast<u32>(atomicAdd(&queues.heads[queue * 16], 1ULL));
      has_room = !queues.has_readers || wait_for_room(queues, queue, slot, known_tail);
    }
    if (!__shfl_sync(~0U, has_room, 0)) {
      return;
    }
    slot = __shfl_sync(~0U, slot, 0);
    const u32 at = slot % queues.slot_count;
    char* record =
        queues.ring(queue, record_bytes(kLayout)) + std::size_t{at} * record_bytes(kLayout);
    write_record<kLayout, kWhere>(record, lane, queues.first_tag + slot, warp, address);
    if (kWhere == Place::kDevice && lane == 0) {
      __threadfence();
      atomicAdd(&queues.committed[queue * queues.chunk_count + at / queues.chunk_records], 1U);
    }
  }
}

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

u64 sum_of(const char* record, u32 bytes) {
  u64 sum = 0;
  for (u32 i = 0; i < bytes; i += 8) {
    u64 word = 0;
    std::memcpy(&word, record + i, 8);
    sum += word;
  }
  return sum;
}

struct Memory {
  char* pinned_ring = nullptr;
  char* device_ring = nullptr;
  u64* heads = nullptr;
  u32* tails = nullptr;
  u32* stop = nullptr;
  u32* committed = nullptr;

  Memory() {
    CUDA_CHECK(cudaHostAlloc(&pinned_ring, kRingBytes, cudaHostAllocMapped));
    CUDA_CHECK(cudaMalloc(&device_ring, kRingBytes));
    CUDA_CHECK(cudaMalloc(&heads, kMostQueues * 128));
    CUDA_CHECK(cudaHostAlloc(&tails, kMostQueues * 64, cudaHostAllocMapped));
    CUDA_CHECK(cudaHostAlloc(&stop, sizeof *stop, cudaHostAllocMapped));
    CUDA_CHECK(cudaMalloc(&committed, kMostChunks * 4));
    std::memset(pinned_ring, 0, kRingBytes);
    CUDA_CHECK(cudaMemset(device_ring, 0, kRingBytes));
  }
};

struct Case {
  Layout layout;
  Place place;
  u32 queues;
};

// What one reader reads: the queues from `first` until `end`, of each as many records as `totals`
// says.
class Reader {
 public:
  Reader(const Case& what, const Queues& queues, std::vector<u32> totals, u32 first, u32 end)
      : queues_(queues),
        totals_(std::move(totals)),
        done_(totals_.size()),
        first_(first),
        end_(end),
        bytes_(record_bytes(what.layout)),
        is_tagged_twice_(what.layout == Layout::kTagged),
        is_pinned_(what.place == Place::kPinned) {
    if (!is_pinned_) {
      CUDA_CHECK(cudaHostAlloc(&staging_, kChunkBytes, cudaHostAllocDefault));
      CUDA_CHECK(cudaHostAlloc(&counts_, kMostChunks * 4, cudaHostAllocDefault));
      CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    }
  }

  void run() {
    for (double last = now(); !is_done() && *queues_.stop == 0;) {
      if (is_pinned_ ? read_in_place() : drain()) {
        last = now();
      } else if (now() - last > kPatience) {
        *queues_.stop = 1;
      }
    }
  }

  void release() {
    if (!is_pinned_) {
      CUDA_CHECK(cudaFreeHost(staging_));
      CUDA_CHECK(cudaFreeHost(counts_));
      CUDA_CHECK(cudaStreamDestroy(stream_));
    }
  }

  [[nodiscard]] u64 wrong() const { return wrong_; }

  [[nodiscard]] u64 sum() const { return sum_; }

 private:
  [[nodiscard]] bool is_done() const {
    return std::equal(done_.begin() + first_, done_.begin() + end_, totals_.begin() + first_);
  }

  [[nodiscard]] bool is_valid(const char* record, u32 tag) const {
    const auto tag_at = [](const char* at) {
      return __atomic_load_n(reinterpret_cast<const u32*>(at), __ATOMIC_ACQUIRE);
    };
    return tag_at(record) == tag && (!is_tagged_twice_ || tag_at(record + 16) == tag);
  }

  void publish(u32 queue) {
    __atomic_store_n(const_cast<u32*>(&queues_.tail(queue)), done_[queue], __ATOMIC_RELEASE);
  }

  bool read_in_place() {
    bool has_read = false;
    for (u32 queue = first_; queue < end_; ++queue) {
      const char* ring = queues_.ring(queue, bytes_);
      const u32 before = done_[queue], end = std::min(totals_[queue], before + kBurst);
      for (u32& at = done_[queue]; at < end; ++at) {
        const char* record = ring + std::size_t{at % queues_.slot_count} * bytes_;
        if (!is_valid(record, queues_.first_tag + at)) {
          break;
        }
        sum_ += sum_of(record, bytes_);
      }
      if (done_[queue] != before) {
        publish(queue);
        has_read = true;
      }
    }
    return has_read;
  }

  bool drain() {
    const std::size_t chunks = std::size_t{end_ - first_} * queues_.chunk_count;
    copy(counts_, queues_.committed + std::size_t{first_} * queues_.chunk_count, chunks * 4);
    bool has_read = false;
    for (u32 queue = first_; queue < end_; ++queue) {
      while (done_[queue] < totals_[queue] && drain_chunk(queue)) {
        has_read = true;
      }
    }
    return has_read;
  }

  // The next chunk of the queue, if all its records were there when `counts_` was copied.
  bool drain_chunk(u32 queue) {
    u32& at = done_[queue];
    const u32 chunk = at / queues_.chunk_records, in_ring = chunk % queues_.chunk_count;
    const u32 records = std::min(queues_.chunk_records, totals_[queue] - at);
    const u32 needed = chunk / queues_.chunk_count * queues_.chunk_records + records;
    if (counts_[std::size_t{queue - first_} * queues_.chunk_count + in_ring] < needed) {
      return false;
    }
    const std::size_t offset = std::size_t{in_ring} * queues_.chunk_records * bytes_;
    copy(staging_, queues_.ring(queue, bytes_) + offset, std::size_t{records} * bytes_);
    for (u32 i = 0; i < records; ++i) {
      const char* record = staging_ + std::size_t{i} * bytes_;
      wrong_ += is_valid(record, queues_.first_tag + at + i) ? 0 : 1;
      sum_ += sum_of(record, bytes_);
    }
    at += records;
    publish(queue);
    return true;
  }

  void copy(void* to, const void* from, std::size_t bytes) {
    CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream_));
    CUDA_CHECK(cudaStreamSynchronize(stream_));
  }

  const Queues queues_;
  std::vector<u32> totals_, done_;  // by queue
  u32 first_, end_, bytes_;
  bool is_tagged_twice_, is_pinned_;
  char* staging_ = nullptr;
  u32* counts_ = nullptr;
  cudaStream_t stream_ = nullptr;
  u64 wrong_ = 0, sum_ = 0;
};

Queues lay_out(const Case& what, const Memory& memory) {
  const std::size_t bytes = record_bytes(what.layout);
  const std::size_t slots = kRingBytes / what.queues / bytes;
  Queues queues{};
  queues.count = what.queues;
  queues.heads = memory.heads;
  queues.tails = memory.tails;
  queues.stop = memory.stop;
  queues.committed = memory.committed;
  queues.slots = what.place == Place::kPinned ? memory.pinned_ring : memory.device_ring;
  // At least four chunks a ring, or the device waits for the chunk that is drained.
  queues.chunk_records = static_cast<u32>(std::min(kChunkBytes / bytes, slots / 4));
  queues.chunk_count =
      static_cast<u32>(std::min(slots / queues.chunk_records, kMostChunks / what.queues));
  queues.slot_count = queues.chunk_count * queues.chunk_records;
  return queues;
}

template <Layout kLayout>
void launch(Place place, u32 blocks, const Queues& queues, cudaStream_t stream) {
  if (place == Place::kPinned) {
    log_records<kLayout, Place::kPinned><<<blocks, kThreads, 0, stream>>>(queues);
  } else {
    log_records<kLayout, Place::kDevice><<<blocks, kThreads, 0, stream>>>(queues);
  }
  CUDA_CHECK(cudaGetLastError());
}

void launch(const Case& what, u32 blocks, const Queues& queues, cudaStream_t stream) {
  switch (what.layout) {
    case Layout::kFull:
      return launch<Layout::kFull>(what.place, blocks, queues, stream);
    case Layout::kCompact:
      return launch<Layout::kCompact>(what.place, blocks, queues, stream);
    case Layout::kTagged:
      return launch<Layout::kTagged>(what.place, blocks, queues, stream);
  }
}

// Records a second, in millions: until the kernel is over, or, with readers, until all were read.
// Less than 0 if a side gave up or a record was not what was written.
double measure(const Case& what, const Memory& memory, u32 blocks, u32 records, u32 reader_count) {
  static u32 next_tag = 1;
  Queues queues = lay_out(what, memory);
  queues.first_tag = next_tag;
  queues.has_readers = reader_count != 0;
  const u32 warps = blocks * kWarps;
  queues.records_of_warp = static_cast<int>((records + warps - 1) / warps);
  std::vector<u32> totals(what.queues);
  for (u32 warp = 0; warp < warps; ++warp) {
    totals[warp % what.queues] += static_cast<u32>(queues.records_of_warp);
  }
  next_tag += *std::max_element(totals.begin(), totals.end()) + 1;
  CUDA_CHECK(cudaMemset(memory.heads, 0, kMostQueues * 128));
  CUDA_CHECK(cudaMemset(memory.committed, 0, kMostChunks * 4));
  std::memset(memory.tails, 0, kMostQueues * 64);
  *memory.stop = 0;
  CUDA_CHECK(cudaDeviceSynchronize());

  std::vector<Reader> readers;
  for (u32 i = 0; i < reader_count; ++i) {
    readers.emplace_back(what, queues, totals, what.queues * i / reader_count,
                         what.queues * (i + 1) / reader_count);
  }
  cudaStream_t stream = nullptr;
  CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  const double start = now();
  std::vector<std::thread> threads;
  for (Reader& reader : readers) {
    threads.emplace_back([&reader] { reader.run(); });
  }
  launch(what, blocks, queues, stream);
  CUDA_CHECK(cudaStreamSynchronize(stream));
  for (std::thread& thread : threads) {
    thread.join();
  }
  const double seconds = now() - start;
  CUDA_CHECK(cudaStreamDestroy(stream));
  u64 wrong = *memory.stop, sum = 0;
  for (Reader& reader : readers) {
    wrong += reader.wrong();
    sum += reader.sum();
    reader.release();
  }
  const double written = static_cast<double>(warps) * queues.records_of_warp;
  // The sum keeps the compiler from reading less than whole records.
  return wrong != 0 || (reader_count != 0 && sum == 0) ? -1 : written / seconds / 1e6;
}

u32 argument(int count, char** values, const char* name, u32 otherwise) {
  for (int i = 1; i + 1 < count; i += 2) {
    if (std::strcmp(values[i], name) == 0) {
      return static_cast<u32>(std::stoul(values[i + 1]));
    }
  }
  return otherwise;
}

}  // namespace

int main(int count, char** values) {
  const u32 blocks = argument(count, values, "--blocks", 264);
  const u32 records = argument(count, values, "--records", 4U << 20);
  const u32 many = std::min(argument(count, values, "--queues", 132), kMostQueues);
  const Memory memory;

  struct Row {
    const char* name;
    Case what;
  };

  const std::vector<Row> rows = {
      {"pinned, the paper's 272 bytes, fence and flag", {Layout::kFull, Place::kPinned, many}},
      {"pinned, 32 bytes, fence and flag", {Layout::kCompact, Place::kPinned, many}},
      {"pinned, 32 bytes, each half with its own tag, no fence",
       {Layout::kTagged, Place::kPinned, many}},
      {"device, 272 bytes, drained by copies", {Layout::kFull, Place::kDevice, many}},
      {"device, 32 bytes, drained by copies", {Layout::kCompact, Place::kDevice, many}},
      {"device, 32 bytes, drained by copies", {Layout::kCompact, Place::kDevice, 1}},
  };
  measure(rows.front().what, memory, blocks, records / 16, 0);  // loads the code
  std::printf("| where, record | queues | no reader | 1 reader | 8 readers |\n");
  std::printf("| --- | --- | --- | --- | --- |\n");
  bool is_right = true;
  for (const Row& row : rows) {
    std::printf("| %s | %u |", row.name, row.what.queues);
    for (const u32 readers : {0U, 1U, kMostReaders}) {
      if (readers > row.what.queues) {
        std::printf(" |");
        continue;
      }
      const double rate = measure(row.what, memory, blocks, records, readers);
      is_right = is_right && rate >= 0;
      std::printf(rate < 0 ? " gave up |" : rate < 10 ? " %.1f |" : " %.0f |", rate);
      std::fflush(stdout);
    }
    std::printf("\n");
  }
  return is_right ? 0 : 1;
}
