#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lab {

/// One piece of a source file: lines outside every region, or one region with its stub and its solution.
struct SourcePart {
  std::string task;                     ///< "a9.broadcast"; empty: the lines are in every tree
  std::vector<std::string> lines;       ///< the solution; or the lines outside
  std::vector<std::string> stub;        ///< what the starter has instead, markers stripped
  std::string begin_line, end_line;     ///< the marker lines as they are
  std::vector<std::string> stub_lines;  ///< the STUB lines as they are
};

/// Splits a file that holds reference solutions between markers:
///
///     // BEGIN SOLUTION a9.broadcast
///     // STUB // TODO(a9.broadcast): src_rank sends to every other rank; the others receive.
///     // STUB lab::not_implemented("a9.broadcast", tensor, src_rank, p2p);
///     ... reference ...
///     // END SOLUTION a9.broadcast
///
/// The STUB lines directly follow the BEGIN line. A marker is alone on its line, at any indentation, after the comment
/// sign of the file's language: `//` (C++), `#` (TOML, shell) or `<!--` ... `-->` (Markdown). A stub line keeps
/// the marker's indentation.
/// Errors    UsageError, with the line number: a region inside another, an end without a beginning or with another
///           task, no end, a STUB line elsewhere, an empty task id, a region without a stub
std::vector<SourcePart> parse_solution_markers(std::string_view text);

/// The file as it was: parsing and joining changes nothing.
std::string join_reference(const std::vector<SourcePart>& parts);

/// The file as a student gets it: each region is replaced by its stub, but for those of `given` tasks; no marker is left,
/// and no other line of a solution.
std::string join_starter(const std::vector<SourcePart>& parts, const std::vector<std::string>& given = {});

}  // namespace lab
