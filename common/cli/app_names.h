#pragma once

#include <string>

namespace CLI {
class App;
class Option;
}  // namespace CLI

// Looks up names of options and commands. Internal to the app files.
namespace lab {

/// The registered long name, without leading dashes, of the option given in either spelling; empty: unknown.
std::string registered_name(const CLI::App& cli, const std::string& long_name);

/// The least number of values that follow the option.
int num_values(const CLI::Option& option);

/// The command of this name, or null.
const CLI::App* command_named(const CLI::App& cli, const std::string& name);

/// The message for a left-over argument, with the nearest known name.
std::string message_for_extra(const CLI::App& cli);

}  // namespace lab
