#pragma once

#include <string>

namespace CLI {
class App;
class Option;
}  // namespace CLI

// What a command line's words mean to its parser. Internal to the app files.
namespace lab {

/// The option's registered long name, without dashes, that the argument means in either spelling; empty: none.
std::string registered_name(const CLI::App& cli, const std::string& long_name);

/// How many values follow the option at least.
int num_values(const CLI::Option& option);

/// The command of this name, or null.
const CLI::App* command_named(const CLI::App& cli, const std::string& name);

/// The message for an argument that was left over; the nearest known name is in it.
std::string message_for_extra(const CLI::App& cli);

}  // namespace lab
