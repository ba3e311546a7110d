#pragma once

#include <string>

#include "common/cli/app.h"

// The commands of labcourse: each function gives a command its options and its action.
namespace lab {

/// The option that all of them have, --root DIR: the tree's root folder. The App owns what it returns.
std::string& add_root(cli::App& app);

// What a student calls through ./lab.
void next_command(cli::App& app);       ///< next [LAB]
void hint_command(cli::App& app);       ///< hint TASK [LEVEL] [--level N]
void questions_command(cli::App& app);  ///< questions LAB [--id ID]
void reset_command(cli::App& app);      ///< reset TASK [--all]
void status_command(cli::App& app);     ///< status [LAB]
void update_command(cli::App& app);     ///< update DIR
void view_command(cli::App& app);       ///< view RUN.json [--out FILE]

// What ./lab calls between building and running.
void plan_command(cli::App& app);     ///< plan [TASK or LAB]...: what to check, one lab per line
void record_command(cli::App& app);   ///< record FILE... --since FILE: remembers results of checks
void combine_command(cli::App& app);  ///< combine DIR [--json FILE] [--junit FILE] [--html FILE] [--annotations]
void summary_command(cli::App& app);  ///< summary DIR: how many tasks are solved; 1: some are wrong, 3: TODOs are left
void wait_command(cli::App& app);     ///< wait [TASK or LAB] --state FILE: until a student file is saved
void needs_run_command(cli::App& app);  ///< needs-run LAB: yes or no
void identity_command(cli::App& app);   ///< identity [--name NAME] [--id ID]: who hands in
void pack_command(cli::App& app);       ///< pack LAB [--results DIR]; 1: written, and incomplete

}  // namespace lab
