#include "common/cli/app.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <map>

#include "common/base/files.h"
#include "common/base/numbers.h"
#include "common/base/option_value.h"
#include "common/base/text.h"
#include "common/cli/app_names.h"

namespace lab {
namespace {

using option::Expectation;
using option::integer;
using option::listed;
using option::quoted;
using option::throw_wrong_value;

}  // namespace

struct App::Impl {
  explicit Impl(const std::string& program, const std::string& description) : cli(description, program) {}

  /// Adds an option that passes its text to `read`, which returns whether the text is valid.
  CLI::Option* add(const std::string& name, const std::string& kind, const std::string& shown_default,
                   const Expectation& expectation, const std::string& help,
                   const std::function<bool(const std::string&)>& read);

  template <typename Number>
  CLI::Option* add_whole(const std::string& name, const std::string& kind, Number& value, Number min, Number max,
                         const std::string& help) {
    values.emplace_back(name, [&value] { return std::to_string(value); });
    const bool in_range = value >= min && value <= max;  // -1 for "none" is not a default to show or suggest
    const Expectation expectation{option::integer_expected(std::to_string(min), std::to_string(max)),
                                  std::to_string(in_range ? value : min)};
    return add(name, kind, in_range ? expectation.example : "", expectation, help,
               [&value, min, max](const std::string& text) {
                 const std::optional<Number> number = integer<Number>(text);
                 if (!number || *number < min || *number > max) return false;
                 value = *number;
                 return true;
               });
  }

  std::vector<std::string> with_registered_names(int argc, const char* const* argv) const;
  [[noreturn]] void throw_missing_value(const std::string& what) const;

