#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/errors.h"
#include "common/base/failure.h"
#include "common/cli/common_options.h"
#include "common/cli/guarded_main.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace lab {

/// The suite's version, "0.1.0".
std::string suite_version();

/// A program's command line. Every option accepts both spellings, --log-dir and --log_dir; an invalid one gives one
/// message: option, expected, got, hint. Values are set by parse(); the variables must live until then.
/// Example   lab::App app("a5_pipeline", "Pipeline parallelism in depth.");
///           lab::CommonOptions& common = app.add_common_options();
///           app.add_integer("--layers", layers, {1, 1000}, "layers of the model");
///           if (auto done = app.parse(argc, argv)) return *done;
class App {
 public:
  App(const std::string& program, const std::string& description);
  ~App();
  App(const App&) = delete;
  App& operator=(const App&) = delete;

  /// Adds the options that every lab shares; the App owns what it returns.
  CommonOptions& add_common_options(const CommonOptions& defaults = {});

  /// Inclusive bounds.
  struct IntegerRange {
    std::int64_t min = 0;
    std::int64_t max = std::numeric_limits<std::int64_t>::max();
  };
  struct NumberRange {
    double above = 0.0;  ///< exclusive
    double max = 1e9;    ///< inclusive
    const char* unit = "X";
  };

  // Options that give the message above. The variable's value at the time of the call is the default that --help shows.
  CLI::Option* add_integer(const std::string& name, int& value, const IntegerRange& range, const std::string& help);
  CLI::Option* add_integer(const std::string& name, std::int64_t& value, const IntegerRange& range,
                           const std::string& help);
  /// A size such as 4096, 64KiB or 1MiB.
  CLI::Option* add_bytes(const std::string& name, std::int64_t& value, const IntegerRange& range,
                         const std::string& help);
  CLI::Option* add_seed(const std::string& name, std::uint64_t& value, const std::string& help);
  CLI::Option* add_number(const std::string& name, double& value, const NumberRange& range, const std::string& help);
  /// --timeout SECONDS, the longest wait for another rank; without it the environment variable
  /// LAB_TIMEOUT, for slow or busy machines.
  CLI::Option* add_timeout(double& seconds);
  CLI::Option* add_choice(const std::string& name, std::string& value, const std::vector<std::string>& choices,
                          const std::string& help);
  /// `kind` is FILE, DIR or another name for what the text is.
  CLI::Option* add_text(const std::string& name, std::string& value, const std::string& kind, const std::string& help);
  /// A required positional file.
  void add_required_file(std::string& path, const std::string& help);
  /// Any number of positional arguments; `kind` is what --help calls them.
  void add_words(std::vector<std::string>& words, const std::string& kind, const std::string& help);
  CLI::Option* add_flag(const std::string& name, bool& value, const std::string& help);

  /// True if the option ("--nproc") was on the command line that parse() read.
  bool given(const std::string& name) const;

  /// Every option with its value, given or not, for comparing the command lines of several ranks. For files and folders
  /// only whether one is given ("named" or ""): paths differ from machine to machine.
  std::vector<std::pair<std::string, std::string>> values() const;

  /// The underlying parser, for what the functions above do not offer (positionals, subcommands).
  CLI::App& cli();

  /// Parses the command line. Returns an exit code if --help or --version was answered on stdout, else nothing.
  /// Errors    UsageError: one message; for an unknown option it names the nearest known one
  std::optional<ExitCode> parse(int argc, const char* const* argv);

 private:
  CommonOptions& own_common_options(const CommonOptions& defaults);
  void finish(CommonOptions& common) const;

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lab
