#include "cli/kernel.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/driver_presence.h"
#include "base/file.h"
#include "cli/complain.h"
#include "cli/kernel_argument.h"
#include "cli/kernel_launch.h"
#include "cli/kernel_source.h"
#include "cli/ptx_file.h"
#include "cli/run.h"
#include "cli/run_directory.h"
#include "cli/seeds.h"
#include "ptx/parse.h"
#include "report/exit_status.h"

namespace barracuda::cli {
namespace {

namespace fs = std::filesystem;

// Runs of one kernel take moments.
constexpr std::uint64_t kSeeds = 4;

int fail(const std::string& message, int status) {
  complain(message);
  return status;
}

struct Prepared {
  std::string ptx;
  std::string entry;
  std::vector<KernelArgument> arguments;
};

// What no CUDA device has, said in the words of the option.
Expected<void> check_block(const KernelCommand& command) {
  constexpr std::uint64_t kMaximumThreads = 1024, kMaximumDepth = 64;
  const auto& block = command.block;
  const std::uint64_t threads = std::uint64_t{block[0]} * block[1];
  if (threads > kMaximumThreads || block[2] > kMaximumDepth ||
      threads * block[2] > kMaximumThreads) {
    return unexpected(
        {.message = fmt::format("--block {},{},{}: a block has at most {} threads, and {} in z",
                                block[0], block[1], block[2], kMaximumThreads, kMaximumDepth)});
  }
  return {};
}

Expected<Prepared> prepare(const KernelCommand& command) {
  if (auto possible = check_block(command); !possible) {
    return unexpected(std::move(possible).error());
  }
  TRY(std::string ptx, read_ptx(command.file));
  auto module = ptx::parse(ptx);
  if (!module) {
    module.error().file = command.file;
    return unexpected(std::move(module).error());
  }
  TRY(const ptx::Function* const entry, find_entry(*module, command.kernel));
  TRY(auto arguments, fit_arguments(*entry, command.arguments));
  return Prepared{
      .ptx = std::move(ptx), .entry = std::string(entry->name), .arguments = std::move(arguments)};
}

// "argument 2", or "argument 2, member 0".
std::string name_of(const std::string& of, std::size_t number) {
  return of.empty() ? fmt::format("argument {}", number) : fmt::format("{}, member {}", of, number);
}

Expected<void> put_out(const std::vector<KernelArgument>& arguments, const std::string& of = "") {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const KernelArgument& argument = arguments[i];
    if (auto put = put_out(argument.members, name_of(of, i)); !put) {
      return put;
    }
    if (argument.prints) {
      fmt::print("{}\n{}", name_of(of, i), elements_as_text(argument.type, argument.bytes));
    }
    if (!argument.save_path.empty()) {
      const auto* const bytes = reinterpret_cast<const char*>(argument.bytes.data());
      if (auto written = write_file(argument.save_path, {bytes, argument.bytes.size()}); !written) {
        return written;
      }
    }
  }
  return {};
}

// The program's side.
int launch_here(const KernelCommand& command, Prepared prepared) {
  const auto launched = launch_kernel(prepared.ptx, prepared.entry, command, prepared.arguments);
  if (!launched) {
    return fail(launched.error().to_string(), report::kStatusNotChecked);
  }
  const auto put = put_out(prepared.arguments);
  return put ? 0 : fail(put.error().to_string(), 1);
}

void list_unfilled(const std::vector<KernelArgument>& arguments, const std::string& of,
                   std::vector<std::string>& names) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].is_unfilled) {
      names.push_back(name_of(of, i));
    }
    list_unfilled(arguments[i].members, name_of(of, i), names);
  }
}

// Threads that store one value where they would store two look harmless.
void warn_of_zeros(const std::vector<KernelArgument>& arguments) {
  std::vector<std::string> names;
  list_unfilled(arguments, "", names);
  if (!names.empty()) {
    complain(
        fmt::format("{}: of zeros. What a kernel computes of zeros is mostly equal, and races "
                    "of unequal values stay hidden: fill what it reads (u32[256]=1,2,3), and "
                    "write =0 where zeros are meant",
                    fmt::join(names, "; ")));
  }
}

std::string extent(const std::array<std::uint32_t, 3>& dimensions) {
  return fmt::format("{},{},{}", dimensions[0], dimensions[1], dimensions[2]);
}

std::vector<std::string> words_of(const KernelCommand& command) {
  std::error_code error;
  std::vector<std::string> words = {fs::read_symlink("/proc/self/exe", error).string(),
                                    "kernel",
                                    command.file,
                                    "--launch-here",
                                    "--kernel",
                                    command.kernel,
                                    "--grid",
                                    extent(command.grid),
                                    "--block",
                                    extent(command.block),
                                    "--shared",
                                    std::to_string(command.shared_bytes)};
  if (command.is_cooperative) {
    words.emplace_back("--cooperative");
  }
  for (const std::string& argument : command.arguments) {
    words.push_back("--arg=" + argument);
  }
  return words;
}

}  // namespace

int kernel(KernelCommand command) {
  auto directory = RunDirectory::create();
  if (!directory) {
    return fail(directory.error().to_string(), report::kStatusToolFailed);
  }
  if (is_cuda_source(command.file)) {
    const std::string ptx = directory->file("kernel.ptx");
    if (auto compiled = compile_kernel(command.file, ptx); !compiled) {
      return fail(compiled.error().to_string(), report::kStatusBadOption);
    }
    command.file = ptx;
  }
  auto prepared = prepare(command);
  if (!prepared) {
    return fail(prepared.error().to_string(), report::kStatusBadOption);
  }
  if (command.launches_here) {
    return launch_here(command, std::move(*prepared));
  }
  warn_of_zeros(prepared->arguments);
  command.kernel = prepared->entry;
  Options& options = command.options;
  const bool has_schedule = options.seed || options.schedule != "auto" || !options.record.empty();
  if (options.seeds == 0 && !has_schedule) {
    options.seeds = kSeeds;
  }
  const RunCommand first{.options = options, .program = words_of(command), .report_file = ""};
  std::ranges::transform(command.arguments, command.arguments.begin(), without_outputs);
  const RunCommand others{.options = options, .program = words_of(command), .report_file = ""};
  return options.seeds > 1 ? run_seeds(first, others, SeedOrder::kParallel) : run(first);
}

}  // namespace barracuda::cli
