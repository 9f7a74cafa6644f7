// A litmus test as a kernel: PTX that a CUDA device, real or in software, can run many times.
#pragma once

#include <string>

#include "base/expected.h"
#include "weak_memory/litmus.h"
#include "weak_memory/stress/litmus_launch.h"

namespace barracuda::weak_memory {

// What the test has that a kernel cannot run: a sentence without its subject ("has a barrier").
// Empty: nothing.
std::string not_runnable(const memory_model::LitmusTest& test);

// The module whose entry is `barracuda_litmus` (litmus_runner.cu), linked with the test's threads.
// The test is runnable.
Expected<std::string> litmus_kernel(const memory_model::LitmusTest& test);

// What the launch has to know of the test: its threads, where they run, and its sizes.
stress::LitmusLaunch launch_of(const memory_model::LitmusTest& test, std::uint32_t iterations,
                               std::uint32_t stride);

// Threads that a block needs for the CTA of the test that has most.
std::uint32_t threads_of_block(const stress::LitmusLaunch& launch);

}  // namespace barracuda::weak_memory