  CLI::App cli;
  std::unique_ptr<CommonOptions> common;
  std::map<std::string, Expectation> expectations;
  std::vector<std::pair<std::string, std::function<std::string()>>> values;
};

CLI::Option* App::Impl::add(const std::string& name, const std::string& kind, const std::string& shown_default,
                            const Expectation& expectation, const std::string& help,
                            const std::function<bool(const std::string&)>& read) {
  expectations[name] = expectation;
  CLI::Option* option = cli.add_option_function<std::string>(
      name,
      [name, expectation, read](const std::string& text) {
        if (!read(text)) throw_wrong_value(name, expectation, quoted(text));
      },
      shown_default.empty() ? help : fmt::format("{} (default {})", help, shown_default));
  return option->type_name(kind);
}

/// The arguments with every option under its registered spelling. Values are left alone, and so is the command line of
/// another program that follows.
std::vector<std::string> App::Impl::with_registered_names(int argc, const char* const* argv) const {
  std::vector<std::string> args(argv + std::min(1, argc), argv + argc);
  const CLI::App* app = &cli;
  for (std::size_t i = 0; i < args.size(); ++i) {
    std::string& arg = args[i];
    if (arg == "--") break;
    if (arg.empty() || arg[0] != '-') {
      if (const CLI::App* command = command_named(*app, arg)) {
        app = command;
      } else if (app->get_prefix_command()) {
        break;
      }
      continue;
    }
    const std::size_t equals = arg.find('=');
    std::string name = arg.substr(0, equals);
    if (name.size() > 2 && name[1] == '-') {
      const std::string known = registered_name(*app, name.substr(2));
      if (known.empty()) continue;
      name = "--" + known;
      arg.replace(0, equals == std::string::npos ? arg.size() : equals, name);
    }
    const CLI::Option* option = app->get_option_no_throw(name);
    if (option == nullptr || num_values(*option) == 0) continue;
    if (equals == std::string::npos) {
      i += static_cast<std::size_t>(num_values(*option));
    } else if (equals + 1 == arg.size()) {
      // CLI11 would take the next argument as the value.
      throw_missing_value(name);
    }
  }
  return args;
}

void App::Impl::throw_missing_value(const std::string& what) const {
  const std::string name = what.substr(0, what.find(':'));
  const auto found = expectations.find(name);
  if (found != expectations.end()) throw_wrong_value(name, found->second, "nothing");
  throw UsageError(name + ": expected a value, got nothing; --help lists all options");
}

App::App(const std::string& program, const std::string& description)
    : impl_(std::make_unique<Impl>(program, description)) {
  impl_->cli.set_version_flag("--version", program + " " + suite_version(), "Print the version and exit");
}

App::~App() = default;

CLI::App& App::cli() {
  return impl_->cli;
}

bool App::given(const std::string& name) const {
  return impl_->cli.count(name) > 0;
}

std::vector<std::pair<std::string, std::string>> App::values() const {
  std::vector<std::pair<std::string, std::string>> all;
  for (const auto& [name, value] : impl_->values) all.emplace_back(name, value());
  return all;
}

CommonOptions& App::own_common_options(const CommonOptions& defaults) {
  impl_->common = std::make_unique<CommonOptions>(defaults);
  return *impl_->common;
}

CLI::Option* App::add_integer(const std::string& name, std::int64_t& value, const IntegerRange& range,
                              const std::string& help) {
  return impl_->add_whole(name, "N", value, range.min, range.max, help);
}

CLI::Option* App::add_integer(const std::string& name, int& value, const IntegerRange& range, const std::string& help) {
  const auto max = std::min<std::int64_t>(range.max, std::numeric_limits<int>::max());
  return impl_->add_whole(name, "N", value, static_cast<int>(range.min), static_cast<int>(max), help);
}

CLI::Option* App::add_bytes(const std::string& name, std::int64_t& value, const IntegerRange& range,
                            const std::string& help) {
  const auto text_of = [](std::int64_t bytes) {
    std::string text = describe_bytes(static_cast<std::uint64_t>(bytes));
    text.erase(text.find(' '), 1);
    return text;
  };
  impl_->values.emplace_back(name, [&value] { return std::to_string(value); });
  const Expectation expectation{fmt::format("a size from {} to {}", text_of(range.min), text_of(range.max)),
                                text_of(value)};
  return impl_->add(name, "BYTES", text_of(value), expectation, help, [&value, range](const std::string& text) {
    const std::optional<std::int64_t> bytes = parse_bytes(text);
    if (!bytes || *bytes < range.min || *bytes > range.max) return false;
    value = *bytes;
    return true;
  });
}

CLI::Option* App::add_seed(const std::string& name, std::uint64_t& value, const std::string& help) {
  return impl_->add_whole<std::uint64_t>(name, "S", value, 0, std::numeric_limits<std::uint64_t>::max(), help);
}

CLI::Option* App::add_number(const std::string& name, double& value, const NumberRange& range,
                             const std::string& help) {
  impl_->values.emplace_back(name, [&value] { return fmt::format("{}", value); });
  const Expectation expectation{fmt::format("a number above {:g}, at most {:g}", range.above, range.max),
                                fmt::format("{:g}", value)};
  return impl_->add(name, range.unit, fmt::format("{:g}", value), expectation, help,
                    [&value, range](const std::string& text) {
                      const std::optional<double> number = integer<double>(text);
                      if (!number || !std::isfinite(*number) || *number <= range.above || *number > range.max)
                        return false;
                      value = *number;
                      return true;
                    });
}

CLI::Option* App::add_timeout(double& seconds) {
  return add_number("--timeout", seconds, {0.0, 1e6, "SECONDS"}, "Longest wait for another rank")
      ->envname("LAB_TIMEOUT");
}

CLI::Option* App::add_choice(const std::string& name, std::string& value, const std::vector<std::string>& choices,
                             const std::string& help) {
  impl_->values.emplace_back(name, [&value] { return value; });
  const std::string list = listed(choices);
  const std::string fallback = value;
  return impl_->add(name, fmt::format("{}", fmt::join(choices, "|")), value, {list, value}, help,
                    [&value, name, choices, list, fallback](const std::string& text) {
                      if (std::find(choices.begin(), choices.end(), text) == choices.end()) {
                        throw_wrong_value(name, {list, nearest(text, choices).value_or(fallback)}, quoted(text));
                      }
                      value = text;
                      return true;
                    });
}

CLI::Option* App::add_text(const std::string& name, std::string& value, const std::string& kind,
                           const std::string& help) {
  const bool is_path = kind == "FILE" || kind == "DIR";
  impl_->values.emplace_back(name, [&value, is_path] { return !is_path ? value : value.empty() ? "" : "named"; });
  const Expectation expectation{"a value (" + kind + ")", value.empty() ? kind : value};
  return impl_->add(name, kind, value, expectation, help, [&value](const std::string& text) {
    // Another option in the value's place: the value was forgotten.
    if (text.empty() || text.rfind("--", 0) == 0) return false;
    value = text;
    return true;
  });
}

void App::add_required_file(std::string& path, const std::string& help) {
  impl_->cli.add_option("file", path, help)->required();
}

void App::add_words(std::vector<std::string>& words, const std::string& kind, const std::string& help) {
  impl_->values.emplace_back(kind, [&words] { return fmt::format("{}", fmt::join(words, " ")); });
  impl_->cli.add_option(kind, words, help);
}

CLI::Option* App::add_flag(const std::string& name, bool& value, const std::string& help) {
  impl_->values.emplace_back(name, [&value] { return value ? "yes" : "no"; });
  return impl_->cli.add_flag(name, value, help);
}

std::optional<ExitCode> App::parse(int argc, const char* const* argv) {
  try {
    std::vector<std::string> args = impl_->with_registered_names(argc, argv);
    std::reverse(args.begin(), args.end());  // CLI11 takes arguments from the back
    impl_->cli.parse(args);
  } catch (const CLI::CallForHelp&) {
    write_fully(1, impl_->cli.help());
    return ExitCode::kAllMatch;
  } catch (const CLI::CallForVersion& version) {
    write_fully(1, std::string(version.what()) + "\n");
    return ExitCode::kAllMatch;
  } catch (const CLI::ExtrasError&) {
    throw UsageError(message_for_extra(impl_->cli));
  } catch (const CLI::ArgumentMismatch& mismatch) {
    const std::string what = mismatch.what();
    if (what.find(" missing") != std::string::npos) impl_->throw_missing_value(what);
    const std::string name = what.substr(0, what.find(':'));
    throw UsageError(name + ": expected at most once, got it several times; keep one of them");
  } catch (const CLI::ParseError& failure) {
    throw UsageError(one_line(failure.what()) + "; --help lists all options");
  }
  if (impl_->common) finish(*impl_->common);
  return std::nullopt;
}

std::string suite_version() {
  return LAB_VERSION;
}

}  // namespace lab
