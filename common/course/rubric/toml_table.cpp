#include "common/course/rubric/toml_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>

#include "common/api/errors.h"
#include "common/base/files.h"
#include "common/base/text.h"

namespace lab {
namespace {

std::string find_place(const std::string& path, const toml::source_region& source) {
  return source.begin.line == 0 ? path : fmt::format("{}:{}", path, source.begin.line);
}

std::string find_kind(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table: return "a table";
    case toml::node_type::array: return node.is_array_of_tables() ? "a list of tables" : "a list";
    case toml::node_type::string: return fmt::format("the string \"{}\"", one_line(node.as_string()->get()));
    case toml::node_type::integer: return fmt::format("{}", node.as_integer()->get());
    case toml::node_type::floating_point: return fmt::format("{}", node.as_floating_point()->get());
    case toml::node_type::boolean: return node.as_boolean()->get() ? "true" : "false";
    default: return "a date or time";
  }
}

}  // namespace

/// A table, and the file that it is part of, which lives as long as any of its tables.
struct TomlTable::State {
  std::shared_ptr<const toml::table> file;
  const toml::table* here = nullptr;
  std::string path;

  std::string place(const toml::node& node) const { return find_place(path, node.source()); }

  [[noreturn]] void refuse(const toml::node& node, const std::string& key, const char* expected) const {
    throw UsageError(fmt::format("{}: {}: expected {}, got {}", place(node), key, expected, find_kind(node)));
  }

  /// The key's node; a missing one is refused.
  const toml::node& need(const std::string& key, const char* expected) const {
    const toml::node* node = here->get(key);
    if (node != nullptr) return *node;
    throw UsageError(fmt::format("{}: {}: expected {}, got nothing", place(*here), key, expected));
  }

  TomlTable part(const toml::table& table) const {
    return TomlTable(std::make_shared<State>(State{file, &table, path}));
  }
};

TomlTable::TomlTable(std::shared_ptr<const State> state) : state_(std::move(state)) {}

TomlTable TomlTable::load(const std::string& path) {
  return parse(read_file(path), path);
}

TomlTable TomlTable::parse(const std::string& text, const std::string& path) {
  try {
    const auto file = std::make_shared<const toml::table>(toml::parse(text, path));
    return TomlTable(std::make_shared<State>(State{file, file.get(), path}));
  } catch (const toml::parse_error& failure) {
    const toml::source_position at = failure.source().begin;
    throw UsageError(fmt::format("{}:{}: invalid TOML, column {}: {}", path, at.line, at.column,
                                 one_line(std::string(failure.description()))));
  }
}

bool TomlTable::has(const std::string& key) const {
  return state_->here->contains(key);
}

std::string TomlTable::string(const std::string& key) const {
  const toml::node& node = state_->need(key, "a string");
  if (!node.is_string()) state_->refuse(node, key, "a string");
  return node.as_string()->get();
}

std::string TomlTable::string(const std::string& key, const std::string& otherwise) const {
  return has(key) ? string(key) : otherwise;
}

double TomlTable::number(const std::string& key) const {
  const toml::node& node = state_->need(key, "a number");
  if (node.is_integer()) return static_cast<double>(node.as_integer()->get());
  if (!node.is_floating_point() || !std::isfinite(node.as_floating_point()->get())) {
    state_->refuse(node, key, "a number");
  }
  return node.as_floating_point()->get();
}

double TomlTable::number(const std::string& key, double otherwise) const {
  return has(key) ? number(key) : otherwise;
}

bool TomlTable::boolean(const std::string& key, bool otherwise) const {
  if (!has(key)) return otherwise;
  const toml::node& node = *state_->here->get(key);
  if (!node.is_boolean()) state_->refuse(node, key, "true or false");
  return node.as_boolean()->get();
}

std::vector<std::string> TomlTable::strings(const std::string& key) const {
  std::vector<std::string> values;
  if (!has(key)) return values;
  const toml::node& node = *state_->here->get(key);
  if (!node.is_array()) state_->refuse(node, key, "a list of strings");
  for (const toml::node& element : *node.as_array()) {
    if (!element.is_string()) state_->refuse(element, key, "a list of strings");
    values.push_back(element.as_string()->get());
  }
  return values;
}

std::vector<std::int64_t> TomlTable::integers(const std::string& key) const {
  std::vector<std::int64_t> values;
  if (!has(key)) return values;
  const toml::node& node = *state_->here->get(key);
  if (!node.is_array()) state_->refuse(node, key, "a list of integers");
  for (const toml::node& element : *node.as_array()) {
    if (!element.is_integer()) state_->refuse(element, key, "a list of integers");
    values.push_back(element.as_integer()->get());
  }
  return values;
}

std::optional<TomlTable> TomlTable::table(const std::string& key) const {
  if (!has(key)) return std::nullopt;
  const toml::node& node = *state_->here->get(key);
  if (!node.is_table()) state_->refuse(node, key, "a table");
  return state_->part(*node.as_table());
}

std::vector<TomlTable> TomlTable::tables(const std::string& key) const {
  std::vector<TomlTable> values;
  if (!has(key)) return values;
  const toml::node& node = *state_->here->get(key);
  if (!node.is_array()) state_->refuse(node, key, "a list of tables");
  for (const toml::node& element : *node.as_array()) {
    if (!element.is_table()) state_->refuse(element, key, "a list of tables");
    values.push_back(state_->part(*element.as_table()));
  }
  return values;
}

std::vector<std::string> TomlTable::keys() const {
  std::vector<std::string> names;
  for (const auto& [key, node] : *state_->here) names.emplace_back(key.str());
  return names;
}

void TomlTable::require_known(const std::vector<std::string>& known) const {
  for (const auto& [key, node] : *state_->here) {
    const std::string name(key.str());
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::string meant = did_you_mean(name, known);
    throw UsageError(fmt::format("{}: unknown key '{}'{}", state_->place(node), name,
                                 meant.empty() ? fmt::format("; expected one of {}", fmt::join(known, ", ")) : meant));
  }
}

std::string TomlTable::place() const {
  return state_->place(*state_->here);
}

}  // namespace lab
