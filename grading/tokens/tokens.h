#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace lab::grading {

/// A token of a C++ text that was not preprocessed.
struct Token {
  enum class Kind { kName, kNumber, kString, kMark };
  Kind kind = Kind::kMark;
  std::size_t begin = 0, end = 0;  ///< bytes of the text
  int line = 1;
  bool spaced =
      false;  ///< white space before and after it: how formatted code writes binary operators, and no template
  std::size_t partner = 0;  ///< of a bracket ( [ {: the token that closes or opens it

  bool is_name() const { return kind == Kind::kName; }
};

/// How an unfinished string or comment, or a bracket without its partner, is read: such may stand in code that the
/// preprocessor leaves out. kRefused: it is an error. kTaken: the string ends with its line, the comment with the text, and the bracket is its own
/// partner.
enum class Unfinished { kRefused, kTaken };

/// A text cut into tokens; comments and preprocessor lines are left out.
/// Errors    UsageError, with the line: something unfinished, if it is refused
class TokenizedText {
 public:
  explicit TokenizedText(std::string text, Unfinished unfinished = Unfinished::kRefused);

  const std::string& text() const { return text_; }
  const std::vector<Token>& tokens() const { return tokens_; }
  std::size_t size() const { return tokens_.size(); }
  const Token& operator[](std::size_t i) const { return tokens_[i]; }

  /// The characters of a token; empty beyond the last one.
  std::string_view at(std::size_t i) const;
  bool is(std::size_t i, std::string_view characters) const { return at(i) == characters; }
  /// The source of tokens [begin, end), as it is written.
  std::string source(std::size_t begin, std::size_t end) const;
  /// The same with each run of white space as one space, without comments.
  std::string make_line(std::size_t begin, std::size_t end) const;

 private:
  std::string text_;
  std::vector<Token> tokens_;
};

}  // namespace lab::grading
