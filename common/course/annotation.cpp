#include "common/course/annotation.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "common/api/errors.h"
#include "common/base/option_value.h"
#include "common/base/text.h"
#include "common/course/starter/what_to_read.h"
#include "common/course/student_files.h"

namespace lab {
namespace {

constexpr std::size_t kMostBytes = 1000;

/// One line, in which the characters that end a value are written as %XX.
std::string escaped(const std::string& value, std::string_view ends_value) {
  std::string text;
  for (const char c : safe_text(one_line(value), kMostBytes)) {
    if (c == '%' || ends_value.find(c) != std::string_view::npos) {
      text += fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    } else {
      text += c;
    }
  }
  return text;
}

/// The first place in the lab's student files that the message names: "student/ring.cpp:21: ...".
std::optional<ReadingPlace> named_place(const std::string& message, const CourseTree& tree, const Rubric& lab) {
  const std::vector<std::string> files = student_files(tree, lab);
  for (std::size_t at = 0; (at = message.find("student/", at)) != std::string::npos; ++at) {
    const std::size_t colon = message.find(':', at);
    if (colon == std::string::npos) return std::nullopt;
    const std::string file = message.substr(at, colon - at);
    const std::size_t end = std::min(message.find_first_not_of("0123456789", colon + 1), message.size());
    const auto line = option::integer<std::size_t>(message.substr(colon + 1, end - colon - 1));
    if (line && std::find(files.begin(), files.end(), file) != files.end())
      return ReadingPlace{lab.lab + "/" + file, *line, ""};
  }
  return std::nullopt;
}

ReadingPlace find_place(const std::string& task_id, const std::string& message, const CourseTree& tree) {
  for (const Rubric& lab : tree.labs()) {
    const RubricTask* const task = lab.find_task(task_id);
    if (task == nullptr) continue;
    if (const auto place = named_place(message, tree, lab)) return *place;
    ReadingPlace place = place_to_edit(tree, {&lab, task});
    const std::vector<std::string> files = files_below(tree, lab, task->file);
    if (place.line == 0 && !files.empty()) place.file = lab.lab + "/" + files.front();
    return place;
  }
  return {};
}

}  // namespace

std::string to_text(const Annotation& annotation) {
  const auto property = [](const std::string& value) { return escaped(value, "\r\n:,"); };
  std::string command = "::error ";
  if (!annotation.file.empty()) command += fmt::format("file={},", property(annotation.file));
  if (annotation.line != 0) command += fmt::format("line={},", annotation.line);
  return command + fmt::format("title={}::{}\n", property(annotation.title), escaped(annotation.message, "\r\n"));
}

std::vector<Annotation> list_annotations(const std::string& check_json, const std::string& path, const CourseTree& tree,
                                         const std::string& folder) {
  std::vector<Annotation> all;
  const auto add = [&](const std::string& task, const std::string& title, const std::string& message) {
    const ReadingPlace place = find_place(task, message, tree);
    all.push_back({place.file.empty() ? "" : folder + place.file, place.line, title, message});
  };
  try {
    for (const nlohmann::json& task : nlohmann::json::parse(check_json)) {
      const auto id = task.at("task").get<std::string>();
      if (task.at("todo")) {
        add(id, id, task.at("message"));
        continue;
      }
      for (const nlohmann::json& check : task.at("checks")) {
        if (check.at("passed") || check.at("skipped")) continue;
        const auto likely = check.at("likely").get<std::string>();
        add(id, id + ": " + check.at("name").get<std::string>(),
            check.at("message").get<std::string>() + (likely.empty() ? "" : "; likely: " + likely));
      }
    }
  } catch (const nlohmann::json::exception& failure) {
    throw UsageError(fmt::format("{}: expected the JSON of a lab's check: {}", path, failure.what()));
  }
  return all;
}

}  // namespace lab
