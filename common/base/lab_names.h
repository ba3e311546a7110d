#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace lab {

/// "a9" of "a9_collectives": a lab's short name, with which its ids begin.
std::string shorten_name(const std::string& lab);

/// Which of these folders of labs a name means: a folder's name, or the part before its first underscore ("a9").
std::optional<std::size_t> find_lab(const std::string& name, const std::vector<std::string>& folders);

/// The same.
/// Errors    UsageError: there is none; names the nearest
std::size_t lab_named(const std::string& name, const std::vector<std::string>& folders);

}  // namespace lab
