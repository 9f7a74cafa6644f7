#include "cli/ranks.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <sstream>
#include <string_view>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "base/file.h"
#include "report/exit_status.h"

namespace barracuda::cli {
namespace {

namespace fs = std::filesystem;
using std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLookEvery{50};
// Ranks start at nearly the same time. One that runs without the tool never registers.
constexpr std::chrono::seconds kRegistration{10};
constexpr std::string_view kEnded = ".ended";

std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

int number_at(std::string_view text) {
  int number = 0;
  (void)std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// Slurm's "4(x2),3": of the first two nodes four ranks each, of the third three.
int count_on_node(std::string_view counts, int node) {
  while (!counts.empty()) {
    const std::string_view group = counts.substr(0, counts.find(','));
    const std::size_t times = group.find("(x");
    node -= times == group.npos ? 1 : number_at(group.substr(times + 2));
    if (node < 0) {
      return number_at(group);
    }
    counts.remove_prefix(std::min(group.size() + 1, counts.size()));
  }
  return 0;
}

// How launchers say how many ranks they have started on this node: Open MPI, MPICH and Intel MPI,
// MVAPICH, torchrun; Slurm for all its nodes.
int local_count() {
  for (const char* const name : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS",
                                 "MV2_COMM_WORLD_LOCAL_SIZE", "LOCAL_WORLD_SIZE"}) {
    if (const int count = number_at(variable(name)); count > 1) {
      return count;
    }
  }
  const int count =
      count_on_node(variable("SLURM_STEP_TASKS_PER_NODE"), number_at(variable("SLURM_NODEID")));
  return count > 1 ? count : 0;
}

// What the ranks of one job on one node have in common, and no others: what the launcher calls the
// job, for a script may stand between it and a rank; else the parent, which is mpirun or a daemon.
std::string job() {
  const std::vector<std::vector<const char*>> names = {
      {"PMIX_NAMESPACE"},
      {"SLURM_JOB_ID", "SLURM_STEP_ID"},
      {"TORCHELASTIC_RUN_ID", "MASTER_PORT", "TORCHELASTIC_RESTART_COUNT"}};
  for (const std::vector<const char*>& parts : names) {
    std::string text;
    for (const char* const part : parts) {
      text += (text.empty() ? "" : "-") + std::string(variable(part));
    }
    std::ranges::replace(text, '/', '-');
    if (!variable(parts.front()).empty()) {
      return text;
    }
  }
  return std::to_string(getppid());
}

// A folder for this user alone; empty if there can be none.
std::string private_folder(const std::string& path) {
  struct stat status{};
  (void)mkdir(path.c_str(), S_IRWXU);
  const bool is_ours = lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
                       status.st_uid == getuid() && (status.st_mode & (S_IRWXG | S_IRWXO)) == 0;
  return is_ours ? path : "";
}

// When a process was started, in the kernel's ticks: with its number what no other process has.
// Empty if it is over, also where its launcher has not noticed yet.
std::string running_since(const std::string& process) {
  constexpr int kStartTime = 19;  // of what follows the name
  const auto text = read_file("/proc/" + process + "/stat");
  const std::size_t name_end = text ? text->rfind(") ") : std::string::npos;
  if (name_end == std::string::npos || text->substr(name_end + 2).starts_with('Z')) {
    return "";
  }
  std::istringstream rest(text->substr(name_end + 2));
  std::string field;
  for (int i = 0; i <= kStartTime; ++i) {
    rest >> field;
  }
  return field;
}

// The ranks' files that there are, without those of ends.
std::vector<fs::path> registered_in(const std::string& folder) {
  std::vector<fs::path> ranks;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() != kEnded) {
      ranks.push_back(entry.path());
    }
  }
  return ranks;
}

bool is_alive(const fs::path& rank) {
  const auto since = read_file(rank);
  return since && !since->empty() && *since == running_since(rank.filename());
}

// While it lives, no other process looks at the folder and ends.
class FolderLock {
 public:
  explicit FolderLock(const std::string& folder)
      : file_(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    while (file_ >= 0 && flock(file_, LOCK_EX) != 0 && errno == EINTR) {
    }
  }

  ~FolderLock() {
    if (file_ >= 0) {
      close(file_);
    }
  }

  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int file_;
};

// Of several ranks' verdicts the worst counts, in the order of the exit statuses.
int weight(int status) {
  switch (status) {
    case report::kStatusBadOption:
      return 3;
    case report::kStatusToolFailed:
      return 2;
    case report::kStatusNotChecked:
      return 0;
    default:
      return 1;
  }
}

bool is_excused(const RankVerdict& verdict, const std::vector<RankVerdict>& all) {
  return verdict.is_idle && verdict.status == report::kStatusNotChecked &&
         !std::ranges::all_of(all, &RankVerdict::is_idle);
}

}  // namespace

