#include "common/cli/app.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <stdexcept>
#include <type_traits>

#include "common/base/machine_limits.h"
#include "common/base/numbers.h"
#include "common/base/option_value.h"
#include "common/base/text.h"

namespace lab::cli {
namespace {

using option::Expectation;
using option::integer;
using option::listed;
using option::quoted;
using option::throw_wrong_value;

constexpr std::size_t kColumns = 80, kNameColumns = 30;  // of --help

/// The text with line breaks in place of spaces, so that no line is longer than `width` unless a single word is.
std::string wrapped(const std::string& text, std::size_t width) {
  std::string lines;
  std::size_t line = 0;  // where the last one begins
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find_first_of(" \n", begin), text.size());
    if (lines.size() > line && lines.size() - line + end - begin > width) lines.back() = '\n';
    if (!lines.empty() && lines.back() == '\n') line = lines.size();
    lines.append(text, begin, end + 1 - begin);
    begin = end + 1;
  }
  return lines;
}

/// CLI11's --help within 80 columns, with the first spelling of each option.
class HelpText : public CLI::Formatter {
 public:
  HelpText() {
    column_width(kNameColumns);
    label("SUBCOMMAND", "COMMAND");
  }
  std::string make_option_name(const CLI::Option* option, bool is_positional) const override {
    return option->get_name(is_positional);
  }
  std::string make_option_desc(const CLI::Option* option) const override {
    return wrapped(option->get_description(), kColumns - kNameColumns);
  }
  std::string make_description(const CLI::App* app) const override {
    return wrapped(app->get_description(), kColumns) + "\n";
  }
  std::string make_subcommand(const CLI::App* command) const override {
    const std::string help = command->get_description();
    return fmt::format("  {:<{}}{}\n", command->get_name(), kNameColumns - 2, help.substr(0, help.find('\n')));
  }
};

/// "--log-dir" as CLI11 takes names: "--log-dir,--log_dir".
std::string both_spellings(const std::string& name) {
  std::string other = name;
  std::replace(other.begin() + 2, other.end(), '-', '_');
  return other == name ? name : name + "," + other;
}

template <typename Number>
CLI::Validator number_where(const std::function<bool(Number)>& allowed) {
  const auto problem = [allowed](std::string& text) -> std::string {
    const std::optional<Number> number = integer<Number>(text);
    return number && allowed(*number) ? "" : "not allowed";
  };
  return {problem, ""};
}

}  // namespace

struct App::Impl {
  Impl(CLI::App* parser, std::unique_ptr<CLI::App> root) : owned(std::move(root)), cli(*parser) {
    cli.require_subcommand(0, 1);
  }

  /// What an option accepts: the validator checks its text, and may change it.
  void expect(CLI::Option* option, const std::string& kind, const CLI::Validator& validator,
              const Expectation& expectation, const std::vector<std::string>& choices = {});

  template <typename Number>
  void add_integer(const std::string& name, const std::string& kind, Number& value, Number min, Number max,
                   const std::string& help);
  /// Without the default in its help, whatever the variable's type, such as an optional number.
  template <class Number, class Value>
  void add_ranged(const std::string& name, const std::string& kind, Value& value, Number min, Number max,
                  const std::string& help, Number example);

  std::vector<std::string> option_names() const;
  std::vector<std::string> command_names() const;
  [[noreturn]] void refuse_extra(const std::string& extra) const;
  [[noreturn]] void refuse(const CLI::ParseError& failure) const;

  std::unique_ptr<CLI::App> owned;  ///< of a program, not of a command
  CLI::App& cli;
  std::vector<std::unique_ptr<App>> commands;
  std::function<ExitCode()> action;
  std::vector<std::string> arguments;
  std::vector<std::string>* program = nullptr;  ///< set by add_program()
  std::vector<std::shared_ptr<void>> kept;
  std::map<std::string, Expectation> expectations;
  std::vector<std::pair<std::string, std::function<std::string()>>> values;
};

void App::Impl::expect(CLI::Option* option, const std::string& kind, const CLI::Validator& validator,
                       const Expectation& expectation, const std::vector<std::string>& choices) {
  const std::string name = option->get_name();
  expectations[name] = expectation;
  // The one place where CLI11's verdict becomes our message.
  option->type_name(kind)->transform([name, validator, expectation, choices](std::string text) {
    const std::string got = text;
    bool valid = false;
    try {
      valid = validator(text).empty();
    } catch (const CLI::ValidationError&) {
    }
    if (!valid) {
      throw_wrong_value(name, {expectation.expected, nearest(got, choices).value_or(expectation.example)}, quoted(got));
    }
    return text;
  });
}

