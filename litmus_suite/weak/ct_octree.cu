// Octree partitioning after Cederman and Tsigas: each block has a queue without lock, pushes the
// octants that are still too full into its own, and takes tasks from its own and then from the
// others'. Push writes the task and then counts up the tail; the original has no fence between the
// two. Here both pop and steal take the oldest task by compare-and-swap of the head, so that no
// order of tail and head is needed besides.
//
// expect: none
// weak: never
// variant push_fence: -DTAKE_FENCE=0
// expect push_fence: race inter-block global
// weak push_fence: fails
// fence push_fence: TAKE_FENCE, acq_rel gpu
// behind push_fence: head >= queue.tail
// variant take_fence: -DPUSH_FENCE=0
// expect take_fence: race inter-block global
// weak take_fence: fails
// fence take_fence: PUSH_FENCE, acq_rel gpu
// behind take_fence: queue.deq[tail] = task
// variant no_fence: -DTAKE_FENCE=0 -DPUSH_FENCE=0
// expect no_fence: race inter-block global
// weak no_fence: fails
#include "weak.h"

#ifndef PUSH_FENCE
#  define PUSH_FENCE 1
#endif
#ifndef TAKE_FENCE
#  define TAKE_FENCE 1
#endif

constexpr int kParticles = 2048;
constexpr int kThreads = 64;
constexpr int kBlocks = 8;
constexpr int kFull = 24;  // particles of a leaf, at most
constexpr int kBits = 10;  // of a coordinate; the depth of the tree, at most
constexpr int kTasks = 1024;
// A block that so many times in a row found all queues empty leaves. Its own is empty then, and
// nobody else pushes there. Long enough for the first tasks to be pushed, also by a slow block.
constexpr int kLooks = 512;

struct Particle {
  short x, y, z, id;
};

// The particles first … first + count - 1 lie in one node of this depth.
struct Task {
  int first, count, depth;
};

struct Queue {
  int head;
  volatile int tail;
  Task deq[kTasks];
};

__device__ void push(Queue& queue, const Task& task) {
  const int tail = queue.tail;
  if (tail < kTasks) {
    queue.deq[tail] = task;  // RACE
    if (PUSH_FENCE) {
      __threadfence();
    }
    queue.tail = tail + 1;  // RACE
  }
}

__device__ bool take(Queue& queue, Task& task) {
  while (true) {
    const int head = atomicAdd(&queue.head, 0);
    if (head >= queue.tail) {  // RACE
      return false;
    }
    if (TAKE_FENCE) {
      __threadfence();
    }
    task = queue.deq[head];  // RACE
    if (atomicCAS(&queue.head, head, head + 1) == head) {
      return true;
    }
  }
}

__device__ bool pop_or_steal(Queue* queues, const int* placed, Task& task) {
  for (int look = 0; look < kLooks && atomicAdd(const_cast<int*>(placed), 0) < kParticles; ++look) {
    for (int i = 0; i < kBlocks; ++i) {
      if (take(queues[(blockIdx.x + i) % kBlocks], task)) {
        return true;
      }
    }
  }
  return false;
}

__device__ int octant_of(const Particle& particle, int depth) {
  const int bit = kBits - 1 - depth;
  const int x = particle.x >> bit & 1;  // RACE
  const int y = particle.y >> bit & 1;  // RACE
  const int z = particle.z >> bit & 1;  // RACE
  return x * 4 + y * 2 + z;
}

// Particles of a node of even depth lie in buffers[0], of odd depth in buffers[1].
__global__ void build(Particle* buffer, Particle* other, Queue* queues, int* leaves, int* placed) {
  __shared__ Task task;
  __shared__ bool found;
  __shared__ int begin[9], filled[8];
  while (true) {
    if (threadIdx.x == 0) {
      found = pop_or_steal(queues, placed, task);
    }
    if (threadIdx.x < 8) {
      filled[threadIdx.x] = 0;
    }
    __syncthreads();
    if (!found) {
      return;
    }
    const Task mine = task;
    const Particle* const from = (mine.depth % 2 == 0 ? buffer : other) + mine.first;
    Particle* const to = (mine.depth % 2 == 0 ? other : buffer) + mine.first;
    if (mine.count <= kFull || mine.depth == kBits) {
      for (int i = threadIdx.x; i < mine.count; i += kThreads) {
        atomicAdd(&leaves[from[i].id], 1);  // RACE
      }
      __syncthreads();
      if (threadIdx.x == 0) {
        atomicAdd(placed, mine.count);
      }
      continue;
    }
    for (int i = threadIdx.x; i < mine.count; i += kThreads) {
      atomicAdd(&filled[octant_of(from[i], mine.depth)], 1);  // RACE
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      begin[0] = 0;
      for (int octant = 0; octant < 8; ++octant) {
        begin[octant + 1] = begin[octant] + filled[octant];
        filled[octant] = 0;
      }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < mine.count; i += kThreads) {
      const Particle particle = from[i];  // RACE
      const int octant = octant_of(particle, mine.depth);
      const int place = begin[octant] + atomicAdd(&filled[octant], 1);
      if (place < mine.count) {
        to[place] = particle;  // RACE
      }
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      for (int octant = 0; octant < 8; ++octant) {
        const int count = begin[octant + 1] - begin[octant];
        if (count != 0) {
          push(queues[blockIdx.x], {mine.first + begin[octant], count, mine.depth + 1});
        }
      }
    }
  }
}

int run_round() {
  std::vector<Particle> particles(kParticles);
  unsigned random = 1;
  const auto coordinate = [&random] {
    random = random * 1664525u + 1013904223u;
    return static_cast<short>(random >> (32 - kBits));
  };
  for (int i = 0; i < kParticles; ++i) {
    particles[i] = {coordinate(), coordinate(), coordinate(), static_cast<short>(i)};
  }
  std::vector<Queue> queues(kBlocks);
  for (Queue& queue : queues) {
    queue.head = queue.tail = 0;
  }
  queues[0].deq[0] = {0, kParticles, 0};
  queues[0].tail = 1;
  int* const leaves = device_array<int>(kParticles);
  build<<<kBlocks, kThreads>>>(to_device(particles), device_array<Particle>(kParticles),
                               to_device(queues), leaves, device_array<int>(1));
  finish_kernels();
  long long once = 0;
  for (const int count : to_host(leaves, kParticles)) {
    once += count == 1;
  }
  return conclude("particles in one leaf:", once, kParticles);
}
