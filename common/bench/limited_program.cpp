#include "common/bench/limited_program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>

#include "common/base/errors.h"
#include "common/base/files.h"
#include "common/base/text.h"
#include "common/launch/supervise/spawn.h"

namespace lab {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kGraceSeconds = 5;
constexpr std::size_t kLongestText = 300;
constexpr std::size_t kShortestRuler = 10;

/// True once it has ended.
bool wait_for(pid_t child, double seconds, int& status) {
  const auto deadline = Clock::now() + std::chrono::duration<double>(seconds);
  while (::waitpid(child, &status, WNOHANG) != child) {
    if (Clock::now() >= deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

/// mpirun frames its messages with lines of dashes.
std::string last_words(std::FILE* file) {
  std::string text;
  std::rewind(file);
  for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) text += static_cast<char>(c);
  for (std::size_t at = text.find("----------"); at != std::string::npos; at = text.find("----------", at)) {
    const std::size_t end = std::min(text.find_first_not_of('-', at + kShortestRuler), text.size());
    text.erase(at, end - at);
  }
  text = one_line(text);
  if (text.size() > kLongestText) text = text.substr(0, kLongestText) + " ...";
  return text;
}

}  // namespace

std::string ProgramEnd::message() const {
  const std::string how = timed_out ? "timed out" : fmt::format("ended with exit code {}", exit_code);
  return last_words.empty() ? how : how + ": " + last_words;
}

ProgramEnd run_limited(const std::vector<std::string>& argv, double limit_seconds) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> errors(std::tmpfile(), std::fclose);
  const UniqueFd nowhere(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  if (!errors || nowhere.get() < 0) throw UsageError("cannot create a temporary file for the messages of " + argv[0]);
  SpawnOptions options;
  options.stdout_fd = nowhere.get();
  options.stderr_fd = ::fileno(errors.get());
  const pid_t child = exec_rank(argv, {}, options);

  ProgramEnd end;
  int status = 0;
  if (!wait_for(child, limit_seconds, status)) {
    end.timed_out = true;
    ::kill(child, SIGTERM);
    if (!wait_for(child, kGraceSeconds, status)) {
      ::kill(-child, SIGKILL);
      ::waitpid(child, &status, 0);
    }
  }
  end.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  end.last_words = last_words(errors.get());
  return end;
}

}  // namespace lab
