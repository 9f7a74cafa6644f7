#include <cstdio>
#include <cstdlib>
#include <exception>
#include <type_traits>

#include "cli/arguments.h"
#include "cli/campaign.h"
#include "cli/doctor.h"
#include "cli/explore.h"
#include "cli/expose.h"
#include "cli/extract.h"
#include "cli/fix.h"
#include "cli/harden.h"
#include "cli/instrument.h"
#include "cli/kernel.h"
#include "cli/litmus.h"
#include "cli/merge.h"
#include "cli/output_files.h"
#include "cli/replay.h"
#include "cli/report.h"
#include "cli/run.h"
#include "report/exit_status.h"

namespace barracuda::cli {
namespace {

int say(const Message& message) {
  std::FILE* const to = message.is_error ? stderr : stdout;
  const bool written = std::fputs(message.text.c_str(), to) >= 0 && std::fflush(to) == 0;
  if (message.is_error) {
    return report::kStatusBadOption;
  }
  return written ? 0 : report::kStatusToolFailed;
}

int execute(Command command) {
  return std::visit(
      [](auto& chosen) {
        using Chosen = std::remove_reference_t<decltype(chosen)>;
        if constexpr (std::is_same_v<Chosen, RunCommand>) {
          put_in_variables(chosen.options);
          return run(std::move(chosen));
        } else if constexpr (std::is_same_v<Chosen, ExposeCommand>) {
          put_in_variables(chosen.options);
          return expose(std::move(chosen));
        } else if constexpr (std::is_same_v<Chosen, HardenCommand>) {
          put_in_variables(chosen.options);
          return harden(std::move(chosen));
        } else if constexpr (std::is_same_v<Chosen, FixCommand>) {
          put_in_variables(chosen.options);
          return fix(std::move(chosen));
        } else if constexpr (std::is_same_v<Chosen, ExtractCommand>) {
          return extract(chosen);
        } else if constexpr (std::is_same_v<Chosen, InstrumentCommand>) {
          return instrument(chosen);
        } else if constexpr (std::is_same_v<Chosen, ReplayCommand>) {
          return replay(chosen);
        } else if constexpr (std::is_same_v<Chosen, ReportCommand>) {
          return report_run(chosen);
        } else if constexpr (std::is_same_v<Chosen, StatusCommand>) {
          return tell_status(chosen);
        } else if constexpr (std::is_same_v<Chosen, MergeCommand>) {
          return merge(chosen);
        } else if constexpr (std::is_same_v<Chosen, ExploreCommand>) {
          return explore(chosen);
        } else if constexpr (std::is_same_v<Chosen, CampaignWriteCommand>) {
          return write_campaign(chosen);
        } else if constexpr (std::is_same_v<Chosen, CampaignProgramCommand>) {
          return start_campaign_program(chosen);
        } else if constexpr (std::is_same_v<Chosen, LitmusCommand>) {
          return litmus(chosen);
        } else if constexpr (std::is_same_v<Chosen, TuneCommand>) {
          return tune(chosen);
        } else if constexpr (std::is_same_v<Chosen, DoctorCommand>) {
          return doctor(chosen);
        } else if constexpr (std::is_same_v<Chosen, KernelCommand>) {
          return kernel(std::move(chosen));
        } else {
          return say(chosen);
        }
      },
      command);
}

}  // namespace
}  // namespace barracuda::cli

int main(int argc, char** argv) {
  try {
    const char* const options = std::getenv("BARRACUDA_OPTIONS");
    return barracuda::cli::execute(barracuda::cli::parse_arguments(
        {argv + 1, argv + argc}, options == nullptr ? "" : options));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "barracuda: %s\n", error.what());
    return barracuda::report::kStatusToolFailed;
  }
}
