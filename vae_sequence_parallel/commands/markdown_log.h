#pragma once

#include <string>

#include "common/log/run_report.h"

namespace lab::vae {

/// The run in the format that the handout asks for: a Markdown page with a table of all checks, one column per rank,
/// followed by every rank's messages.
std::string markdown_log(const log::RunReport& report);

/// The page for an action without ranks.
/// Example   action_page("vae_sequence_parallel encode", "encode: a picture of 70 x 70 ...")
std::string action_page(const std::string& program, const std::string& message);

/// Appends the page to DIR/vae_log.md, replacing an earlier page of the same action.
/// Errors    UsageError: it cannot be written
void add_to_log(const std::string& out_dir, const std::string& page);

}  // namespace lab::vae
