// Barnes-Hut after LonestarGPU, in the plane and in whole numbers. build: the bodies are put into a
// tree; who changes a child pointer first locks it by atomicCAS, and the store that publishes the
// new cells is the unlock. sum_up: a cell's mass and centre, from the children's, each of which is
// waited for until its mass is not negative. sort: the bodies in the order of the tree, where a
// cell waits for its place, which is all that it reads. The original has no fences on the reading
// sides.
//
// expect: none
// weak: never
// variant release_fences: -DBUILD_ACQUIRE=0 -DSUM_ACQUIRE=0
// expect release_fences: race inter-block global
// weak release_fences: fails
// variant no_build_release: -DBUILD_RELEASE=0
// expect no_build_release: race inter-block global
// weak no_build_release: fails
// fence no_build_release: BUILD_RELEASE, acq_rel gpu
// behind no_build_release: tree.x[cell] | tree.y[cell] | kEmpty; | = old_body | = body; | = cell;
// variant no_sum_release: -DSUM_RELEASE=0
// expect no_sum_release: race inter-block global
// weak no_sum_release: fails
// fence no_sum_release: SUM_RELEASE, acq_rel gpu
// behind no_sum_release: tree.sum_x[cell] = | tree.sum_y[cell] = | tree.bodies[cell] =
// variant no_build_acquire: -DBUILD_ACQUIRE=0
// expect no_build_acquire: race inter-block global
// weak no_build_acquire: fails
// fence no_build_acquire: BUILD_ACQUIRE, acq_rel gpu
// behind no_build_acquire: const int child = tree.child[node
// variant no_sum_acquire: -DSUM_ACQUIRE=0
// expect no_sum_acquire: race inter-block global
// weak no_sum_acquire: fails
// fence no_sum_acquire: SUM_ACQUIRE, acq_rel gpu
// behind no_sum_acquire: of_child = tree.mass
// variant no_fence: -DBUILD_ACQUIRE=0 -DSUM_ACQUIRE=0 -DBUILD_RELEASE=0 -DSUM_RELEASE=0
// expect no_fence: race inter-block global
// weak no_fence: fails
#include <algorithm>

#include <cuda/atomic>

#include "weak.h"

#ifndef BUILD_RELEASE
#  define BUILD_RELEASE 1
#endif
#ifndef BUILD_ACQUIRE
#  define BUILD_ACQUIRE 1
#endif
#ifndef SUM_RELEASE
#  define SUM_RELEASE 1
#endif
#ifndef SUM_ACQUIRE
#  define SUM_ACQUIRE 1
#endif

constexpr int kBodies = 256;
constexpr int kCells = 512;
constexpr int kRoot = kBodies;
constexpr int kNodes = kBodies + kCells;  // bodies first, then cells
constexpr int kThreads = 32;
constexpr int kBlocks = 4;
constexpr int kHalf = 1 << 15;  // of the side of the root's square
constexpr int kEmpty = -1, kLocked = -2;

struct Tree {
  int *x, *y;           // of a body, or of the middle of a cell
  volatile int* child;  // four a node: a node, kEmpty or kLocked
  volatile int* mass;   // of a cell: -1 until it is known
  int *sum_x, *sum_y, *bodies;
  int* start;    // of a cell: the place of its first body in the order, or -1
  int* sorted;   // the bodies in the order of the tree
  int* cells;    // how many
  int patience;  // of who waits; without fences a tree may be broken
};

__device__ int quadrant(const Tree& tree, int node, int x, int y) {
  return (x >= tree.x[node]) * 2 + (y >= tree.y[node]);  // RACE
}

// A new cell in quadrant j of a cell of half side `half`, or -1 where there is no room.
__device__ int make_cell(const Tree& tree, int parent, int j, int half) {
  const int cell = kRoot + atomicAdd(tree.cells, 1);
  if (cell >= kNodes || half < 2) {
    return -1;
  }
  tree.x[cell] = tree.x[parent] + (j / 2 != 0 ? half / 2 : -half / 2);  // RACE
  tree.y[cell] = tree.y[parent] + (j % 2 != 0 ? half / 2 : -half / 2);  // RACE
  for (int k = 0; k < 4; ++k) {
    tree.child[cell * 4 + k] = kEmpty;  // RACE
  }
  return cell;
}

// The cells that part two bodies, below quadrant j of `parent`; the topmost, or -1.
__device__ int part(const Tree& tree, int parent, int j, int half, int old_body, int body) {
  int top = -1;
  while (true) {
    const int cell = make_cell(tree, parent, j, half);
    if (cell < 0) {
      return top;
    }
    if (top < 0) {
      top = cell;
    } else {
      tree.child[parent * 4 + j] = cell;  // RACE
    }
    half /= 2;
    const int of_old = quadrant(tree, cell, tree.x[old_body], tree.y[old_body]);
    const int of_new = quadrant(tree, cell, tree.x[body], tree.y[body]);
    if (of_old != of_new) {
      tree.child[cell * 4 + of_old] = old_body;  // RACE
      tree.child[cell * 4 + of_new] = body;      // RACE
      return top;
    }
    parent = cell;
    j = of_old;
  }
}

