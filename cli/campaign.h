// `barracuda campaign write`, and the start of the program that does the rest. The folder's files
// are described in campaign/folder.py.
#pragma once

#include "cli/arguments.h"

namespace barracuda::cli {

// The exit status.
int write_campaign(const CampaignWriteCommand& command);

// Becomes that program; returns only if it cannot.
int start_campaign_program(const CampaignProgramCommand& command);

}  // namespace barracuda::cli
