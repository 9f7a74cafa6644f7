#include "weak_memory/litmus_run.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <utility>

#include "weak_memory/stress/device.h"
#include "weak_memory/stress/litmus_kernel.h"

namespace barracuda::weak_memory {
namespace {

using memory_model::Final;
using memory_model::LitmusTest;

// Turns of an empty loop before an iteration: enough that either thread may be first.
constexpr std::uint32_t kLongestWait = 64;

std::vector<std::uint32_t> initial_memory(const LitmusTest& test,
                                          const stress::LitmusLaunch& launch) {
  std::vector<std::uint32_t> words(std::size_t{launch.iterations} * launch.locations *
                                   launch.stride);
  for (std::size_t i = 0; i < words.size(); i += launch.stride) {
    const std::size_t location = i / launch.stride % launch.locations;
    words[i] = static_cast<std::uint32_t>(test.program.location(location).initial);
  }
  return words;
}

// The test's CTAs on random blocks; the others are there for stress alone.
std::vector<std::uint32_t> draw_roles(std::uint32_t blocks, std::uint32_t ctas,
                                      std::mt19937_64& random) {
  std::vector<std::uint32_t> roles(blocks, ctas);
  std::iota(roles.begin(), roles.begin() + ctas, 0U);
  std::ranges::shuffle(roles, random);
  return roles;
}

// Values are words on the device, and signed in the models.
std::uint64_t widened(std::uint32_t word) {
  return static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(word)});
}

// How one iteration ended.
Final final_of(const LitmusJob& job, std::size_t iteration) {
  const stress::LitmusLaunch& launch = job.launch;
  Final final;
  for (std::uint32_t i = 0; i < launch.register_count; ++i) {
    final.registers.push_back(widened(job.registers[iteration * launch.register_count + i]));
  }
  for (std::uint32_t i = 0; i < launch.locations && job.wants_memory; ++i) {
    final.memory.push_back(widened(job.memory[(iteration * launch.locations + i) * launch.stride]));
  }
  return final;
}

}  // namespace

Expected<std::unique_ptr<LitmusDevice>> LitmusDevice::gpu() {
  return gpu_litmus_device();
}

std::unique_ptr<LitmusDevice> LitmusDevice::emulated() {
  return emulated_litmus_device();
}

std::string why_not_run(const LitmusTest& test) {
  return not_runnable(test);
}

Expected<Histogram> LitmusDevice::run(const LitmusTest& test, const LitmusRunOptions& options,
                                      const std::function<bool()>& is_over) {
  TRY(const std::string ptx, litmus_kernel(test));
  if (auto loaded = load(ptx); !loaded) {
    return unexpected(std::move(loaded).error());
  }
  LitmusJob job;
  job.launch = launch_of(test, options.iterations, options.distance);
  job.launch.stress = options.stress;
  job.launch.longest_wait = kLongestWait;
  job.initial = initial_memory(test, job.launch);
  job.weak = options.weak;
  const bool is_stressed = options.stress.kind != stress::StressKind::kNone;
  job.threads = std::max(threads_of_block(job.launch), is_stressed ? options.stress.threads : 0);
  job.blocks = std::max(blocks(), job.launch.ctas);
  const std::vector<memory_model::Term> terms = memory_model::terms_shown(test);
  job.wants_memory = std::ranges::any_of(terms, [](const memory_model::Term& term) {
    return term.kind == memory_model::Term::Kind::kLocation;
  });
  const std::vector<std::size_t> first = memory_model::first_registers(test.program);
  std::mt19937_64 random(options.seed);
  Histogram histogram;
  for (std::uint32_t i = 0; i < options.launches && !is_over(); ++i) {
    job.seed = random();
    job.launch.seed = static_cast<std::uint32_t>(job.seed);
    job.roles = draw_roles(job.blocks, job.launch.ctas, random);
    if (auto launched = launch(job); !launched) {
      return unexpected(std::move(launched).error());
    }
    for (std::uint32_t iteration = 0; iteration < options.iterations; ++iteration) {
      const Final final = final_of(job, iteration);
      if (test.filter && !memory_model::holds(*test.filter, first, final)) {
        continue;
      }
      memory_model::Shown shown;
      for (const memory_model::Term& term : terms) {
        shown.push_back(memory_model::value_of(term, first, final));
      }
      ++histogram[shown];
    }
  }
  return histogram;
}

}  // namespace barracuda::weak_memory
