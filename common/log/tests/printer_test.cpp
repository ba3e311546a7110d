#include "common/log/printer.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <limits>
#include <map>
#include <thread>

#include "common/base/failure.h"
#include "common/testing/plain_test.h"

namespace {

constexpr int kWriters = 8;
constexpr int kLines = 1000;

struct Pipe {
  Pipe() { REQUIRE(::pipe(ends) == 0); }
  ~Pipe() {
    close_reader();
    close_writer();
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void close_reader() { close_end(ends[0]); }
  void close_writer() { close_end(ends[1]); }
  static void close_end(int& fd) {
    if (fd >= 0) ::close(fd);
    fd = -1;
  }
  std::string read_all() {
    close_writer();
    std::string text;
    char buffer[65536];
    for (ssize_t n; (n = ::read(ends[0], buffer, sizeof buffer)) != 0;) {
      if (n > 0) text.append(buffer, static_cast<std::size_t>(n));
    }
    return text;
  }
  int ends[2] = {-1, -1};
};

/// Lines of many lengths, so that a torn one shows.
std::string payload(int writer, int i, std::size_t longest) {
  const auto length = static_cast<std::size_t>((i * 37 + writer * 101)) % longest;
  return std::to_string(i) + " " + std::string(length, static_cast<char>('a' + writer)) + " end";
}

void write_lines(int writer, const lab::log::PrinterOptions& options, std::size_t longest) {
  lab::log::Printer printer(options);
  for (int i = 0; i < kLines; ++i) printer.text(writer, payload(writer, i, longest));
}

/// Every line of every writer is there once, whole, and in the writer's order.
void check_whole(const std::string& text, std::size_t longest) {
  std::map<int, int> next;
  int torn = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    REQUIRE(end != std::string::npos);
    const std::string line = text.substr(at, end - at);
    const int writer = line.size() > 6 ? line[6] - '0' : -1;
    if (line != "[Rank " + std::to_string(writer) + "] " + payload(writer, next[writer]++, longest)) ++torn;
    at = end + 1;
  }
  CHECK(torn == 0);
  CHECK(next.size() == kWriters);
  for (const auto& entry : next) CHECK(entry.second == kLines);
}

}  // namespace

TEST_CASE("printer: text, match and skipped lines, in order and whole") {
  Pipe pipe;
  lab::log::Printer printer({pipe.ends[1], false, true, nullptr});
  printer.line("[Distributed Init] Rank 2 initialized on N/A on CPU 0.");
  printer.text(2, "two\nlines\r\n");
  printer.match({"DataParallel", 2, true, 0.0, 0.0});
  printer.skipped({"Bias", 2, "no bias"});
  CHECK(pipe.read_all() ==
        "[Distributed Init] Rank 2 initialized on N/A on CPU 0.\n"
        "[Rank 2] two lines\n"
        "[DataParallel][Rank 2] Tensors match: True | Max diff: 0.000000e+00 | Mean diff: 0.000000e+00\n"
        "[Bias][Rank 2] skipped: no bias\n");
  REQUIRE(printer.lines().size() == 4);
  CHECK(std::get<std::string>(printer.lines()[1]) == "[Rank 2] two lines");
  CHECK(std::get<lab::log::JudgedLine>(printer.lines()[2]).line.prefix == "DataParallel");
  CHECK(std::get<lab::log::SkippedLine>(printer.lines()[3]).reason == "no bias");
}

TEST_CASE("printer: quiet drops text, keeps match and skipped lines, and remembers all") {
  Pipe pipe;
  lab::log::Printer printer({pipe.ends[1], true, true, nullptr});
  printer.line("text");
  printer.text(0, "text");
  printer.match({"", 0, true, 0.0, 0.0});
  printer.skipped({"", 0, "why"});
  CHECK(pipe.read_all() ==
        "[Rank 0] Tensors match: True | Max diff: 0.000000e+00 | Mean diff: 0.000000e+00\n[Rank 0] skipped: why\n");
  CHECK(printer.lines().size() == 4);
}

TEST_CASE("printer: without remember nothing is kept, without a descriptor nothing is written") {
  lab::log::Printer forgetful({-1, false, false, nullptr});
  forgetful.line("x");
  forgetful.match({"", 0, false, 1.0, 1.0});
  CHECK(forgetful.lines().empty());
  CHECK_FALSE(forgetful.all_as_expected());
}

