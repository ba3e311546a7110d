#include "common/course/compiler_messages.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "common/base/escape_sequences.h"
#include "common/base/text.h"

namespace lab {
namespace {

constexpr std::size_t kMostMessages = 20;
constexpr std::size_t kMostLines = 40;       // of a message: a template's notes may go on for pages
constexpr std::size_t kMostLineBytes = 500;  // generated code may be one line

bool has(std::string_view line, std::string_view part) {
  return line.find(part) != std::string_view::npos;
}

bool begins(std::string_view line, std::string_view start) {
  return line.substr(0, start.size()) == start;
}

/// What a line is to the messages around it.
enum class Line { kError, kWarning, kContext, kOfTool, kMore };

/// Source lines begin with a blank, so nothing in them is taken for something else.
Line kind_of(std::string_view line) {
  if (line.empty() || line.front() == ' ') return Line::kMore;
  for (const char* start : {"FAILED: ", "ninja: ", "[", ": && ", "collect2: ", "lab: ", "make"}) {
    if (begins(line, start)) return Line::kOfTool;
  }
  for (const char* part : {"compilation terminated", " generated.", "linker command failed"}) {
    if (has(line, part)) return Line::kOfTool;
  }
  if (begins(line, "In file included from ") || has(line, ": In ") || has(line, ": At global scope:"))
    return Line::kContext;
  if (has(line, "error: ") || has(line, ": undefined reference to ") || has(line, ": multiple definition of "))
    return Line::kError;
  if (has(line, ": warning: ")) return Line::kWarning;
  if (has(line, ": in function ")) return Line::kContext;  // the linker's
  // A compiler's command, which the build tool repeats.
  if (begins(line, "/") && has(line, " -") && !has(line, ": ")) return Line::kOfTool;
  return Line::kMore;  // a note, or what clang shows without a margin
}

/// The messages, line by line.
class Messages {
 public:
  void add(Line kind, const std::string& line) {
    switch (kind) {
      case Line::kOfTool:
      case Line::kWarning:
        context_.clear();
        is_in_message_ = false;
        is_left_out_ = true;
        return;
      case Line::kContext:
        is_in_message_ = is_left_out_ = false;
        if (context_.size() < kMostLines * kMostLineBytes) context_ += line + "\n";
        return;
      case Line::kError:
        texts_.push_back(line);
        if (!context_.empty()) texts_.back() += "\n" + context_.substr(0, context_.size() - 1);
        num_lines_ = 1;
        context_.clear();
        is_in_message_ = true;
        return;
      case Line::kMore:
        if (is_in_message_ && num_lines_++ < kMostLines) texts_.back() += "\n" + line;
        if (!is_in_message_ && !is_left_out_ && context_.size() < kMostLines * kMostLineBytes) context_ += line + "\n";
        return;
    }
  }
  std::vector<std::string> take() { return std::move(texts_); }

 private:
  std::vector<std::string> texts_;
  std::string context_;  ///< of the next message
  std::size_t num_lines_ = 0;
  bool is_in_message_ = false, is_left_out_ = true;
};

}  // namespace

std::vector<std::string> compiler_messages(const std::string& output, const std::string& root) {
  Messages messages;
  for (const std::string& whole_line : lines_of(without_escapes(output))) {
    std::string line = std::string(without_line_break(whole_line)).substr(0, kMostLineBytes);
    const Line kind = kind_of(line);
    const bool is_source = line.empty() || line.front() == ' ';
    if (!is_source) {
      for (const std::string& folder : {root + "/", std::string("../../")}) replace_all(line, folder, "");
    }
    messages.add(kind, line);
  }
  std::vector<std::string> texts = messages.take();
  if (texts.size() > kMostMessages) {
    const std::string more = counted(texts.size() - kMostMessages, "more error");
    texts.resize(kMostMessages);
    texts.push_back("and " + more);
  }
  return texts;
}

}  // namespace lab
