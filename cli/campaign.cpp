#include "cli/campaign.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/hash.h"
#include "cli/campaign_tasks.h"
#include "cli/complain.h"
#include "report/coverage.h"
#include "report/exit_status.h"

namespace barracuda::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// Of the two files that are written here: SCHEMA of campaign/folder.py.
constexpr int kCampaignSchema = 1;

std::string one_line(const Json& value) {
  return value.dump() + '\n';
}

Expected<std::vector<CommandWords>> tasks_of(const CampaignWriteCommand& command) {
  if (command.lines.empty()) {
    return divide(command.words, command.tasks, command.environment_options);
  }
  TRY(const std::string text, read_file(command.lines));
  return tasks_of_lines(text, command.lines, command.environment_options);
}

// What makes a task this one and no other, as far as its words tell.
std::string digest_of(const CommandWords& words, const std::string& folder,
                      const std::string& options) {
  std::string all = fmt::format("{}\n{}\n{}\n", BARRACUDA_VERSION, folder, options);
  for (const std::string& word : words) {
    all += word;
    all += '\0';
  }
  return hash128(all).hex();
}

Expected<void> write_tasks(const CampaignWriteCommand& command,
                           const std::vector<CommandWords>& tasks) {
  std::error_code error;
  const std::string here = fs::current_path(error).string();
  if (error) {
    return unexpected({.message = "the current folder is gone: " + error.message()});
  }
  const fs::path folder = command.folder;
  if (fs::exists(folder / "campaign.json", error)) {
    return unexpected({.message = fmt::format("{}: there is a campaign here already; name another "
                                              "folder, or remove this one",
                                              command.folder)});
  }
  fs::create_directories(folder, error);
  if (error) {
    return unexpected({.message = fmt::format("{}: {}", command.folder, error.message())});
  }
  std::string lines;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    lines += one_line({{"task", i + 1},
                       {"words", tasks[i]},
                       {"digest", digest_of(tasks[i], here, command.environment_options)}});
  }
  if (auto written = write_file(folder / "tasks.jsonl", lines); !written) {
    return written;
  }
  // Last: without this file there is no campaign.
  return write_file(folder / "campaign.json", one_line({{"schema", kCampaignSchema},
                                                        {"type", "campaign"},
                                                        {"version", BARRACUDA_VERSION},
                                                        {"folder", here},
                                                        {"options", command.environment_options},
                                                        {"tasks", tasks.size()}}));
}

}  // namespace

int write_campaign(const CampaignWriteCommand& command) try {
  const auto tasks = tasks_of(command);
  if (!tasks) {
    complain("campaign: " + tasks.error().to_string());
    return report::kStatusBadOption;
  }
  if (const auto written = write_tasks(command, *tasks); !written) {
    complain(written.error().to_string());
    return report::kStatusBadOption;
  }
  std::puts(fmt::format("{}: {}; barracuda campaign run {}", command.folder,
                        report::counted(tasks->size(), "task"), command.folder)
                .c_str());
  return 0;
} catch (const Json::type_error&) {
  complain("campaign: a word of the command is not UTF-8, which the file of tasks has to be");
  return report::kStatusBadOption;
}

int start_campaign_program(const CampaignProgramCommand& command) {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  const fs::path program = self.parent_path().parent_path() / "share/barracuda/campaign";
  if (error || !fs::exists(program / "__main__.py", error)) {
    complain(fmt::format("{}: what runs campaigns is missing here", program.string()));
    return report::kStatusToolFailed;
  }
  // No __pycache__ beside it: the folder may belong to another user.
  std::vector<std::string> words = {"python3", "-B", program.string(), "--barracuda",
                                    self.string()};
  words.insert(words.end(), command.words.begin(), command.words.end());
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) {
    pointers.push_back(word.data());
  }
  pointers.push_back(nullptr);
  execvp(pointers.front(), pointers.data());
  complain(fmt::format("python3: {}; run, status and result of a campaign need Python 3.9 or newer",
                       std::strerror(errno)));
  return report::kStatusToolFailed;
}

}  // namespace barracuda::cli
