#include "grading/tokens/tokens.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "common/api/errors.h"

namespace lab::grading {
namespace {

bool begins_name(char letter) {
  return std::isalpha(static_cast<unsigned char>(letter)) != 0 || letter == '_';
}
bool continues_name(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_';
}
bool is_space(char letter) {
  return std::isspace(static_cast<unsigned char>(letter)) != 0;
}

// Not >> and <<=: the former closes two templates more often than it shifts.
constexpr std::array<std::string_view, 23> kLongMarks = {"...", "<<=", "->*", "::", "->", "++", "--", "<<",
                                                         "<=",  ">=",  "==",  "!=", "&&", "||", "+=", "-=",
                                                         "*=",  "/=",  "%=",  "^=", "|=", "&=", ".*"};

class Scanner {
 public:
  Scanner(const std::string& text, Unfinished unfinished) : text_(text), unfinished_(unfinished) {}

  std::vector<Token> tokens() {
    while (skip_between()) {
      Token token;
      token.begin = at_;
      token.line = line_;
      token.kind = take();
      token.end = at_;
      const bool before = token.begin == 0 || is_space(text_[token.begin - 1]);
      token.spaced = before && (at_ == text_.size() || is_space(text_[at_]));
      tokens_.push_back(token);
    }
    pair_brackets();
    return std::move(tokens_);
  }

 private:
  bool starts(std::string_view with) const { return text_.compare(at_, with.size(), with) == 0; }
  void refuse(const char* what, int line) const {
    if (unfinished_ == Unfinished::kRefused) throw UsageError(fmt::format("line {}: {}", line, what));
  }

  void advance(std::size_t to) {
    to = std::min(to, text_.size());
    line_ += static_cast<int>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                                         text_.begin() + static_cast<std::ptrdiff_t>(to), '\n'));
    at_ = to;
  }

  /// To the end of the line, or of the last one that a backslash continues it with.
  void skip_line() {
    std::size_t end = text_.find('\n', at_);
    while (end != std::string::npos && text_[end - 1] == '\\') end = text_.find('\n', end + 1);
    advance(end == std::string::npos ? text_.size() : end);
  }

  /// Over white space, comments and preprocessor lines. False at the end of the text.
  bool skip_between() {
    while (at_ < text_.size()) {
      if (is_space(text_[at_])) {
        advance(at_ + 1);
      } else if (starts("//") || (text_[at_] == '#' && is_first_of_line())) {
        skip_line();
      } else if (starts("/*")) {
        const std::size_t end = text_.find("*/", at_ + 2);
        if (end == std::string::npos) refuse("a comment without an end", line_);
        advance(end == std::string::npos ? end : end + 2);
      } else {
        return true;
      }
    }
    return false;
  }

  bool is_first_of_line() const {
    std::size_t i = at_;
    while (i > 0 && (text_[i - 1] == ' ' || text_[i - 1] == '\t')) --i;
    return i == 0 || text_[i - 1] == '\n';
  }

  /// Takes one token.
  Token::Kind take() {
    const char letter = text_[at_];
    if (begins_name(letter)) {
      std::size_t end = at_;
      while (end < text_.size() && continues_name(text_[end])) ++end;
      const std::string_view name = std::string_view(text_).substr(at_, end - at_);
      if (end < text_.size() && (text_[end] == '"' || text_[end] == '\'') && is_prefix(name)) {
        at_ = end;
        take_string(name.back() == 'R');
        return Token::Kind::kString;
      }
      at_ = end;
      return Token::Kind::kName;
    }
    if (std::isdigit(static_cast<unsigned char>(letter)) != 0 ||
        (letter == '.' && at_ + 1 < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_ + 1])) != 0)) {
      take_number();
      return Token::Kind::kNumber;
    }
    if (letter == '"' || letter == '\'') {
      take_string(false);
      return Token::Kind::kString;
    }
    const auto found =
        std::find_if(kLongMarks.begin(), kLongMarks.end(), [&](std::string_view mark) { return starts(mark); });
    at_ += found == kLongMarks.end() ? 1 : found->size();
    return Token::Kind::kMark;
  }

  static bool is_prefix(std::string_view name) {
    return name == "R" || name == "L" || name == "u" || name == "U" || name == "u8" || name == "LR" || name == "uR" ||
           name == "UR" || name == "u8R";
  }

  void take_number() {
    for (++at_; at_ < text_.size(); ++at_) {
      const char letter = text_[at_], last = text_[at_ - 1];
      const bool exponent =
          (letter == '+' || letter == '-') && (last == 'e' || last == 'E' || last == 'p' || last == 'P');
      const bool separator = letter == '\'' && at_ + 1 < text_.size() && continues_name(text_[at_ + 1]);
      if (!continues_name(letter) && letter != '.' && !separator && !exponent) break;
    }
  }

  void take_string(bool raw) {
    const int begin = line_;
    if (raw) {
      const std::size_t open = text_.find('(', at_);
      if (open == std::string::npos) {
        refuse("a raw string without its bracket", begin);
        return advance(open);
      }
      const std::string close = ")" + text_.substr(at_ + 1, open - at_ - 1) + "\"";
      const std::size_t end = text_.find(close, open);
      if (end == std::string::npos) refuse("a raw string without an end", begin);
      advance(end == std::string::npos ? end : end + close.size());
      return;
    }
    const char quote = text_[at_];
    for (++at_; at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n'; ++at_) {
      if (text_[at_] == '\\') ++at_;
    }
    const bool is_closed = at_ < text_.size() && text_[at_] == quote;
    if (!is_closed) refuse("a string without an end", begin);
    at_ = std::min(at_ + (is_closed ? 1 : 0), text_.size());
  }

  void pair_brackets() {
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (tokens_[i].kind != Token::Kind::kMark) continue;
      const char mark = text_[tokens_[i].begin];
      if (mark == '(' || mark == '[' || mark == '{') open.push_back(i);
      if (mark != ')' && mark != ']' && mark != '}') continue;
      const char wanted = mark == ')' ? '(' : mark == ']' ? '[' : '{';
      if (open.empty() || text_[tokens_[open.back()].begin] != wanted) {
        refuse("a bracket that closes none", tokens_[i].line);
        tokens_[i].partner = i;
        continue;
      }
      tokens_[i].partner = open.back();
      tokens_[open.back()].partner = i;
      open.pop_back();
    }
    if (!open.empty()) refuse("a bracket that is never closed", tokens_[open.back()].line);
    for (const std::size_t bracket : open) tokens_[bracket].partner = bracket;
  }

  const std::string& text_;
  const Unfinished unfinished_;
  std::size_t at_ = 0;
  int line_ = 1;
  std::vector<Token> tokens_;
};

}  // namespace

TokenizedText::TokenizedText(std::string text, Unfinished unfinished)
    : text_(std::move(text)), tokens_(Scanner(text_, unfinished).tokens()) {}

std::string_view TokenizedText::at(std::size_t i) const {
  if (i >= tokens_.size()) return {};
  return std::string_view(text_).substr(tokens_[i].begin, tokens_[i].end - tokens_[i].begin);
}

std::string TokenizedText::source(std::size_t begin, std::size_t end) const {
  if (begin >= end) return "";
  return text_.substr(tokens_[begin].begin, tokens_[end - 1].end - tokens_[begin].begin);
}

std::string TokenizedText::make_line(std::size_t begin, std::size_t end) const {
  std::string line;
  for (std::size_t i = begin; i < end; ++i) {
    if (i > begin && tokens_[i].begin > tokens_[i - 1].end) line += ' ';
    line += at(i);
  }
  return line;
}

}  // namespace lab::grading
