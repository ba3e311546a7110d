#include "common/cli/app.h"

#include <CLI/CLI.hpp>
#include <vector>

#include "common/testing/captured.h"
#include "common/testing/get_message.h"
#include "common/testing/plain_test.h"

using lab::testing::contains;

namespace {

/// A lab's command line with its own option and flag.
struct Program {
  Program() : app("a5_pipeline", "Pipeline parallelism."), common(app.add_common_options()) {
    app.add_integer("--number-of-layers", layers, {1, 64}, "layers");
    app.add_flag("--tied-weights", tied, "one weight for all");
  }
  std::optional<lab::ExitCode> parse(std::vector<const char*> args) {
    args.insert(args.begin(), "build/bin/a5_pipeline");
    return app.parse(static_cast<int>(args.size()), args.data());
  }
  lab::cli::App app;
  lab::cli::CommonOptions& common;
  int layers = 4;
  bool tied = false;
};

std::string refusal(const std::vector<const char*>& args) {
  Program program;
  try {
    program.parse(args);
  } catch (const lab::UsageError& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("app: defaults without a command line") {
  ::unsetenv("LAB_TIMEOUT");
  Program program;
  CHECK_FALSE(program.parse({}).has_value());
  const lab::cli::CommonOptions& common = program.common;
  CHECK(common.num_ranks == 4);
  CHECK_FALSE(common.num_ranks_given);
  CHECK(common.world == "processes");
  CHECK(common.device == "cpu");
  CHECK(common.seed == 42);
  CHECK(common.timeout_seconds == 10.0);
  CHECK(common.out_dir == "out");
  CHECK(common.save_dir.empty());
  CHECK(common.debug_rank == -1);
  CHECK(common.repeat == 1);
  CHECK_FALSE(common.quiet);
}

TEST_CASE("app: an option that is given several times takes one value each time, and no argument behind it") {
  const auto parsed = [](const std::vector<const char*>& args, std::vector<std::string>& columns) {
    lab::cli::App app("lab", "x");
    std::string folder;
    app.add_argument("FOLDER", folder, "x");
    app.add_texts("--column", columns, "LAB=COLUMN", "x");
    app.parse(static_cast<int>(args.size()), args.data());
    return folder;
  };
  std::vector<std::string> columns;
  CHECK(parsed({"lab", "--column", "a=b, c", "--column=d=[1,2]", "here"}, columns) == "here");
  CHECK(columns == std::vector<std::string>{"a=b, c", "d=[1,2]"});
  columns.clear();
  CHECK(parsed({"lab", "here"}, columns) == "here");
  CHECK(columns.empty());
  CHECK(contains(lab::testing::get_message([&] {
                   parsed({"lab", "here", "--column", "--again"}, columns);
                 }),
                 "--column: expected a value (LAB=COLUMN)"));
}

TEST_CASE("app: the time-out comes from the command line, else from the environment") {
  ::setenv("LAB_TIMEOUT", "120", 1);
  Program from_environment, from_command_line;
  CHECK_FALSE(from_environment.parse({}).has_value());
  CHECK(from_environment.common.timeout_seconds == 120);
  CHECK_FALSE(from_command_line.parse({"--timeout", "3"}).has_value());
  CHECK(from_command_line.common.timeout_seconds == 3);
  lab::cli::App app("lab", "x");
  double seconds = 10;
  app.add_commands({{"check", "x", [&seconds](lab::cli::App& command) {
                       command.add_timeout(seconds);
                       command.set_action([] { return lab::ExitCode::kAllMatch; });
                     }}});
  const char* args[] = {"lab", "check"};
  CHECK(app.run(2, args) == lab::ExitCode::kAllMatch);
  CHECK(seconds == 120);
  ::setenv("LAB_TIMEOUT", "soon", 1);
  CHECK(contains(refusal({}), "--timeout: expected a number above 0"));
  ::unsetenv("LAB_TIMEOUT");
}

TEST_CASE("app: every common option is read, with = and with a space") {
  Program program;
  CHECK_FALSE(program
                  .parse({"--nproc=8",
                          "--world",
                          "threads",
                          "--device",
                          "cuda",
                          "--seed",
                          "18446744073709551615",
                          "--timeout",
                          "0.5",
                          "--save",
                          "s",
                          "--trace",
                          "t.json",
                          "--out",
                          "o",
                          "--json",
                          "j",
                          "--log-dir",
                          "l",
                          "--quiet",
                          "--repeat",
                          "3",
                          "--debug-rank",
                          "7",
                          "--number-of-layers",
                          "9",
                          "--tied-weights"})
                  .has_value());
  const lab::cli::CommonOptions& common = program.common;
  CHECK(common.num_ranks == 8);
  CHECK(common.num_ranks_given);
  CHECK(common.world == "threads");
  CHECK(common.device == "cuda");
  CHECK(common.seed == 18446744073709551615ull);
  CHECK(common.timeout_seconds == 0.5);
  CHECK(common.save_dir == "s");
  CHECK(common.trace_file == "t.json");
  CHECK(common.out_dir == "o");
  CHECK(common.json_file == "j");
  CHECK(common.log_dir == "l");
  CHECK(common.quiet);
  CHECK(common.repeat == 3);
  CHECK(common.debug_rank == 7);
  CHECK(program.layers == 9);
  CHECK(program.tied);
  CHECK(program.app.given("--json"));
}

TEST_CASE("app: both spellings, for common and own options, and values are left alone") {
  Program program;
  program.parse({"--log_dir", "a_b", "--number_of_layers=5", "--tied_weights", "--debug_rank", "1", "--save", "x_y"});
  CHECK(program.common.log_dir == "a_b");
  CHECK(program.layers == 5);
  CHECK(program.tied);
  CHECK(program.common.debug_rank == 1);
  CHECK(program.common.save_dir == "x_y");
}

TEST_CASE("app: a wrong value gives one message with option, expected, got and a hint") {
  CHECK(refusal({"--nproc", "zero"}) == "--nproc: expected an integer from 1 to 4096, got 'zero'; try --nproc 4");
  for (const char* wrong : {"0", "-1", "4097", "4.0", "1e2", "", "4 ", "99999999999999999999", "4x"}) {
    CAPTURE(wrong);
    CHECK(refusal({"--nproc", wrong}) ==
          "--nproc: expected an integer from 1 to 4096, got '" + std::string(wrong) + "'; try --nproc 4");
  }
  CHECK(refusal({"--world", "thread"}) ==
        "--world: expected processes, threads or sim, got 'thread'; try --world threads");
  CHECK(refusal({"--device", "tpu"}) == "--device: expected cpu or cuda, got 'tpu'; try --device cpu");
  CHECK(refusal({"--seed", "-1"}) ==
        "--seed: expected an integer from 0 to 18446744073709551615, got '-1'; try --seed 42");
  for (const char* wrong : {"0", "-1", "nan", "inf", "ten", "1e9"}) {
    CHECK(contains(refusal({"--timeout", wrong}), "--timeout: expected a number above 0"));
  }
  CHECK(contains(refusal({"--repeat", "0"}), "--repeat: expected an integer from 1 to 1000000, got '0'"));
  CHECK(contains(refusal({"--json", "--quiet"}), "--json: expected a value (FILE), got '--quiet'"));
  CHECK(contains(refusal({"--json", ""}), "--json: expected a value (FILE), got ''"));
  CHECK(contains(refusal({"--number_of_layers", "65"}),
                 "--number-of-layers: expected an integer from 1 to 64, got '65'"));
}

TEST_CASE("app: a seed without a default: none is shown, and none is there unless it was given") {
  std::optional<std::uint64_t> seed;
  const auto parse = [&](const std::vector<const char*>& args) {
    lab::cli::App app("lab", "x");
    app.add_seed("--seed", seed, "of the inputs (default: a secret one)");
    app.parse(static_cast<int>(args.size()), args.data());
    return app.values().back().second;
  };
  CHECK(parse({"lab"}).empty());
  CHECK_FALSE(seed.has_value());
  CHECK(parse({"lab", "--seed", "0"}) == "0");
  CHECK(seed == 0);
  const std::string help = lab::testing::captured(1, [&] { parse({"lab", "--help"}); });
  CHECK(contains(help, "of the inputs (default: a secret one)\n"));
  CHECK(lab::testing::get_message([&] {
          parse({"lab", "--seed", "-1"});
        }) == "--seed: expected an integer from 0 to 18446744073709551615, got '-1'; try --seed 42");
}

TEST_CASE("app: a missing value, an empty one, and an option given twice") {
  CHECK(refusal({"--nproc"}) == "--nproc: expected an integer from 1 to 4096, got nothing; try --nproc 4");
  CHECK(refusal({"--nproc=", "--quiet"}) ==
        "--nproc: expected an integer from 1 to 4096, got '--quiet'; try --nproc 4");
  CHECK(contains(refusal({"--nproc", "2", "--nproc", "3"}), "--nproc: expected at most once"));
}

TEST_CASE("app: an unknown option names the nearest known one") {
  CHECK(refusal({"--nprocs", "4"}) == "unknown option '--nprocs'; did you mean '--nproc'? --help lists all options");
  CHECK(refusal({"--log_dirs=4"}) == "unknown option '--log_dirs'; did you mean '--log-dir'? --help lists all options");
  CHECK(refusal({"--frobnicate"}) == "unknown option '--frobnicate'; --help lists all options");
  CHECK(refusal({"--number-of-layer", "3"}) ==
        "unknown option '--number-of-layer'; did you mean '--number-of-layers'? --help lists all options");
  CHECK(refusal({"-n", "3"}) == "unknown option '-n'; --help lists all options");
  CHECK(refusal({"4"}) == "unexpected argument '4'; --help lists what is expected");
}

TEST_CASE("app: a rank to debug must exist") {
  CHECK(refusal({"--nproc", "2", "--debug-rank", "2"}) ==
        "--debug-rank: expected a rank from 0 to 1, got 2; try --debug-rank 0");
  // A launcher may have started more ranks than this program's default.
  CHECK(refusal({"--debug-rank", "6"}) == "accepted");
}

TEST_CASE("app: help and version are answered on stdout with exit code 0") {
  std::optional<lab::ExitCode> done;
  std::string out = lab::testing::captured(1, [&] { done = Program().parse({"--version"}); });
  CHECK(done == lab::ExitCode::kAllMatch);
  CHECK(out == "a5_pipeline " + lab::cli::suite_version() + "\n");
  out = lab::testing::captured(1, [&] { done = Program().parse({"--help"}); });
  CHECK(done == lab::ExitCode::kAllMatch);
  for (const char* part : {"Pipeline parallelism.", "--nproc", "--log-dir", "--number-of-layers", "processes|threads",
                           "(default processes)", "--timeout SECONDS"}) {
    CAPTURE(part);
    CHECK(contains(out, part));
  }
}

TEST_CASE("app: values() tells two command lines apart by what they mean, not by how they are written") {
  const auto values = [](std::vector<const char*> args) {
    lab::cli::App app("lab", "x");
    app.add_common_options();
    std::int64_t bytes = 1024;
    double rate = 0.1;
    bool deep = false;
    std::vector<std::string> words;
    app.add_bytes("--bytes", bytes, {1, 1 << 20}, "x");
    app.add_number("--rate", rate, {}, "x");
    app.add_flag("--deep", deep, "x");
    app.add_argument("[NAME]...", words, "x");
    args.insert(args.begin(), "lab");
    CHECK_FALSE(app.parse(static_cast<int>(args.size()), args.data()).has_value());
    return app.values();
  };
  const auto plain = values({});
  CHECK(values({"--seed", "42", "--bytes", "1KiB", "--rate=0.10", "--world", "processes"}) == plain);
  for (const std::vector<const char*>& other : std::vector<std::vector<const char*>>{{"--seed", "7"},
                                                                                     {"--bytes", "2KiB"},
                                                                                     {"--rate", "0.2"},
                                                                                     {"--world", "threads"},
                                                                                     {"--deep"},
                                                                                     {"a", "b"},
                                                                                     {"--json", "x.json"},
                                                                                     {"--repeat", "2"}}) {
    CAPTURE(other.front());
    CHECK(values(other) != plain);
  }
  CHECK(values({"--json", "x.json"}) == values({"--json", "y.json"}));  // paths differ between machines
}

TEST_CASE("app: sizes are read as CLI11 does, with K as 1024, and a wrong one is shown as it was given") {
  const auto read = [](const char* text) -> std::string {
    lab::cli::App app("lab", "x");
    std::int64_t bytes = 1 << 20;
    app.add_bytes("--bytes", bytes, {1, std::int64_t{1} << 40}, "x");
    const char* args[] = {"lab", "--bytes", text};
    try {
      app.parse(3, args);
    } catch (const lab::UsageError& error) {
      return error.what();
    }
    return std::to_string(bytes);
  };
  CHECK(read("4096") == "4096");
  CHECK(read("7B") == "7");
  for (const char* same : {"64K", "64KB", "64KiB", "64kib"}) CHECK(read(same) == "65536");
  CHECK(read("3MiB") == "3145728");
  CHECK(read("1TiB") == "1099511627776");
  for (const char* wrong : {"0", "-1", "2TiB", "1.5MiB", "64 apples", "KiB1", "", "99999999999999999999999"}) {
    CAPTURE(wrong);
    CHECK(read(wrong) ==
          "--bytes: expected a size from 1B to 1TiB, got '" + std::string(wrong) + "'; try --bytes 1MiB");
  }
}

namespace {

/// A program with two commands, of which one has a command of its own.
struct Commands {
  explicit Commands(bool has_action = true) {
    app.add_integer("--nproc", num_ranks, {1, 8}, "ranks");
    if (has_action) {
      app.set_action([this] {
        ran = "run of " + std::to_string(num_ranks);
        return lab::ExitCode::kAllMatch;
      });
    }
    app.add_commands({{"check-log", "compares a log with a right run's\nIts second paragraph.",
                       [this](lab::cli::App& command) { set_up(command, "check-log"); }},
                      {"test", "tests", [this](lab::cli::App& command) {
                         command.set_action([this] { return done("test"); });
                         command.add_commands({{"check-log", "compares a log with a right test's",
                                                [this](lab::cli::App& inner) { set_up(inner, "test check-log"); }}});
                       }}});
  }
  void set_up(lab::cli::App& command, const std::string& name) {
    std::string& file = command.own(std::string());
    std::vector<std::string>& more = command.own(std::vector<std::string>());
    command.add_argument("FILE", file, "the log");
    command.add_argument("[MORE]...", more, "further logs");
    command.add_integer("--level,LEVEL", level, {1, 3}, "how strict");
    command.set_action(
        [this, name, &file, &more] { return done(name + " of " + file + " and " + std::to_string(more.size())); });
  }
  lab::ExitCode done(const std::string& what) {
    ran = what;
    return lab::ExitCode::kMismatch;
  }
  /// What ran, or the message.
  std::string run(std::vector<const char*> args) {
    args.insert(args.begin(), "build/bin/a4");
    try {
      exit_code = app.run(static_cast<int>(args.size()), args.data());
    } catch (const lab::UsageError& error) {
      return error.what();
    }
    return ran;
  }
  lab::cli::App app{"a4", "A lab."};
  int num_ranks = 4, level = 1;
  std::string ran = "nothing";
  lab::ExitCode exit_code = lab::ExitCode::kInternal;
};

TEST_CASE("app: a positional argument's name has no blank, which only older versions of CLI11 take") {
  lab::cli::App app("x", "x");
  std::string name;
  CHECK_THROWS_AS(app.add_argument("[TASK or LAB]", name, "x"), std::logic_error);
}

}  // namespace

TEST_CASE("app: the chosen command's action runs, or the program's own, and its exit code is returned") {
  Commands plain, log, test, inner;
  CHECK(plain.run({"--nproc", "2"}) == "run of 2");
  CHECK(plain.exit_code == lab::ExitCode::kAllMatch);
  CHECK(log.run({"check-log", "a_b", "--level", "2"}) == "check-log of a_b and 0");
  CHECK(log.exit_code == lab::ExitCode::kMismatch);
  CHECK(log.level == 2);
  CHECK(test.run({"test"}) == "test");
  CHECK(inner.run({"test", "check-log", "test", "check-log"}) == "test check-log of test and 1");
}

TEST_CASE("app: a command's name, its arguments and its options, when wrong") {
  CHECK(Commands().run({"chek-log", "x"}) ==
        "unknown command 'chek-log'; did you mean 'check-log'? --help lists the commands");
  CHECK(Commands().run({"frobnicate"}) == "unknown command 'frobnicate'; --help lists the commands");
  CHECK(Commands().run({"test", "log"}) == "unknown command 'log'; --help lists the commands");
  CHECK(Commands().run({"check-log"}) ==
        "check-log: expected FILE (the log), got nothing; --help lists what is expected");
  CHECK(Commands().run({"check-log", ""}) == "expected FILE (the log), got ''");
  CHECK(Commands().run({"check-log", "x", "--levle", "2"}) ==
        "unknown option '--levle'; did you mean '--level'? --help lists all options");
  CHECK(Commands().run({"check-log", "x", "--level", "4"}) ==
        "--level: expected an integer from 1 to 3, got '4'; try --level 1");
  CHECK(Commands().run({"--nproc", "2", "check-log", "x"}) ==
        "expected the command check-log before its options, got '--nproc' first");
  CHECK(Commands().run({"test", "--", "--nproc", "2"}) == "unknown option '--nproc'; --help lists all options");
  CHECK(Commands(false).run({}) == "expected a command, one of check-log, test; --help describes them");
  CHECK(Commands(false).run({"tests"}) == "unknown command 'tests'; did you mean 'test'? --help lists the commands");
}

TEST_CASE("app: help lists each command on one line, and the command's own help says more") {
  const auto help = [](std::vector<const char*> args) {
    Commands commands;
    return lab::testing::captured(1, [&] { commands.run(args); });
  };
  CHECK(contains(help({"--help"}),
                 "\nCommands:\n"
                 "  check-log                   compares a log with a right run's\n"
                 "  test                        tests\n"));
  const std::string own = help({"check-log", "--help"});
  CHECK(contains(own, "compares a log with a right run's\nIts second paragraph.\n"));
  CHECK(contains(own, "Usage: a4 check-log [OPTIONS] FILE [MORE...] [LEVEL]\n"));
  CHECK(contains(own, "\n  --level N "));
}

TEST_CASE("app: another program's command line is left alone") {
  lab::cli::App labrun("labrun", "x");
  int num_nodes = 1;
  int per_node = 1;
  labrun.add_integer("--num-nodes", num_nodes, {1, 8}, "x");
  labrun.add_integer("--nproc-per-node", per_node, {1, 8}, "x");
  std::vector<std::string> program;
  labrun.add_program(program, "labrun ./a9");
  const auto parsed = [&](std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "labrun");
    CHECK_FALSE(labrun.parse(static_cast<int>(arguments.size()), arguments.data()).has_value());
    return program;
  };
  const std::vector<std::string> expected = {"./a9", "--nproc_per_node", "3"};
  CHECK(parsed({"--num_nodes", "3", "--nproc_per_node", "2", "./a9", "--nproc_per_node", "3"}) == expected);
  CHECK(num_nodes == 3);
  CHECK(per_node == 2);
  CHECK(parsed({"--num_nodes", "3", "--", "./a9", "--nproc_per_node", "3"}) == expected);
  CHECK(parsed({}).empty());
}
