#pragma once

#include <string>

#include "common/log/run_report.h"

namespace lab::vae {

/// The run as the handout wants it handed in: a Markdown page with a table of all checks, a column per rank, and every
/// rank's own words below it.
std::string markdown_log(const RunReport& report);

/// The page of an action without ranks.
/// Example   action_page("vae_sequence_parallel encode", "encode: a picture of 70 x 70 ...")
std::string action_page(const std::string& program, const std::string& message);

/// DIR/vae_log.md with one more page behind those of the other actions; a page of the same action is replaced.
/// Errors    UsageError: it cannot be written
void add_to_log(const std::string& out_dir, const std::string& page);

}  // namespace lab::vae
