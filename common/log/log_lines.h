#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace lab::log {

/// A line of a log file, numbered from 1, without its line end.
struct LogLine {
  std::size_t number = 0;
  std::string_view text;
};

/// The lines of the text; the last one may lack its line end.
std::vector<LogLine> split_lines(std::string_view text);

/// The rank of the line: the r of "[Rank r] ...", "[prefix][Rank r] ..." or "[prefix] Rank r initialized ...".
std::optional<int> rank_of_line(std::string_view line);

/// How many ranks the line names in one of those forms, anywhere: more than one means two lines run together.
std::size_t num_rank_marks(std::string_view line);

}  // namespace lab::log
