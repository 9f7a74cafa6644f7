// Three races in its first second, then an end: ends HOW. loop: quiet launches until a signal ends
// it. segv, abort, kill: ends itself so, as soon as the racy kernels are through. exec: executes
// `echo`. no-exec: tries what is not there, then returns. leave: _exit. handled: has a handler of
// its own for SIGTERM, which calls exit(5). callback: calls exit(6) in a stream's host function.
// early: SIGSEGV before the first launch. hang: a kernel that never ends. idle: waits for a signal.
// main-leaves: pthread_exit in the main thread, the last one. main-first: the same with a thread
// that goes on for a while. daemon FILE: closes every number that it has, takes them all for FILE,
// writes `own` there, and goes on for a while.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <cuda_runtime.h>

__global__ void same_word(int* data) {
  data[0] = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
}

__global__ void neighbour(int* data) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  data[i + 1] = data[i] + 1;
}

__global__ void lost_update(int* data) {
  data[1000] += static_cast<int>(threadIdx.x) + 1;
}

__global__ void quiet(int* data) {
  data[blockIdx.x * blockDim.x + threadIdx.x] += 1;
}

__global__ void spin(volatile int* flag) {
  while (*flag == 0) {
  }
}

static void leave(void*) {
  std::exit(6);
}

// Finds what same_word() does a second time, and the exit handlers after it.
static void* go_on(void* data) {
  sleep(2);
  same_word<<<2, 32>>>(static_cast<int*>(data));
  std::printf(cudaDeviceSynchronize() == cudaSuccess ? "went on\n" : "failed\n");
  return nullptr;
}

static void leave_main_thread(int* data, bool is_last) {
  std::atexit([] { std::printf("at exit\n"); });
  pthread_t other;
  if (!is_last && pthread_create(&other, nullptr, go_on, data) == 0) {
    pthread_detach(other);
  }
  pthread_exit(nullptr);
}

static void become_daemon(const char* file, int* data) {
  constexpr int kNumbers = 1024;
  for (int number = 0; number < kNumbers; ++number) {
    close(number);
  }
  const int own = open(file, O_WRONLY | O_CREAT | O_APPEND, 0666);
  for (int number = 0; number < kNumbers; ++number) {
    dup2(own, number);
  }
  (void)!write(kNumbers - 1, "own\n", 4);
  go_on(data);
}

static void end_as_told(const char* how, const char* file, int* data) {
  if (std::strcmp(how, "loop") == 0) {
    while (true) {
      quiet<<<2, 64>>>(data);
      cudaDeviceSynchronize();
    }
  }
  if (std::strcmp(how, "segv") == 0) {
    *static_cast<volatile int*>(nullptr) = 1;
  } else if (std::strcmp(how, "abort") == 0) {
    std::abort();
  } else if (std::strcmp(how, "kill") == 0) {
    kill(getpid(), SIGKILL);
  } else if (std::strcmp(how, "exec") == 0) {
    execlp("echo", "echo", "executed", static_cast<char*>(nullptr));
  } else if (std::strcmp(how, "no-exec") == 0) {
    execlp("/nonexistent/program", "program", static_cast<char*>(nullptr));
    std::printf("not executed\n");
  } else if (std::strcmp(how, "leave") == 0) {
    _exit(7);
  } else if (std::strcmp(how, "handled") == 0) {
    raise(SIGTERM);
  } else if (std::strcmp(how, "callback") == 0) {
    cudaLaunchHostFunc(nullptr, leave, nullptr);
    cudaDeviceSynchronize();
    sleep(60);
  } else if (std::strncmp(how, "main-", 5) == 0) {
    leave_main_thread(data, std::strcmp(how, "main-leaves") == 0);
  } else if (std::strcmp(how, "daemon") == 0) {
    sleep(1);  // what was found is in the tool's files
    become_daemon(file, data);
  } else if (std::strcmp(how, "idle") == 0) {
    while (true) {
      pause();
    }
  } else if (std::strcmp(how, "hang") == 0) {
    spin<<<1, 1>>>(data + 2000);
    cudaDeviceSynchronize();
  }
}

int main(int argc, char** argv) {
  const char* const how = argc > 1 ? argv[1] : "loop";
  if (std::strcmp(how, "early") == 0) {
    *static_cast<volatile int*>(nullptr) = 1;
  }
  if (std::strcmp(how, "handled") == 0) {
    std::signal(SIGTERM, [](int) { std::exit(5); });
  }
  int* data = nullptr;
  cudaMalloc(&data, 1 << 16);
  cudaMemset(data, 0, 1 << 16);
  same_word<<<2, 32>>>(data);
  cudaDeviceSynchronize();
  neighbour<<<1, 64>>>(data);
  cudaDeviceSynchronize();
  lost_update<<<1, 64>>>(data);
  cudaDeviceSynchronize();
  std::printf("ready\n");
  std::fflush(stdout);
  end_as_told(how, argc > 2 ? argv[2] : "", data);
  return 0;
}
