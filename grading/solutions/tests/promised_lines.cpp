#include "grading/solutions/tests/promised_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <set>

#include "common/base/files.h"
#include "common/base/text.h"

namespace lab::grading {
namespace {

constexpr std::array<const char*, 6> kKinds = {"Returns", "Shapes", "Aliasing", "Order", "Cost", "Errors"};
constexpr char kKeptByGivenCode[] = "(checked before your code)";

bool begins_with(const std::string& text, const std::string& beginning) {
  return text.compare(0, beginning.size(), beginning) == 0;
}

/// What a line of documentation says, without white space around it; nothing for any other line.
std::string documented(const std::string& line) {
  const std::size_t first = line.find_first_not_of(' ');
  return first != std::string::npos && begins_with(line.substr(first), "///") ? line.substr(first + 3) : "";
}

/// The kind with which documentation begins, as in "Cost      one all_reduce"; empty: none.
std::string find_kind(const std::string& documentation) {
  const auto found = std::find_if(kKinds.begin(), kKinds.end(), [&](const char* kind) {
    return begins_with(documentation, fmt::format(" {:<10}", kind));
  });
  return found == kKinds.end() ? "" : *found;
}

/// What a file defines, by lines that begin like the definition of a function: its name, or its class's.
std::set<std::string> defined_in(const std::string& text) {
  const auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == ':'; };
  std::set<std::string> names;
  for (const std::string& line : list_lines(text)) {
    const std::size_t bracket = line.find('(');
    if (line.empty() || !is_part(line[0]) || bracket == std::string::npos) continue;
    std::size_t begin = bracket;
    while (begin > 0 && is_part(line[begin - 1])) --begin;
    const std::string name = line.substr(begin, bracket - begin);
    names.insert(name.substr(0, name.find("::")));
  }
  return names;
}

/// Without the lines that are comments: another header's may name the function.
std::string code_in(const std::string& text) {
  std::string code;
  for (const std::string& line : list_lines(text)) {
    const std::size_t first = line.find_first_not_of(' ');
    if (first != std::string::npos && line.compare(first, 2, "//") != 0) code += line + "\n";
  }
  return code;
}

bool declares(const std::string& header, const std::string& name) {
  return header.find(fmt::format(" {}(", name)) != std::string::npos ||
         header.find(fmt::format("class {} ", name)) != std::string::npos ||
         header.find(fmt::format("struct {} ", name)) != std::string::npos;
}

/// The lab's headers that a student file includes and that declare something that it defines.
std::set<std::string> find_headers(const std::string& student_file, const std::string& lab_folder,
                                   const std::string& root) {
  std::set<std::string> headers;
  if (student_file.find("// BEGIN SOLUTION") == std::string::npos) return headers;
  const std::set<std::string> names = defined_in(student_file);
  const std::string include = fmt::format("#include \"{}/", lab_folder);
  for (const std::string& line : list_lines(student_file)) {
    if (!begins_with(line, include)) continue;
    const std::string header =
        line.substr(include.size() - lab_folder.size() - 1, line.rfind('"') - line.find('"') - 1);
    const std::string text = code_in(read_file(root + "/" + header));
    if (std::any_of(names.begin(), names.end(), [&](const std::string& name) { return declares(text, name); }))
      headers.insert(header);
  }
  return headers;
}

std::vector<PromisedLine> find_promises(const std::string& header, const std::string& text) {
  std::vector<PromisedLine> all;
  bool goes_on = false;
  int number = 0;
  for (const std::string& line : list_lines(text)) {
    ++number;
    const std::string documentation = documented(line);
    const std::string kind = find_kind(documentation);
    if (!kind.empty()) {
      all.push_back({header, number, kind + " " + one_line(documentation.substr(kind.size() + 1))});
      goes_on = true;
    } else if (goes_on && begins_with(documentation, "           ")) {
      all.back().text += " " + one_line(documentation);
    } else {
      goes_on = false;
    }
  }
  all.erase(
      std::remove_if(all.begin(), all.end(),
                     [](const PromisedLine& line) { return line.text.find(kKeptByGivenCode) != std::string::npos; }),
      all.end());
  return all;
}

}  // namespace

std::vector<PromisedLine> promised_lines(const std::string& root, const std::string& lab_folder) {
  namespace fs = std::filesystem;
  std::set<std::string> headers;
  for (const auto& entry : fs::recursive_directory_iterator(root + "/" + lab_folder + "/student")) {
    if (entry.path().extension() != ".cpp") continue;
    headers.merge(find_headers(read_file(entry.path()), lab_folder, root));
  }
  std::vector<PromisedLine> all;
  for (const std::string& header : headers) {
    for (PromisedLine& line : find_promises(header, read_file(root + "/" + header))) all.push_back(std::move(line));
  }
  return all;
}

bool is_about(const std::string& header, const std::string& sentence, const PromisedLine& line) {
  return header == line.header && begins_with(line.text, sentence);
}

}  // namespace lab::grading
