#pragma once

#include "common/cli/app.h"

// What a course is about, in two commands that need no solved task.
namespace lab::demo {

/// Two ranks that deadlock: `both-send`.
void both_send_command(cli::App& app);

/// A model that learns in one process and in a pipeline of four, twice: `learn`.
void learn_command(cli::App& app);

}  // namespace lab::demo
