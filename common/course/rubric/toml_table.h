#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace lab {

/// A table of a TOML file, read key by key; a wrong file is refused with a message that names file, line and key.
/// Call      local
/// Errors    all: UsageError: the key is missing or of another type; with what was expected and what was found
/// Source    https://toml.io/en/v1.0.0; the only place that uses toml++
class TomlTable {
 public:
  /// Errors    UsageError: cannot be read, invalid TOML (with line and column)
  static TomlTable load(const std::string& path);
  static TomlTable parse(const std::string& text, const std::string& path);

  bool has(const std::string& key) const;
  std::string string(const std::string& key) const;
  std::string string(const std::string& key, const std::string& otherwise) const;
  double number(const std::string& key) const;  ///< integers, too
  double number(const std::string& key, double otherwise) const;
  bool boolean(const std::string& key, bool otherwise) const;
  std::vector<std::string> strings(const std::string& key) const;    ///< empty if the key is missing
  std::vector<std::int64_t> integers(const std::string& key) const;  ///< empty if the key is missing
  std::optional<TomlTable> table(const std::string& key) const;
  std::vector<TomlTable> tables(const std::string& key) const;  ///< [[key]], in the file's order
  std::vector<std::string> keys() const;

  /// Refuses a key that is not among `known`, and names the nearest one that is.
  void require_known(const std::vector<std::string>& known) const;
  /// "a9_collectives/rubric.toml:12"
  std::string place() const;

 private:
  struct State;
  explicit TomlTable(std::shared_ptr<const State> state);
  std::shared_ptr<const State> state_;
};

}  // namespace lab
