// Warp instructions per second of the emulated device on one host core, for kernels of different
// kinds. Prints one line for each.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <time.h>
#include <vector>

#include "emulator/machine.h"

namespace {

using namespace barracuda::emulator;  // NOLINT(google-build-using-namespace)

struct Benchmark {
  const char* name;
  const char* body;  // of the loop; %i counts
  const char* before;
};

constexpr Benchmark kBenchmarks[] = {
    {"integer arithmetic",
     "add.s32 %r1, %r1, %i; xor.b32 %r2, %r2, %r1; mad.lo.s32 %r3, %r1, %r2, %r3; shl.b32 %r4, "
     "%r3, 3;"
     "sub.s32 %r5, %r4, %r2; and.b32 %r6, %r5, 255; min.s32 %r7, %r6, %r1; shr.u32 %r8, %r7, 2;",
     ""},
    {"f32 arithmetic",
     "add.f32 %f1, %f1, %f2; mul.f32 %f2, %f1, 0f3F7FFFFF; fma.rn.f32 %f3, %f1, %f2, %f3;"
     "sub.f32 %f4, %f3, %f1; fma.rn.f32 %f5, %f4, %f2, %f3; add.f32 %f6, %f5, %f4;"
     "mul.f32 %f7, %f6, %f5; max.f32 %f8, %f7, %f6;",
     ""},
    {"coalesced global ld/st",
     "ld.global.u32 %r1, [%out]; add.s32 %r1, %r1, %i; st.global.u32 [%out], %r1;"
     "ld.global.u32 %r2, [%out+4096]; add.s32 %r2, %r2, %r1; st.global.u32 [%out+4096], %r2;",
     ""},
    {"scattered global ld/st",
     "mad.lo.s32 %r1, %r1, 1103515245, 12345; and.b32 %r2, %r1, 1023; mul.wide.u32 %d1, %r2, 4;"
     "add.s64 %d2, %base, %d1; ld.global.u32 %r3, [%d2]; add.s32 %r3, %r3, 1; st.global.u32 [%d2], "
     "%r3;",
     ""},
    {"shared memory and barrier",
     "st.shared.u32 [%d3], %r1; bar.sync 0; ld.shared.u32 %r2, [%d4]; add.s32 %r1, %r1, %r2; "
     "bar.sync 0;",
     "shl.b32 %r9, %lane, 2; cvt.u64.u32 %d3, %r9; xor.b32 %r9, %r9, 128; cvt.u64.u32 %d4, %r9;"},
    {"divergent branches",
     "and.b32 %r1, %lane, 1; setp.eq.s32 %p2, %r1, 0; @%p2 bra EVEN; add.s32 %r2, %r2, 3; bra.uni "
     "MEET;"
     "EVEN: mul.lo.s32 %r2, %r2, 5; MEET: add.s32 %r3, %r3, %r2;",
     ""},
    {"shuffles", "shfl.sync.down.b32 %r2, %r1, 1, 31, -1; add.s32 %r1, %r1, %r2;", ""},
    {"shared atomics, 64 addresses", "atom.shared.add.u32 %r2, [%d3], 1; add.s32 %r1, %r1, %r2;",
     "and.b32 %r9, %lane, 63; shl.b32 %r9, %r9, 2; cvt.u64.u32 %d3, %r9;"},
    {"calls",
     "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call.uni (b), callee, (a); "
     "ld.param.b32 %r1, [b]; }",
     ""},
};

std::string text_of(const Benchmark& benchmark) {
  return std::string(R"(.version 9.0
.target sm_90
.address_size 64
.shared .align 16 .b8 buffer[4096];
.func (.param .b32 result) callee(.param .b32 n)
{
  .reg .b32 %r;
  ld.param.b32 %r, [n];
  add.s32 %r, %r, 1;
  st.param.b32 [result], %r;
  ret;
}
.visible .entry k(.param .u64 out, .param .u32 count)
{
  .reg .pred %p<5>;
  .reg .b32 %r<20>, %i, %n, %lane;
  .reg .f32 %f<20>;
  .reg .b64 %d<20>, %base, %out;
  ld.param.u64 %base, [out];
  ld.param.u32 %n, [count];
  mov.u32 %lane, %tid.x;
  mul.wide.u32 %out, %lane, 4;
  add.s64 %out, %base, %out;
  ld.shared.u32 %r10, [buffer];
  mov.u32 %i, 0;
  mov.f32 %f1, 0f3F800000;
  mov.f32 %f2, 0f3F000000;
  )") + benchmark.before +
         "\nLOOP:\n  " + benchmark.body + R"(
  add.s32 %i, %i, 1;
  setp.lt.s32 %p1, %i, %n;
  @%p1 bra LOOP;
  ret;
}
)";
}

// Of this thread on a core, so that other load on the machine does not count.
double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double seconds_of(Machine& machine, const LoadedKernel& kernel, std::uint64_t memory,
                  std::uint32_t iterations) {
  std::byte parameters[16] = {};
  std::memcpy(parameters, &memory, 8);
  std::memcpy(parameters + 8, &iterations, 4);
  LaunchConfig config;
  config.grid = Dim3{4, 1, 1};
  config.block = Dim3{256, 1, 1};
  const double start = processor_seconds();
  const DeviceError error = machine.launch(kernel, config, parameters);
  if (error.code != DeviceErrorCode::kNone) {
    std::fprintf(stderr, "%s\n", error.message.c_str());
    return 0;
  }
  return processor_seconds() - start;
}

void measure(const Benchmark& benchmark) {
  MachineOptions options;
  options.workers = 1;
  Machine machine(options);
  const auto module = machine.load(text_of(benchmark));
  const auto memory = machine.memory().allocate(1 << 16, AllocationKind::kDevice);
  if (!module || !memory) {
    std::fprintf(stderr, "%s: %s\n", benchmark.name,
                 module ? "no memory" : module.error().to_string().c_str());
    return;
  }
  const LoadedKernel& kernel = *Machine::find_kernel(**module, "k");
  seconds_of(machine, kernel, *memory, 10);
  double best = 0;
  for (int repetition = 0; repetition < 5; ++repetition) {
    const std::uint64_t before = machine.warp_instructions();
    const double seconds = seconds_of(machine, kernel, *memory, 5000);
    const double rate = static_cast<double>(machine.warp_instructions() - before) / seconds;
    best = rate > best ? rate : best;
  }
  std::printf("%-32s %8.1f M warp-instructions/s (one core, best of 5)\n", benchmark.name,
              best / 1e6);
  std::fflush(stdout);
}

}  // namespace

int main() {
  for (const Benchmark& benchmark : kBenchmarks) {
    measure(benchmark);
  }
  return 0;
}
