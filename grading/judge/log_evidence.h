#pragma once

#include <map>
#include <string>

#include "common/log/log_expectation.h"

namespace lab::grading {

/// What the logs among the answers are evidence of, by file: whether a .log holds exactly the lines of a right run, as
/// `LAB check-log` decides; whether the tables of a Markdown log (NAME_log.md) show every comparison of such a run on
/// every rank as it should be. The number of ranks is taken from the log.
/// Example   {"a4_data_tensor.log": "is exactly the log of a right run on 4 ranks"}
std::map<std::string, std::string> evidence_of_logs(const std::map<std::string, std::string>& answers,
                                                    log::LogExpectation (*expected_log)(int num_ranks));

}  // namespace lab::grading
