#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/api/errors.h"
#include "common/base/failure.h"
#include "common/cli/common_options.h"
#include "common/cli/guarded_main.h"

namespace lab::cli {

/// The suite's version, "0.1.0".
std::string suite_version();

class App;

/// A command of a program: `PROGRAM NAME ...`.
struct Command {
  std::string name;
  std::string help;                  ///< the first line goes into the program's --help; all of it into the command's
  std::function<void(App&)> set_up;  ///< gives the command its options and its action
};

/// The command line of a program, or of one of its commands. Every option accepts both spellings, --log-dir and
/// --log_dir; an invalid one gives one message: option, expected, got, hint. Values are set by parse() and run(); the
/// variables must live until then, for which own() is at hand.
/// Example   void bench_command(lab::App& app) {
///             int& layers = app.own(4);
///             app.add_integer("--layers", layers, {1, 1000}, "layers of the model");
///             app.set_action([&layers] { return bench(layers); });
///           }
///           lab::App app("a5_pipeline", "Pipeline parallelism in depth.");
///           app.add_commands({{"bench", "times each schedule", bench_command}});
///           return app.run(argc, argv);
class App {
 public:
  App(const std::string& program, const std::string& description);
  ~App();
  App(const App&) = delete;
  App& operator=(const App&) = delete;

  /// Adds commands, each with its own options, which follow its name; at most one is chosen on a command line.
  void add_commands(const std::vector<Command>& commands);

  /// What run() does where no command, or this one, is chosen. Without an action a command is required.
  void set_action(std::function<ExitCode()> action);

  /// Keeps a value as long as this App lives.
  template <typename T>
  T& own(T value) {
    const auto kept = std::make_shared<T>(std::move(value));
    keep(kept);
    return *kept;
  }

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
  /// A name such as "--level,LEVEL" is also that of a positional argument, which may be left out.
  void add_integer(const std::string& name, int& value, const IntegerRange& range, const std::string& help);
  void add_integer(const std::string& name, std::int64_t& value, const IntegerRange& range, const std::string& help);
  /// A size such as 4096, 64KiB or 1MiB, as CLI::AsSizeValue reads it: KB, K and KiB are 1024.
  void add_bytes(const std::string& name, std::int64_t& value, const IntegerRange& range, const std::string& help);
  void add_seed(const std::string& name, std::uint64_t& value, const std::string& help);
  /// The same without a default.
  void add_seed(const std::string& name, std::optional<std::uint64_t>& value, const std::string& help);
  void add_number(const std::string& name, double& value, const NumberRange& range, const std::string& help);
  /// --timeout SECONDS, the longest wait for another rank; without it the environment variable
  /// LAB_TIMEOUT, for slow or busy machines.
  void add_timeout(double& seconds);
  /// --transport gloo, shm or auto (see common/comm/process_world.h).
  void add_transport(std::string& value, const std::string& help);
  void add_choice(const std::string& name, std::string& value, const std::vector<std::string>& choices,
                  const std::string& help);
  /// `kind` is FILE, DIR or another name for what the text is.
  void add_text(const std::string& name, std::string& value, const std::string& kind, const std::string& help);
  /// The same, which may be given several times.
  void add_texts(const std::string& name, std::vector<std::string>& values, const std::string& kind,
                 const std::string& help);
  /// A positional argument: "FILE" is required, "[FILE]" may be left out.
  void add_argument(const std::string& name, std::string& value, const std::string& help);
  /// The same, any number of times: "FILE..." at least once.
  void add_argument(const std::string& name, std::vector<std::string>& values, const std::string& help);
  void add_flag(const std::string& name, bool& value, const std::string& help);

  /// A program to start and its arguments: the first word that no option takes, and all after it. A "--" before it is
  /// dropped.
  /// `example`: the last line of --help.
  void add_program(std::vector<std::string>& program, const std::string& example);

  /// True if the option ("--nproc") was on the command line.
  bool given(const std::string& name) const;

  /// What followed the program's name on the command line.
  const std::vector<std::string>& arguments() const;

  /// Every option with its value, given or not, for comparing the command lines of several ranks. For files and folders
  /// only whether one is given ("named" or ""): paths differ from machine to machine.
  std::vector<std::pair<std::string, std::string>> values() const;

  /// Parses the command line. Returns an exit code if --help or --version was answered on stdout, else nothing.
  /// Errors    UsageError: one message; for an unknown option or command it names the nearest known one
  std::optional<ExitCode> parse(int argc, const char* const* argv);

  /// The same, and then performs the action of the chosen command.
  ExitCode run(int argc, const char* const* argv);

 private:
  struct Impl;
  explicit App(std::unique_ptr<Impl> impl);
  void keep(std::shared_ptr<void> value);
  std::vector<const App*> chosen() const;  ///< this one, and the chosen command, and its chosen command
  void finish_common_options() const;

  std::unique_ptr<Impl> impl_;
  CommonOptions* common_ = nullptr;
};

}  // namespace lab::cli
