#pragma once

#include <string>

namespace lab::page {

/// A run of a lab as a page: its outcome, a timeline of what the ranks sent, in model time and in wall time,
/// how they shared the work, the ledger, and what each of them printed. `json` is what `LAB --json FILE` writes; `path`
/// names the file in the message.
/// Errors    UsageError: it is not such JSON
std::string run_page(const std::string& json, const std::string& path);

}  // namespace lab::page