TEST_CASE("printer: an expected mismatch is right, any other verdict is not") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  lab::log::Printer printer({-1, false, true, nullptr});
  CHECK(printer.all_as_expected());
  printer.match({"", 0, false, 0.1, 0.05}, lab::log::Expect::kDiffer);
  printer.match({"", 0, true, 0.0, 0.0});
  printer.skipped({"", 0, "why"});
  CHECK(printer.all_as_expected());
  CHECK(printer.exit_code() == lab::ExitCode::kAllMatch);

  SUBCASE("False where True was expected") {
    printer.match({"", 0, false, 0.1, 0.05});
  }
  SUBCASE("True where False was expected") {
    printer.match({"", 0, true, 0.0, 0.0}, lab::log::Expect::kDiffer);
  }
  SUBCASE("nan is not a difference") {
    printer.match({"", 0, false, nan, nan}, lab::log::Expect::kDiffer);
  }
  SUBCASE("nan never matches") {
    printer.match({"", 0, true, nan, 0.0});
  }
  CHECK_FALSE(printer.all_as_expected());
  CHECK(printer.exit_code() == lab::ExitCode::kMismatch);
}

TEST_CASE("printer: a reader that went away is an error, not a signal, and leaves no signal behind") {
  struct sigaction deadly {};
  deadly.sa_handler = SIG_DFL;
  struct sigaction before {};
  ::sigaction(SIGPIPE, &deadly, &before);
  Pipe pipe;
  pipe.close_reader();
  lab::log::Printer printer({pipe.ends[1], false, true, nullptr});
  for (int i = 0; i < 2; ++i) {
    try {
      printer.line("x");
      FAIL("no error");
    } catch (const lab::UsageError& error) {
      CHECK(std::string(error.what()).find("its reader went away") != std::string::npos);
    }
  }
  sigset_t pending;
  ::sigpending(&pending);
  CHECK(sigismember(&pending, SIGPIPE) == 0);
  ::sigaction(SIGPIPE, &before, nullptr);
}

TEST_CASE("printer: a closed descriptor is an error") {
  Pipe pipe;
  const int closed = pipe.ends[1];
  pipe.close_writer();
  lab::log::Printer printer({closed, false, true, nullptr});
  CHECK_THROWS_AS(printer.line("x"), lab::UsageError);
}

TEST_CASE("printer: a pipe that takes only a part, or nothing for now, gets the whole line") {
  Pipe pipe;
  REQUIRE(::fcntl(pipe.ends[1], F_SETFL, O_NONBLOCK) == 0);
  const std::string text(1 << 20, 'x');
  std::thread writer([&] {
    lab::log::Printer({pipe.ends[1], false, false, nullptr}).line(text);
    pipe.close_writer();
  });
  std::string got;
  char buffer[4096];
  for (ssize_t n; (n = ::read(pipe.ends[0], buffer, sizeof buffer)) > 0;)
    got.append(buffer, static_cast<std::size_t>(n));
  writer.join();
  CHECK(got.size() == text.size() + 1);
  CHECK(got == text + "\n");
}

TEST_CASE("printer: 8 threads with one lock share a pipe, 1,000 lines each, longer than a pipe writes at once") {
  Pipe pipe;
  constexpr std::size_t kLongest = 9000;
  const auto lock = std::make_shared<std::mutex>();
  std::thread run([&] {
    std::vector<std::thread> writers;
    for (int writer = 0; writer < kWriters; ++writer) {
      writers.emplace_back([&, writer] { write_lines(writer, {pipe.ends[1], false, false, lock}, kLongest); });
    }
    for (std::thread& writer : writers) writer.join();
    pipe.close_writer();
  });
  std::string text;
  char buffer[4096];
  for (ssize_t n; (n = ::read(pipe.ends[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(n));
  run.join();
  check_whole(text, kLongest);
}

TEST_CASE("printer: 8 processes share a pipe, 1,000 lines each") {
  Pipe pipe;
  constexpr std::size_t kLongest = 3000;
  std::vector<pid_t> children;
  for (int writer = 0; writer < kWriters; ++writer) {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      write_lines(writer, {pipe.ends[1], false, false, nullptr}, kLongest);
      ::_exit(0);
    }
    children.push_back(child);
  }
  const std::string text = pipe.read_all();
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    CHECK(status == 0);
  }
  check_whole(text, kLongest);
}
