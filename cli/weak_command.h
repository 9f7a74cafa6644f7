// What the commands share that run a program many times under weak memory: the oracle's rules,
// their progress, and what stops all runs at once.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <variant>

#include "cli/arguments.h"
#include "cli/run_directory.h"
#include "cli/status_line.h"
#include "cli/weak_runs.h"
#include "report/text_style.h"
#include "weak_memory/experiment.h"
#include "weak_memory/oracle.h"
#include "weak_memory/reference_runs.h"
#include "weak_memory/trials.h"

namespace barracuda::cli {

// The folder of the command's runs, and what says of which program they are. Prints why if there is
// none.
std::optional<RunDirectory> run_directory(const WeakCommand& command);

// The runs of one command, until its time is over or it is interrupted.
class WeakSession {
 public:
  // Both outlive it. `at_once`: as of a WeakProgram.
  WeakSession(const WeakCommand& command, const RunDirectory& directory, std::size_t at_once = 0);

  // One of them at a time.
  weak_memory::Trials trials(weak_memory::Oracle& oracle);

  WeakRuns& runs() { return runs_; }

  // For the search: what it does now.
  void begin(const std::string& stage) { stage_ = stage; }

  // Progress is not printed any more.
  void end() { line_.end(); }

 private:
  const WeakCommand& command_;
  const std::size_t at_once_;
  StatusLine line_;
  std::string stage_;
  WeakRuns runs_;
};

// Why not all was done: a part of a sentence about `what`, "the rest of the runs".
std::string why_incomplete(const WeakCommand& command, const std::string& what);

// The JSON and the page of HTML to the files that the options name, the text to theirs or to
// standard error. `program`: what runs of the program as it is have found. False if they cannot
// be written, once it has printed why.
bool publish(const Options& options, const std::string& json, const report::Report& program,
             const std::function<std::string(const report::TextStyle&)>& text);

// The oracle's rules, once the files that the options name are known to be writable. Else prints
// what is wrong, and returns the status for main.
std::variant<weak_memory::OracleRules, int> checked_rules(const WeakCommand& command);
// The same for the command `name`, which may run on a GPU and `stress` it: checks the device, and
// puts it and the stress that it was tuned to into the options.
std::variant<weak_memory::OracleRules, int> prepare(WeakCommand& command, bool stress,
                                                    const std::string& name);

// On a GPU, where no run repeats; and stores are delayed by the program's own, rewritten code.
bool is_on_gpu(const WeakCommand& command);
bool is_rewritten(const WeakCommand& command);
// The status to end with where the program could not even begin; prints why.
std::optional<int> no_run_at_all(const WeakRuns& runs, const std::string& reason);

// The same, and where there is no command of that name for the check.
std::optional<int> hopeless(const WeakCommand& command,
                            const weak_memory::ReferenceRuns& references,
                            const std::string& reason_of_loss, const WeakRuns& runs);
// The latter alone, by how the check ended.
std::optional<int> no_such_check(const WeakCommand& command, int check_status);

// Quoted for a shell if it has to be.
std::string shell_word(const std::string& word);

}  // namespace barracuda::cli
