#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "grading/mutants/generated/statements.h"
#include "grading/tokens/tokens.h"

namespace lab::grading::generated {

/// A part of a mutant: what takes the place of a statement or a slot, or is put before or after a statement.
struct Edit {
  enum class Place { kInstead, kBefore, kAfter };
  Place place = Place::kInstead;
  std::size_t statement = 0;
  int slot = -1;            ///< of the statement; -1: the statement itself
  std::string text;         ///< empty, instead of a statement: it is dropped
  bool assignable = false;  ///< the statement declares a variable that another edit assigns to: without const
};

/// A change that a rule makes.
struct Proposal {
  std::size_t token = 0;  ///< where it is
  std::string what;       ///< "rank + 1 -> rank - 1"
  std::vector<Edit> edits;
};

/// A variable or parameter.
struct Declared {
  std::string name, type;
  std::size_t token = 0;  ///< of its declaration
};

/// A reference solution between its markers, as rules see it.
struct Region {
  const TokenizedText& text;
  std::string task;
  std::size_t begin = 0, end = 0;  ///< tokens
  std::vector<Statement> statements;
  std::vector<Declared> declared;  ///< here, before it in its function, and the function's parameters

  /// Index of the innermost statement that holds the tokens; none: it is outside every statement.
  std::optional<std::size_t> statement_at(std::size_t begin, std::size_t end) const;
  /// The edit that replaces tokens [begin, end) by a text in the innermost statement or slot that holds them; none: they
  /// are where nothing can be chosen at run time, such as a type.
  std::optional<Edit> replaced(std::size_t begin, std::size_t end, const std::string& with) const;
  /// The statements of its list, in order.
  std::vector<std::size_t> list_of(std::size_t statement) const;
  /// Whether it is, or is in, the last statement of its function or lambda.
  bool ends_function(std::size_t statement) const;
  bool mentions(std::size_t statement, const std::vector<std::string>& names) const;
  /// Whether a token is in a statement that only checks what always holds, or throws: nothing to mutate inside.
  bool is_guard(std::size_t token) const;
  /// Type of the variable of this name that is nearest before a token; empty: unknown.
  std::string type_of(std::string_view name, std::size_t token) const;
};

/// All regions of a file between `// BEGIN SOLUTION task` and `// END SOLUTION task` for these tasks, in order. Where
/// whole functions are between them, each body is a region.
/// Errors    UsageError
std::vector<Region> regions_of(const TokenizedText& text, const std::set<std::string>& tasks);

/// End of the operand (a chain of names, calls and indices, with its signs) that begins at a token.
std::size_t operand_end(const TokenizedText& text, std::size_t begin);
/// Begin of the operand whose last token this is.
std::size_t operand_begin(const TokenizedText& text, std::size_t last);

/// Whether a token is an operator between two operands.
bool is_binary(const TokenizedText& text, std::size_t i);
/// Whether a token is a name that stands for a variable's value: no member, function, type or label.
bool is_variable(const TokenizedText& text, std::size_t i);
bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names);
/// Whether values of this type count something.
bool is_integer_type(const std::string& type);

}  // namespace lab::grading::generated