template <typename Number>
void App::Impl::add_integer(const std::string& name, const std::string& kind, Number& value, Number min, Number max,
                            const std::string& help) {
  values.emplace_back(name, [&value] { return std::to_string(value); });
  const bool in_range = value >= min && value <= max;  // -1 for "none" is not a default to show or suggest
  const std::string shown = in_range ? fmt::format("{} (default {})", help, value) : help;
  add_ranged(name, kind, value, min, max, shown, in_range ? value : min);
}

template <class Number, class Value>
void App::Impl::add_ranged(const std::string& name, const std::string& kind, Value& value, Number min, Number max,
                           const std::string& help, Number example) {
  const Expectation expectation{option::integer_expected(std::to_string(min), std::to_string(max)),
                                std::to_string(example)};
  const auto allowed = [min, max](Number number) { return number >= min && number <= max; };
  // To CLI11, -1 is 2^64 - 1 where a number has no sign.
  const CLI::Validator validator =
      std::is_signed_v<Number> ? CLI::Validator(CLI::Range(min, max)) : number_where<Number>(allowed);
  expect(cli.add_option(both_spellings(name), value, help), kind, validator, expectation);
}

std::vector<std::string> App::Impl::option_names() const {
  std::vector<std::string> names;
  for (const CLI::Option* option : cli.get_options()) names.push_back(option->get_name());
  return names;
}

std::vector<std::string> App::Impl::command_names() const {
  std::vector<std::string> names;
  for (const std::unique_ptr<App>& command : commands) names.push_back(command->impl_->cli.get_name());
  return names;
}

void App::Impl::refuse_extra(const std::string& extra) const {
  const std::string text = extra.substr(0, extra[0] == '-' ? extra.find('=') : std::string::npos);
  std::string kind = "unexpected argument", meant, rest = "--help lists what is expected";
  if (text.size() > 1 && text[0] == '-') {
    kind = "unknown option";
    std::string dashed = text;
    std::replace(dashed.begin(), dashed.end(), '_', '-');
    meant = nearest(dashed, option_names()).value_or("");
    rest = "--help lists all options";
  } else if (!commands.empty()) {
    kind = "unknown command";
    meant = nearest(text, command_names()).value_or("");
    rest = "--help lists the commands";
  }
  throw UsageError(
      fmt::format("{} {}; {}{}", kind, quoted(text), meant.empty() ? "" : "did you mean '" + meant + "'? ", rest));
}

/// Throws our message for CLI11's error in this command's arguments.
void App::Impl::refuse(const CLI::ParseError& failure) const {
  const std::string what = one_line(failure.what());
  if (dynamic_cast<const CLI::RequiredError*>(&failure) != nullptr) {
    const CLI::Option* missing = cli.get_option_no_throw(what.substr(0, what.find(" is required")));
    if (missing == nullptr) {
      throw UsageError(
          fmt::format("expected a command, one of {}; --help describes them", fmt::join(command_names(), ", ")));
    }
    throw UsageError(fmt::format("{}expected {} ({}), got nothing; --help lists what is expected",
                                 cli.get_parent() == nullptr ? "" : cli.get_name() + ": ", missing->get_name(),
                                 missing->get_description()));
  }
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&failure) != nullptr) {
    const std::string name = what.substr(0, what.find(':'));
    if (what.find(" missing") == std::string::npos)
      throw UsageError(name + ": expected at most once, got it several times; keep one of them");
    throw_wrong_value(name, expectations.at(name), "nothing");
  }
  throw UsageError(what + "; --help lists all options");
}

App::App(const std::string& program, const std::string& description) {
  auto root = std::make_unique<CLI::App>(description, program);
  CLI::App* parser = root.get();
  parser->set_version_flag("--version", program + " " + suite_version(), "Print the version and exit");
  parser->formatter(std::make_shared<HelpText>());
  impl_ = std::make_unique<Impl>(parser, std::move(root));
}