__global__ void build(Tree tree) {
  for (int body = blockIdx.x * kThreads + threadIdx.x; body < kBodies; body += kThreads * kBlocks) {
    const int x = tree.x[body], y = tree.y[body];
    int node = kRoot, half = kHalf;
    int j = quadrant(tree, node, x, y);
    for (int tries = 0; tries < tree.patience; ++tries) {
      const int child = tree.child[node * 4 + j];  // RACE
      if (child >= kBodies) {
        if (BUILD_ACQUIRE) {
          __threadfence();
        }
        node = child;
        half /= 2;
        j = quadrant(tree, node, x, y);
      } else if (child != kLocked &&
                 atomicCAS(const_cast<int*>(&tree.child[node * 4 + j]), child,  // RACE
                           kLocked) == child) {                                 // RACE
        const int made = child == kEmpty ? body : part(tree, node, j, half, child, body);
        if (BUILD_RELEASE) {
          __threadfence();
        }
        tree.child[node * 4 + j] = made;  // RACE
        break;
      }
    }
  }
}

__device__ bool add_child(const Tree& tree, int child, int& mass, int& x, int& y, int& bodies) {
  if (child < kBodies) {
    mass += 1;
    x += tree.x[child];
    y += tree.y[child];
    bodies += 1;
    return true;
  }
  int of_child = -1;
  for (int tries = 0; of_child < 0; ++tries) {
    if (tries == tree.patience) {
      return false;
    }
    of_child = tree.mass[child];  // RACE
  }
  if (SUM_ACQUIRE) {
    __threadfence();
  }
  mass += of_child;
  x += tree.sum_x[child];        // RACE
  y += tree.sum_y[child];        // RACE
  bodies += tree.bodies[child];  // RACE
  return true;
}

// A cell's children are younger, so each thread goes from the youngest to the oldest.
__global__ void sum_up(Tree tree) {
  const int last = min(kNodes, kRoot + *tree.cells) - 1;
  for (int cell = last - (blockIdx.x * kThreads + threadIdx.x); cell >= kRoot;
       cell -= kThreads * kBlocks) {
    int mass = 0, x = 0, y = 0, bodies = 0;
    for (int k = 0; k < 4; ++k) {
      const int child = tree.child[cell * 4 + k];
      if (child >= 0 && !add_child(tree, child, mass, x, y, bodies)) {
        return;
      }
    }
    tree.sum_x[cell] = x;        // RACE
    tree.sum_y[cell] = y;        // RACE
    tree.bodies[cell] = bodies;  // RACE
    if (SUM_RELEASE) {
      __threadfence();
    }
    tree.mass[cell] = mass;  // RACE
  }
}

__global__ void sort(Tree tree) {
  using Place = cuda::atomic_ref<int, cuda::thread_scope_device>;
  const int end = min(kNodes, kRoot + *tree.cells);
  for (int cell = kRoot + blockIdx.x * kThreads + threadIdx.x; cell < end;
       cell += kThreads * kBlocks) {
    int place = -1;
    for (int tries = 0; place < 0; ++tries) {
      if (tries == tree.patience) {
        return;
      }
      place = Place(tree.start[cell]).load(cuda::memory_order_relaxed);
    }
    for (int k = 0; k < 4; ++k) {
      const int child = tree.child[cell * 4 + k];
      if (child >= kBodies) {
        Place(tree.start[child]).store(place, cuda::memory_order_relaxed);
        place += tree.bodies[child];
      } else if (child >= 0 && place < kBodies) {
        tree.sorted[place++] = child;
      }
    }
  }
}

int run_round() {
  std::vector<int> x(kNodes), y(kNodes), order(kBodies);
  unsigned random = 1;
  const auto coordinate = [&random] {
    random = random * 1664525u + 1013904223u;
    return static_cast<int>(random >> 16);
  };
  long long expected_x = 0;
  for (int body = 0; body < kBodies; ++body) {
    x[body] = coordinate();
    y[body] = coordinate();
    expected_x += x[body];
    order[body] = body;
  }
  x[kRoot] = y[kRoot] = kHalf;
  // The order of the tree is that of the coordinates' bits, x before y, from the highest down.
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    for (int bit = 15; bit >= 0; --bit) {
      const int of_a = (x[a] >> bit & 1) * 2 + (y[a] >> bit & 1);
      const int of_b = (x[b] >> bit & 1) * 2 + (y[b] >> bit & 1);
      if (of_a != of_b) {
        return of_a < of_b;
      }
    }
    return false;
  });

  Tree tree{to_device(x), to_device(y), device_array<int>(kNodes * 4, 0xff),
            device_array<int>(kNodes, 0xff)};
  for (int** array : {&tree.sum_x, &tree.sum_y, &tree.bodies}) {
    *array = device_array<int>(kNodes);
  }
  tree.start = device_array<int>(kNodes, 0xff);
  require(cudaMemset(tree.start + kRoot, 0, sizeof(int)));
  tree.sorted = device_array<int>(kBodies, 0xff);
  tree.cells = to_device(std::vector<int>{1});
  static const int patience = polls(1 << 16);  // asked of the device once for all rounds
  tree.patience = patience;
  build<<<kBlocks, kThreads>>>(tree);
  sum_up<<<kBlocks, kThreads>>>(tree);
  sort<<<kBlocks, kThreads>>>(tree);
  finish_kernels();

  const std::vector<int> sorted = to_host(tree.sorted, kBodies);
  int in_place = 0;
  for (int i = 0; i < kBodies; ++i) {
    in_place += sorted[i] == order[i];
  }
  if (in_place != kBodies) {
    return conclude("bodies in their place:", in_place, kBodies);
  }
  return conclude("the root's sum of x is", to_host(tree.sum_x + kRoot, 1)[0], expected_x);
}
