#include "campaign.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <random>
#include <sys/resource.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "base/file.h"
#include "mutation.h"

namespace barracuda::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kLongestSeconds = 30;  // of one input
constexpr rlim_t kMostMemory = rlim_t{6} << 30;

// What a signal handler needs.
const std::string* g_input = nullptr;
std::string g_save_path;

void save_input(int signal) {
  if (g_input != nullptr) {
    const int file = open(g_save_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    (void)!write(file, g_input->data(), g_input->size());
  }
  (void)std::signal(signal, SIG_DFL);
  (void)raise(signal);
}

std::uint64_t setting(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

std::vector<std::string> read_corpus(const std::string& name) {
  std::vector<std::string> paths;
  std::error_code none_kept;
  for (const auto& entry : fs::directory_iterator(
           fs::path(BARRACUDA_SOURCE_DIR) / "tests/fuzz/corpus" / name, none_kept)) {
    paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  std::vector<std::string> inputs;
  for (const std::string& path : paths) {
    inputs.push_back(read_file(path).value());
  }
  return inputs;
}

// A sanitizer reserves more address space than any limit.
void limit_memory() {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  const rlimit limit{.rlim_cur = kMostMemory, .rlim_max = RLIM_INFINITY};
  REQUIRE(setrlimit(RLIMIT_AS, &limit) == 0);
#endif
}

void attempt(const Campaign& campaign, const std::string& input, Tally& tally) {
  g_input = &input;
  (void)alarm(kLongestSeconds);
  if (campaign.accepts(input)) {
    ++tally.accepted;
  } else {
    ++tally.refused;
  }
  (void)alarm(0);
  g_input = nullptr;
}

}  // namespace

Tally run(const Campaign& campaign) {
  g_save_path = std::string(BARRACUDA_BINARY_DIR) + "/fuzz-" + campaign.corpus + ".input";
  for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGALRM}) {
    (void)std::signal(signal, save_input);
  }
  limit_memory();
  std::vector<std::string> corpus = read_corpus(campaign.corpus);
  corpus.insert(corpus.end(), campaign.more.begin(), campaign.more.end());
  REQUIRE(!corpus.empty());
  Tally tally;
  for (const std::string& input : corpus) {
    attempt(campaign, input, tally);
  }
  const std::uint64_t seed = setting("BARRACUDA_FUZZ_SEED", 1);
  const std::chrono::seconds budget(setting("BARRACUDA_FUZZ_SECONDS", 5));
  const auto end = std::chrono::steady_clock::now() + budget;
  for (std::uint64_t round = 0; std::chrono::steady_clock::now() < end; ++round) {
    std::mt19937_64 random(seed * 1'000'003 + round);
    std::string input = mutate(corpus, random);
    if (campaign.repair) {
      campaign.repair(input);
    }
    try {
      attempt(campaign, input, tally);
    } catch (...) {
      (void)write_file(g_save_path, input);
      throw;
    }
  }
  WARN(campaign.corpus << ": " << tally.accepted << " inputs accepted, " << tally.refused
                       << " refused (seed " << seed << ")");
  return tally;
}

}  // namespace barracuda::fuzz
