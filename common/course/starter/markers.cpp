#include "common/course/starter/markers.h"

#include <fmt/format.h>

#include <optional>

#include "common/api/errors.h"
#include "common/base/text.h"

namespace lab {
namespace {

struct Marker {
  enum class Kind { kBegin, kEnd, kStub } kind;
  std::string indentation;
  std::string rest;  ///< task id, or the stub's line
};

bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (text.substr(0, prefix.size()) != prefix) return false;
  text.remove_prefix(prefix.size());
  return true;
}

std::optional<Marker> parse_marker(std::string_view line) {
  const std::size_t indentation = line.find_first_not_of(" \t");
  if (indentation == std::string_view::npos) return std::nullopt;
  std::string_view rest = line.substr(indentation);
  if (take_prefix(rest, "<!-- ")) {
    if (rest.size() < 4 || rest.substr(rest.size() - 4) != " -->") return std::nullopt;
    rest.remove_suffix(4);
  } else if (!take_prefix(rest, "// ") && !take_prefix(rest, "# ")) {
    return std::nullopt;
  }
  const std::string indent(line.substr(0, indentation));
  if (take_prefix(rest, "BEGIN SOLUTION")) return Marker{Marker::Kind::kBegin, indent, std::string(rest)};
  if (take_prefix(rest, "END SOLUTION")) return Marker{Marker::Kind::kEnd, indent, std::string(rest)};
  if (rest == "STUB") return Marker{Marker::Kind::kStub, indent, ""};
  if (take_prefix(rest, "STUB ")) return Marker{Marker::Kind::kStub, indent, std::string(rest)};
  return std::nullopt;
}

[[noreturn]] void refuse(std::size_t line_number, const std::string& what) {
  throw UsageError(fmt::format("solution markers, line {}: {}", line_number, what));
}

/// " a9.broadcast" -> "a9.broadcast"
std::string read_task(const Marker& marker, std::size_t line_number) {
  const std::string task = marker.rest.empty() ? "" : marker.rest.substr(1);
  if (task.empty() || marker.rest[0] != ' ' || task.find_first_of(" \t") != std::string::npos) {
    refuse(line_number, fmt::format("expected a task id after SOLUTION, got '{}'", marker.rest));
  }
  return task;
}

}  // namespace

std::vector<SourcePart> parse_solution_markers(std::string_view text) {
  std::vector<SourcePart> parts;
  const std::vector<std::string> lines = list_lines(text);
  bool inside = false;
  std::size_t begin_number = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::size_t number = i + 1;
    const auto marker = parse_marker(without_line_break(lines[i]));
    if (!marker) {
      if (!inside && (parts.empty() || !parts.back().task.empty())) parts.emplace_back();
      parts.back().lines.push_back(lines[i]);
    } else if (marker->kind == Marker::Kind::kBegin) {
      if (inside) refuse(number, fmt::format("a region begins inside the one of line {}", begin_number));
      inside = true;
      begin_number = number;
      parts.emplace_back();
      parts.back().task = read_task(*marker, number);
      parts.back().begin_line = lines[i];
    } else if (marker->kind == Marker::Kind::kStub) {
      if (!inside || !parts.back().lines.empty()) refuse(number, "a STUB line: expected right after BEGIN SOLUTION");
      parts.back().stub_lines.push_back(lines[i]);
      parts.back().stub.push_back(marker->rest.empty() ? "\n" : marker->indentation + marker->rest + "\n");
    } else {
      if (!inside) refuse(number, "END SOLUTION without a beginning");
      const std::string task = read_task(*marker, number);
      if (task != parts.back().task) {
        refuse(number, fmt::format("expected END SOLUTION {}, got {}", parts.back().task, task));
      }
      if (parts.back().stub.empty()) refuse(number, fmt::format("the region {} has no STUB line", task));
      parts.back().end_line = lines[i];
      inside = false;
    }
  }
  if (inside) refuse(lines.size(), fmt::format("the region {} of line {} has no end", parts.back().task, begin_number));
  return parts;
}

std::string join_reference(const std::vector<SourcePart>& parts) {
  std::string text;
  for (const SourcePart& part : parts) {
    text += part.begin_line;
    for (const std::string& line : part.stub_lines) text += line;
    for (const std::string& line : part.lines) text += line;
    text += part.end_line;
  }
  return text;
}

std::string join_starter(const std::vector<SourcePart>& parts, const std::vector<std::string>& given) {
  std::string text;
  for (const SourcePart& part : parts) {
    const bool is_kept = part.task.empty() || std::count(given.begin(), given.end(), part.task) != 0;
    for (const std::string& line : is_kept ? part.lines : part.stub) text += line;
  }
  return text;
}

}  // namespace lab
