#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "grading/tokens/tokens.h"

namespace lab::grading::generated {

/// An expression inside a statement that can be chosen at run time in its place.
struct Slot {
  enum class Kind {
    kCondition,    ///< of if, while, for
    kInitializer,  ///< of a variable, after =
    kBraces,       ///< the same, a list in braces: needs the variable's type in front
    kArgument,     ///< of a constructor
    kIncrement     ///< of for
  };
  Kind kind = Kind::kInitializer;
  std::size_t begin = 0, end = 0;  ///< tokens
};

struct Statement {
  enum class Kind {
    kExpression,
    kDeclaration,
    kReturn,
    kJump,  ///< break, continue, throw
    kIf,
    kFor,
    kRangeFor,
    kWhile,
    kSwitch,
    kBlock,  ///< { }
    kLabel,
    kOther  ///< what is not understood
  };
  Kind kind = Kind::kOther;
  std::size_t begin = 0, end = 0;  ///< tokens
  int parent = -1;                 ///< the statement that it is part of, also as a lambda's body; -1: none
  int block = 0;                   ///< number of the list of statements that it is in
  bool listed = true;              ///< false: the only statement of an if or a loop, without braces
  std::vector<Slot> slots;
  // A declaration's:
  std::vector<std::string> names;
  std::string type;  ///< without const and &; "auto"
  bool is_reference = false;

  bool is_simple() const { return kind == Kind::kExpression || kind == Kind::kReturn || kind == Kind::kJump; }
};

/// The statements of tokens [begin, end), which is a list of whole statements, with all that are inside them: bodies,
/// and lambdas' bodies. Each comes before those that it holds.
/// Errors    UsageError, with the line: a statement without an end
std::vector<Statement> statements_of(const TokenizedText& text, std::size_t begin, std::size_t end);

/// Token after the > that closes the template arguments at `open`; `open` itself if no template begins there.
std::size_t after_template(const TokenizedText& text, std::size_t open);

/// The parts between commas of tokens [begin, end) that are in no bracket and no template: pairs of tokens.
std::vector<std::pair<std::size_t, std::size_t>> split_at_commas(const TokenizedText& text, std::size_t begin,
                                                                 std::size_t end);

}  // namespace lab::grading::generated
