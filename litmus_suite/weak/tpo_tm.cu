// Task management after Tzeng, Patney and Owens: each block has a queue of tasks behind a mutex,
// takes from its own and then from the others', and puts the tasks that a task makes into its own.
// Every task must be executed once.
//
// expect: none
// weak: never
// variant unlock_fence: -DLOCK_FENCE=0
// expect unlock_fence: race inter-block global
// weak unlock_fence: fails
// fence unlock_fence: LOCK_FENCE, acq_rel gpu
// behind unlock_fence: while (atomicCAS(&queue.mutex
// variant lock_fence: -DUNLOCK_FENCE=0
// expect lock_fence: race inter-block global
// weak lock_fence: fails
// fence lock_fence: UNLOCK_FENCE, acq_rel gpu
// behind lock_fence: queue.head = queue | queue.tasks[queue.tail] | queue.tail = queue
// variant no_fence: -DLOCK_FENCE=0 -DUNLOCK_FENCE=0
// expect no_fence: race inter-block global
// weak no_fence: fails
#include "weak.h"

#ifndef LOCK_FENCE
#  define LOCK_FENCE 1
#endif
#ifndef UNLOCK_FENCE
#  define UNLOCK_FENCE 1
#endif

constexpr int kThreads = 32;
constexpr int kBlocks = 6;
// Tasks are numbered as the nodes of a binary tree: those below kTasks / 2 make two more.
constexpr int kTasks = 256;
constexpr int kFirstTasks = 16;
constexpr int kNone = -1;
// A block that so many times in a row found all queues empty leaves. Its own is empty then, and
// nobody else puts tasks there.
constexpr int kLooks = 8;

struct Queue {
  int mutex;
  int head;
  int tail;
  int tasks[kTasks];
};

__device__ void lock(Queue& queue) {
  while (atomicCAS(&queue.mutex, 0, 1) != 0) {
  }
  if (LOCK_FENCE) {
    __threadfence();
  }
}

__device__ void unlock(Queue& queue) {
  if (UNLOCK_FENCE) {
    __threadfence();
  }
  atomicExch(&queue.mutex, 0);
}

__device__ int take(Queue& queue) {
  int task = kNone;
  lock(queue);
  if (queue.head < queue.tail) {     // RACE
    task = queue.tasks[queue.head];  // RACE
    queue.head = queue.head + 1;     // RACE
  }
  unlock(queue);
  return task;
}

__device__ void put(Queue& queue, int task) {
  lock(queue);
  if (queue.tail < kTasks) {         // RACE
    queue.tasks[queue.tail] = task;  // RACE
    queue.tail = queue.tail + 1;     // RACE
  }
  unlock(queue);
}

__device__ int take_any(Queue* queues) {
  int task = kNone;
  for (int look = 0; look < kLooks && task == kNone; ++look) {
    for (int i = 0; i < kBlocks && task == kNone; ++i) {
      task = take(queues[(blockIdx.x + i) % kBlocks]);
    }
  }
  return task;
}

__global__ void run_tasks(Queue* queues, int* executed) {
  __shared__ int task;
  while (true) {
    if (threadIdx.x == 0) {
      task = take_any(queues);
    }
    __syncthreads();
    const int mine = task;
    __syncthreads();
    if (mine == kNone) {
      return;
    }
    atomicAdd(&executed[mine * kThreads + threadIdx.x], 1);
    if (threadIdx.x == 0 && mine < kTasks / 2) {
      put(queues[blockIdx.x], 2 * mine);
      put(queues[blockIdx.x], 2 * mine + 1);
    }
  }
}

int run_round() {
  // The first tasks are all in one queue: the other blocks steal.
  std::vector<Queue> queues(kBlocks, Queue{});
  for (int task = kFirstTasks; task < 2 * kFirstTasks; ++task) {
    queues[0].tasks[queues[0].tail++] = task;
  }
  int* const executed = device_array<int>(kTasks * kThreads);
  run_tasks<<<kBlocks, kThreads>>>(to_device(queues), executed);
  finish_kernels();

  int once = 0;
  for (const int times : to_host(executed, kTasks * kThreads)) {
    once += times == 1;
  }
  return conclude("lanes of tasks that ran once:", once, (kTasks - kFirstTasks) * kThreads);
}
