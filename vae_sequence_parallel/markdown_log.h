#pragma once

#include <string>

#include "common/report/run_report.h"

namespace lab::vae {

/// The run as the handout wants it handed in: a Markdown page with a table of all checks, a column per rank, and every
/// rank's own words below it.
std::string markdown_log(const RunReport& report);

}  // namespace lab::vae
