#pragma once

#include <string>

#include "common/cli/app.h"

// The commands of labcourse: each function gives a command its options and its action.
namespace lab {

/// The option that all of them have, --root DIR: the tree's root folder. The App owns what it returns.
std::string& add_root(cli::App& app);

void next_command(cli::App& app);       ///< next [LAB]
void hint_command(cli::App& app);       ///< hint TASK [LEVEL] [--level N]
void questions_command(cli::App& app);  ///< questions LAB [--id ID]
void reset_command(cli::App& app);      ///< reset TASK [--all]
void status_command(cli::App& app);     ///< status [LAB]
void update_command(cli::App& app);     ///< update DIR
void check_command(cli::App& app);      ///< check [TASK|LAB]... and what becomes of the results
void watch_command(cli::App& app);      ///< watch [TASK|LAB] [--timeout SECONDS]
void submit_command(cli::App& app);     ///< submit [LAB]... [--name NAME] [--id ID]
void test_command(cli::App& app);       ///< test, of a starter: 1: some tasks are wrong, 3: TODOs are left
void view_command(cli::App& app);       ///< view RUN.json [--out FILE]

}  // namespace lab
