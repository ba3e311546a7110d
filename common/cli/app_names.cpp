#include "common/cli/app_names.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "common/base/option_value.h"
#include "common/base/text.h"

namespace lab {
namespace {

using option::quoted;

std::string dashed(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

std::vector<std::string> long_names(const CLI::App& cli) {
  std::vector<std::string> names;
  for (const CLI::Option* option : cli.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::vector<const CLI::App*> all_commands(const CLI::App& cli) {
  return cli.get_subcommands([](const CLI::App*) { return true; });
}

std::vector<std::string> command_names(const CLI::App& cli) {
  std::vector<std::string> names;
  for (const CLI::App* command : all_commands(cli)) names.push_back(command->get_name());
  return names;
}

/// The command chosen on the command line, or the program itself.
const CLI::App& chosen(const CLI::App& cli) {
  const std::vector<CLI::App*> commands = cli.get_subcommands();
  return commands.empty() ? cli : chosen(*commands.back());
}

}  // namespace

std::string registered_name(const CLI::App& cli, const std::string& long_name) {
  for (const CLI::Option* option : cli.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      if (dashed(name) == dashed(long_name)) return name;
    }
  }
  return "";
}

int num_values(const CLI::Option& option) {
  return std::min(option.get_type_size_min(), option.get_items_expected_min());
}

const CLI::App* command_named(const CLI::App& cli, const std::string& name) {
  for (const CLI::App* command : all_commands(cli)) {
    if (command->get_name() == name) return command;
  }
  return nullptr;
}

std::string message_for_extra(const CLI::App& cli) {
  const std::vector<std::string> extras = cli.remaining(true);
  if (extras.empty()) return "unexpected argument; --help lists what is expected";
  const auto option = std::find_if(extras.begin(), extras.end(),
                                   [](const std::string& text) { return text.size() > 1 && text[0] == '-'; });
  if (option != extras.end()) {
    const std::string name = option->substr(0, option->find('='));
    const std::optional<std::string> meant = nearest(dashed(name), long_names(chosen(cli)));
    return fmt::format("unknown option {}; {}--help lists all options", quoted(name),
                       meant ? "did you mean " + *meant + "? " : "");
  }
  const std::vector<std::string> commands = command_names(chosen(cli));
  const std::optional<std::string> meant = nearest(extras.front(), commands);
  return fmt::format("unexpected {} {}; {}--help lists what is expected", commands.empty() ? "argument" : "command",
                     quoted(extras.front()), meant ? "did you mean " + *meant + "? " : "");
}

}  // namespace lab
