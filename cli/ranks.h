// The ranks of one job on this node, each under a `barracuda run` of its own. A launcher (mpirun,
// srun, torchrun) kills the other ranks when one ends with a status that is not 0: so the status of
// findings is returned when it harms no other rank, as the option exit-policy says.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "report/race_report.h"

namespace barracuda::cli {

// What there is to say of a rank whose program has ended.
struct RankVerdict {
  int own = 0;     // the program's status
  int status = 0;  // that of the report: the program's own where there is nothing to say
  // It has launched nothing: no fault of a rank that coordinates others which were checked.
  bool is_idle = false;

  [[nodiscard]] bool is_bad() const { return status != own; }
};

// Nothing was launched, and nothing has hindered that.
bool is_idle(const report::Report& report);

class Ranks {
 public:
  // Registers this rank, if a launcher's environment says that this process is one of several.
  explicit Ranks(std::string policy);
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;
  ~Ranks();

  // This rank's program has ended and its report is written: the status to end with. Waits for the
  // others where it would end them, until `is_interrupted`. Of one rank it is the report's.
  int agree(const RankVerdict& verdict, const std::function<bool()>& is_interrupted);

 private:
  [[nodiscard]] int others_running() const;
  [[nodiscard]] bool are_all_registered() const;
  [[nodiscard]] std::vector<RankVerdict> verdicts() const;
  [[nodiscard]] int status_of_last(const RankVerdict& verdict);
  void wait_for_registration(const std::function<bool()>& is_interrupted) const;
  void wait_for_others(const std::function<bool()>& is_interrupted) const;
  void end(const RankVerdict& verdict);  // under the folder's lock

  std::string policy_;
  std::string folder_;  // shared by the ranks; empty: there are none
  std::string name_;    // this rank's files in it
  int count_ = 0;
};

}  // namespace barracuda::cli