App::App(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

App::~App() = default;

void App::add_commands(const std::vector<Command>& commands) {
  for (const Command& command : commands) {
    CLI::App* parser = impl_->cli.add_subcommand(command.name, command.help)->group("Commands");
    impl_->commands.push_back(std::unique_ptr<App>(new App(std::make_unique<Impl>(parser, nullptr))));
    command.set_up(*impl_->commands.back());
  }
}

void App::set_action(std::function<ExitCode()> action) {
  impl_->action = std::move(action);
}

void App::keep(std::shared_ptr<void> value) {
  impl_->kept.push_back(std::move(value));
}

bool App::given(const std::string& name) const {
  return impl_->cli.count(name) > 0;
}

const std::vector<std::string>& App::arguments() const {
  return impl_->arguments;
}

std::vector<std::pair<std::string, std::string>> App::values() const {
  std::vector<std::pair<std::string, std::string>> all;
  for (const auto& [name, value] : impl_->values) all.emplace_back(name, value());
  return all;
}

void App::add_integer(const std::string& name, std::int64_t& value, const IntegerRange& range,
                      const std::string& help) {
  impl_->add_integer(name, "N", value, range.min, range.max, help);
}

void App::add_integer(const std::string& name, int& value, const IntegerRange& range, const std::string& help) {
  const auto max = std::min<std::int64_t>(range.max, std::numeric_limits<int>::max());
  impl_->add_integer(name, "N", value, static_cast<int>(range.min), static_cast<int>(max), help);
}

void App::add_bytes(const std::string& name, std::int64_t& value, const IntegerRange& range, const std::string& help) {
  const auto get_text = [](std::int64_t bytes) {
    std::string text = describe_bytes(static_cast<std::uint64_t>(bytes));
    text.erase(text.find(' '), 1);
    return text;
  };
  impl_->values.emplace_back(name, [&value] { return std::to_string(value); });
  impl_->expect(
      impl_->cli.add_option(both_spellings(name), value, fmt::format("{} (default {})", help, get_text(value))),
      "BYTES", CLI::AsSizeValue(false) & CLI::Range(range.min, range.max),
      {fmt::format("a size from {} to {}", get_text(range.min), get_text(range.max)), get_text(value)});
}

void App::add_seed(const std::string& name, std::uint64_t& value, const std::string& help) {
  impl_->add_integer<std::uint64_t>(name, "S", value, 0, std::numeric_limits<std::uint64_t>::max(), help);
}

void App::add_seed(const std::string& name, std::optional<std::uint64_t>& value, const std::string& help) {
  impl_->values.emplace_back(name, [&value] { return value ? std::to_string(*value) : ""; });
  impl_->add_ranged<std::uint64_t>(name, "S", value, 0, std::numeric_limits<std::uint64_t>::max(), help, 42);
}

void App::add_number(const std::string& name, double& value, const NumberRange& range, const std::string& help) {
  impl_->values.emplace_back(name, [&value] { return fmt::format("{}", value); });
  // CLI::Range lets nan pass, and has no open end. For nan both comparisons are false.
  const auto allowed = [range](double number) { return number > range.above && number <= range.max; };
  impl_->expect(impl_->cli.add_option(both_spellings(name), value, fmt::format("{} (default {:g})", help, value)),
                range.unit, number_where<double>(allowed),
                {fmt::format("a number above {:g}, at most {:g}", range.above, range.max), fmt::format("{:g}", value)});
}

void App::add_timeout(double& seconds) {
  add_number("--timeout", seconds, {0.0, 1e6, "SECONDS"}, "Longest wait for another rank");
  impl_->cli.get_option("--timeout")->envname("LAB_TIMEOUT");
}

void App::add_choice(const std::string& name, std::string& value, const std::vector<std::string>& choices,
                     const std::string& help) {
  impl_->values.emplace_back(name, [&value] { return value; });
  const std::string shown = value.empty() ? help : fmt::format("{} (default {})", help, value);
  impl_->expect(impl_->cli.add_option(both_spellings(name), value, shown), fmt::format("{}", fmt::join(choices, "|")),
                CLI::IsMember(choices), {listed(choices), value}, choices);
}

namespace {

/// Another option in the value's place: the value was forgotten.
CLI::Validator text_value() {
  return {[](const std::string& text) -> std::string { return text.empty() || text.rfind("--", 0) == 0 ? "none" : ""; },
          ""};
}

}  // namespace

void App::add_text(const std::string& name, std::string& value, const std::string& kind, const std::string& help) {
  const bool is_path = kind == "FILE" || kind == "DIR";
  impl_->values.emplace_back(name, [&value, is_path] { return !is_path ? value : value.empty() ? "" : "named"; });
  const std::string shown = value.empty() ? help : fmt::format("{} (default {})", help, value);
  impl_->expect(impl_->cli.add_option(both_spellings(name), value, shown), kind, text_value(),
                {"a value (" + kind + ")", value.empty() ? kind : value});
}

void App::add_texts(const std::string& name, std::vector<std::string>& values, const std::string& kind,
                    const std::string& help) {
  impl_->values.emplace_back(name, [&values] { return fmt::format("{}", fmt::join(values, " ")); });
  CLI::Option* const option = impl_->cli.add_option(both_spellings(name), values, help);
  option->allow_extra_args(false);  // one value each time, and no argument behind it
  impl_->expect(option, kind, text_value(), {"a value (" + kind + ")", kind});
}

namespace {

/// Adds a positional argument named as in a usage line: "FILE", "[FILE]", "FILE...".
template <typename Value>
void add_positional(CLI::App& cli, const std::string& name, Value& value, const std::string& help) {
  const bool required = name[0] != '[';
  const std::string plain = name.substr(required ? 0 : 1, name.find_first_of("].") - (required ? 0 : 1));
  // So does CLI11 from 2.4 on: what Debian 12's takes would fail on Debian 13.
  if (plain.find(' ') != std::string::npos) throw std::logic_error("an argument's name has a blank: " + plain);
  CLI::Option* option = cli.add_option(plain, value, help)->type_name("")->required(required);
  if (!required) return;
  option->transform([plain, help](std::string text) {
    if (text.empty()) throw UsageError(fmt::format("expected {} ({}), got ''", plain, help));
    return text;
  });
}

}  // namespace

void App::add_argument(const std::string& name, std::string& value, const std::string& help) {
  impl_->values.emplace_back(name, [&value] { return value; });
  add_positional(impl_->cli, name, value, help);
}

void App::add_argument(const std::string& name, std::vector<std::string>& values, const std::string& help) {
  impl_->values.emplace_back(name, [&values] { return fmt::format("{}", fmt::join(values, " ")); });
  add_positional(impl_->cli, name, values, help);
}

void App::add_flag(const std::string& name, bool& value, const std::string& help) {
  impl_->values.emplace_back(name, [&value] { return value ? "yes" : "no"; });
  impl_->cli.add_flag(both_spellings(name), value, help);
}

void App::add_program(std::vector<std::string>& program, const std::string& example) {
  impl_->program = &program;
  impl_->cli.prefix_command();
  impl_->cli.footer(example);
}

std::optional<ExitCode> App::parse(int argc, const char* const* argv) {
  const std::vector<std::string> arguments(argv + std::min(1, argc), argv + argc);
  try {
    impl_->cli.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));  // CLI11 takes them from the back
  } catch (const CLI::CallForHelp&) {
    print_to(1, impl_->cli.help());
    return ExitCode::kAllMatch;
  } catch (const CLI::CallForVersion& version) {
    print_to(1, std::string(version.what()) + "\n");
    return ExitCode::kAllMatch;
  } catch (const CLI::ParseError& failure) {
    const Impl& command = *chosen().back()->impl_;
    const std::vector<std::string> extras = impl_->cli.remaining(true);
    if (!extras.empty() && impl_->program == nullptr) command.refuse_extra(extras.front());
    command.refuse(failure);
  }
  if (impl_->program != nullptr) {
    std::vector<std::string>& program = *impl_->program;
    program = impl_->cli.remaining();
    if (!program.empty() && program.front() == "--") program.erase(program.begin());
  }
  const std::vector<const App*> path = chosen();
  for (std::size_t i = 1; i < path.size(); ++i) {
    const std::string name = path[i]->impl_->cli.get_name();
    if (arguments[i - 1] != name) {  // options before it are the program's, and would be ignored
      throw UsageError(
          fmt::format("expected the command {} before its options, got {} first", name, quoted(arguments[i - 1])));
    }
  }
  // CLI11 gives the program the options that follow a command's "--".
  const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  for (auto word = dashes; path.size() > 1 && word != arguments.end(); ++word) {
    const CLI::Option* option = impl_->cli.get_option_no_throw(word->substr(0, word->find('=')));
    if (option != nullptr && option->count() != 0) path.back()->impl_->refuse_extra(*word);
  }
  path.back()->impl_->arguments = arguments;
  path.back()->finish_common_options();
  return std::nullopt;
}

std::vector<const App*> App::chosen() const {
  std::vector<const App*> path = {this};
  for (const std::unique_ptr<App>& command : impl_->commands) {
    if (!command->impl_->cli.parsed()) continue;
    const std::vector<const App*> rest = command->chosen();
    path.insert(path.end(), rest.begin(), rest.end());
  }
  return path;
}

ExitCode App::run(int argc, const char* const* argv) {
  if (!impl_->action) impl_->cli.require_subcommand(1);
  if (const auto done = parse(argc, argv)) return *done;
  return chosen().back()->impl_->action();
}

std::string suite_version() {
  return LAB_VERSION;
}

}  // namespace lab::cli