bool is_idle(const report::Report& report) {
  return report.coverage.launches == 0 && report.blocked.empty() && report.lost.empty();
}

Ranks::Ranks(std::string policy)
    : policy_(std::move(policy)), count_(policy_ == "none" ? 0 : local_count()) {
  if (count_ == 0) {
    return;
  }
  std::error_code error;
  folder_ = private_folder(fs::temp_directory_path(error) /
                           fmt::format("barracuda-ranks-{}-{}", getuid(), job()));
  if (folder_.empty()) {
    return;
  }
  const FolderLock lock(folder_);
  // Left by an earlier job of the same name: the first rank of this one finds no live process in
  // it.
  const std::vector<fs::path> found = registered_in(folder_);
  if (std::ranges::none_of(found, is_alive)) {
    for (const fs::path& rank : found) {
      fs::remove(rank, error);
      fs::remove(rank.string() + std::string(kEnded), error);
    }
  }
  name_ = folder_ + "/" + std::to_string(getpid());
  if (!write_file(name_, running_since(std::to_string(getpid())))) {
    folder_.clear();
  }
}

Ranks::~Ranks() {
  if (folder_.empty()) {
    return;
  }
  const FolderLock lock(folder_);
  const std::vector<fs::path> ranks = registered_in(folder_);
  // One that has ended and waits still reads the others' verdicts.
  if (std::ranges::none_of(
          ranks, [this](const fs::path& rank) { return rank != name_ && is_alive(rank); })) {
    std::error_code error;
    fs::remove_all(folder_, error);
  }
}

int Ranks::others_running() const {
  const std::vector<fs::path> ranks = registered_in(folder_);
  return static_cast<int>(std::ranges::count_if(ranks, [this](const fs::path& rank) {
    std::error_code error;
    return rank != name_ && !fs::exists(rank.string() + std::string(kEnded), error) &&
           is_alive(rank);
  }));
}

bool Ranks::are_all_registered() const {
  std::error_code error;
  return registered_in(folder_).size() >= static_cast<std::size_t>(count_) ||
         !fs::exists(folder_, error);  // it goes with the last rank
}

std::vector<RankVerdict> Ranks::verdicts() const {
  std::vector<RankVerdict> all;
  for (const fs::path& rank : registered_in(folder_)) {
    const auto text = read_file(rank.string() + std::string(kEnded));
    std::istringstream fields(text.value_or(""));
    RankVerdict verdict;
    if (fields >> verdict.own >> verdict.status >> verdict.is_idle) {
      all.push_back(verdict);
    }
  }
  return all;
}

void Ranks::end(const RankVerdict& verdict) {
  (void)write_file(name_ + std::string(kEnded),
                   fmt::format("{} {} {}\n", verdict.own, verdict.status, verdict.is_idle ? 1 : 0));
}

void Ranks::wait_for_registration(const std::function<bool()>& is_interrupted) const {
  const auto patience = steady_clock::now() + kRegistration;
  while (!are_all_registered() && steady_clock::now() < patience && !is_interrupted()) {
    std::this_thread::sleep_for(kLookEvery);
  }
}

void Ranks::wait_for_others(const std::function<bool()>& is_interrupted) const {
  wait_for_registration(is_interrupted);
  while (others_running() != 0 && !is_interrupted()) {
    std::this_thread::sleep_for(kLookEvery);
  }
}

// Of two ranks that end at the same time one is the last.
int Ranks::status_of_last(const RankVerdict& verdict) {
  const FolderLock lock(folder_);
  end(verdict);
  if (others_running() != 0) {
    return verdict.own;
  }
  int worst = verdict.own;
  const std::vector<RankVerdict> all = verdicts();
  for (const RankVerdict& each : all) {
    if (each.is_bad() && !is_excused(each, all) &&
        (worst == verdict.own || weight(each.status) > weight(worst))) {
      worst = each.status;
    }
  }
  return worst;
}

// A program that failed makes the launcher end the others in any case, and they may be waiting for
// nothing else.
int Ranks::agree(const RankVerdict& verdict, const std::function<bool()>& is_interrupted) {
  if (folder_.empty()) {
    return verdict.status;
  }
  const bool may_wait = verdict.own == 0;
  if (policy_ == "last") {
    if (may_wait) {
      wait_for_registration(is_interrupted);
    }
    return status_of_last(verdict);
  }
  {
    const FolderLock lock(folder_);
    end(verdict);
  }
  if (!verdict.is_bad() || !may_wait) {
    return verdict.status;
  }
  wait_for_others(is_interrupted);
  const FolderLock lock(folder_);
  return is_excused(verdict, verdicts()) ? verdict.own : verdict.status;
}

}  // namespace barracuda::cli
