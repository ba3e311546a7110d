#pragma once

#include "common/base/errors.h"

// The subcommands of labcourse, one function each: argv[0] is the subcommand, names follow it, then options. All take
// --root DIR, the tree's root folder.
namespace lab {

// What a student calls through ./lab.
ExitCode next_command(int argc, char** argv);    ///< next [LAB]
ExitCode hint_command(int argc, char** argv);    ///< hint TASK [LEVEL] [--level N]
ExitCode reset_command(int argc, char** argv);   ///< reset TASK [--all]
ExitCode status_command(int argc, char** argv);  ///< status [LAB]
ExitCode update_command(int argc, char** argv);  ///< update DIR

// What ./lab calls between building and running.
ExitCode plan_command(int argc, char** argv);       ///< plan [TASK or LAB]...: what to check, one lab per line
ExitCode record_command(int argc, char** argv);     ///< record FILE... --since FILE: remembers results of checks
ExitCode wait_command(int argc, char** argv);       ///< wait [TASK or LAB] --state FILE: until a student file is saved
ExitCode needs_run_command(int argc, char** argv);  ///< needs-run LAB: yes or no
ExitCode identity_command(int argc, char** argv);   ///< identity [--name NAME] [--id ID]: who hands in
ExitCode pack_command(int argc, char** argv);       ///< pack LAB [--results DIR]; 1: written, and incomplete

}  // namespace lab
