#include "grading/similarity/tests/disguises.h"

#include <cctype>
#include <regex>
#include <set>

#include "common/base/text.h"
#include "common/course/starter/markers.h"

namespace lab::grading {
namespace {

using TextChange = std::function<std::string(const std::string&)>;

Files each(const Files& files, const TextChange& change) {
  Files changed;
  for (const auto& [name, text] : files) changed[name] = change(text);
  return changed;
}

/// The text as it is compiled, without the markers of the reference.
std::string without_markers(const std::string& text) {
  std::string plain;
  for (const SourcePart& part : parse_solution_markers(text)) {
    for (const std::string& line : part.lines) plain += line;
  }
  return plain;
}

std::string renamed(const std::string& text) {
  static const std::regex declaration(
      R"((?:Tensor|auto|int|int64_t|size_t|bool|double|Slice|string|>|&)&? (\w+)(?= = |;|, |\)|\{| : ))");
  static const std::regex helper(R"(\n(?:[\w:<>]+&? )+(\w+)\([^;{]*\) \{)");
  std::set<std::string> names;
  for (std::sregex_iterator at(text.begin(), text.end(), declaration), end; at != end; ++at) names.insert((*at)[1]);
  const std::size_t begin = text.find("namespace {"), end_of_helpers = text.find("}  // namespace\n");
  if (begin != std::string::npos && end_of_helpers != std::string::npos) {
    const std::string helpers = text.substr(begin, end_of_helpers - begin);
    for (std::sregex_iterator at(helpers.begin(), helpers.end(), helper), end; at != end; ++at) names.insert((*at)[1]);
  }
  std::string changed = text;
  int number = 0;
  for (const std::string& name : names) {
    if (name == "size" || name == "rank") continue;  // also members of what is given
    changed = std::regex_replace(changed, std::regex("(^|[^\\w.>:])" + name + "\\b(?!\\.h)"),
                                 "$1my" + std::to_string(++number) + "_thing");
  }
  return changed;
}

std::string other_comments(const std::string& text) {
  static const std::regex comment(R"(//[^\n]*)");
  std::string changed;
  int number = 0;
  for (const std::string& line : list_lines(std::regex_replace(text, comment, ""))) {
    changed += line;
    if (++number % 3 == 0 && line.size() > 1 && line[line.size() - 2] == ';')
      changed += "  /* step " + std::to_string(number) + ": don't \"forget\" this */ // my idea\n";
  }
  return changed;
}

std::string other_format(const std::string& text) {
  std::string changed;
  bool directive = false, quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '#' && (i == 0 || text[i - 1] == '\n')) directive = true;
    if (c == '\n') directive = false;
    if (c == '"') quoted = !quoted;
    changed += c;
    const bool breakable = !directive && !quoted && (c == ',' || c == '(' || c == '{');
    if (breakable) changed += c == '{' ? "\n\n\t" : "\r\n      ";
  }
  return changed;
}

std::string other_types(const std::string& text) {
  std::string changed = std::regex_replace(text, std::regex(R"(\bconst (at::Tensor|int|bool|auto|Slice) )"), "auto ");
  changed = std::regex_replace(changed, std::regex(R"(\bstd::int64_t\b)"), "long");
  return std::regex_replace(changed, std::regex(R"(\bstd::size_t\b)"), "unsigned long");
}

std::string split_statements(const std::string& text) {
  return std::regex_replace(text, std::regex(R"((\n *)return ([^;{}\n]{12,});)"),
                            "$1auto the_result = $2;$1return the_result;");
}

/// A line that does nothing after each fourth statement.
std::string padded(const std::string& text) {
  std::string changed;
  int statements = 0;
  for (const std::string& line : list_lines(text)) {
    changed += line;
    const bool ends_statement = line.size() > 3 && line.substr(0, 2) == "  " && line.substr(line.size() - 2) == ";\n";
    if (ends_statement && ++statements % 4 == 0)
      changed += "  debug_print(\"here\", " + std::to_string(statements) + ");\n";
  }
  return changed;
}

/// The definitions of each file from last to first, and the files' contents under each other's names.
Files reordered(const Files& files) {
  std::vector<std::string> texts;
  for (const auto& [name, text] : files) {
    std::vector<std::string> blocks = {""};
    for (const std::string& line : list_lines(text)) {
      blocks.back() += line;
      if (line == "}\n" || line == "};\n") blocks.emplace_back();
    }
    std::string changed;
    for (auto block = blocks.rbegin(); block != blocks.rend(); ++block) changed += *block;
    texts.push_back(changed);
  }
  Files changed;
  for (const auto& [name, text] : files) {
    changed[name] = texts.back();
    texts.pop_back();
  }
  return changed;
}

}  // namespace

const std::vector<Disguise>& disguises() {
  static const std::vector<Disguise> all = [] {
    std::vector<Disguise> those = {
        {"renamed identifiers", [](const Files& files) { return each(files, renamed); }},
        {"other comments", [](const Files& files) { return each(files, other_comments); }},
        {"other formatting", [](const Files& files) { return each(files, other_format); }},
        {"other types", [](const Files& files) { return each(files, other_types); }},
        {"split statements", [](const Files& files) { return each(files, split_statements); }},
        {"padded with statements", [](const Files& files) { return each(files, padded); }},
        {"reordered functions", reordered},
    };
    those.push_back({"all of these", [those](Files files) {
                       for (const std::size_t i : {1, 0, 3, 4, 5, 6, 2}) files = those[i].apply(files);
                       return files;
                     }});
    for (Disguise& one : those)
      one.apply = [apply = one.apply](const Files& files) { return apply(each(files, without_markers)); };
    return those;
  }();
  return all;
}

}  // namespace lab::grading
