#include "common/base/subprocess.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <tuple>

#include "common/api/errors.h"
#include "common/base/failure.h"
#include "common/base/machine_limits.h"
#include "common/base/signal_name.h"
#include "common/base/text.h"

namespace lab {

std::pair<UniqueFd, UniqueFd> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw UsageError("cannot create a pipe: " + describe_error(errno));
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

CapturedOutput::CapturedOutput(std::size_t max_bytes) : max_bytes_(max_bytes) {
  std::tie(read_end_, write_end_) = make_pipe();
  ::fcntl(read_end_.get(), F_SETFL, O_NONBLOCK);  // only our end: the program writes as to any pipe
}

void CapturedOutput::read() {
  std::array<char, 1 << 16> buffer{};
  for (int turn = 0; turn < 16 && read_end_.get() >= 0; ++turn) {
    const ssize_t count = ::read(read_end_.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return;
    if (count == 0) return read_end_.reset();
    const std::size_t kept = std::min(static_cast<std::size_t>(count), max_bytes_ - text_.size());
    text_.append(buffer.data(), kept);
    dropped_ += static_cast<std::uint64_t>(count) - kept;
  }
}

namespace {

constexpr int kCannotRun = 127;
constexpr double kGraceSeconds = 5;

void flush_output() {
  std::cout.flush();
  std::fflush(nullptr);
}

// An ignored signal stays ignored, so that nohup works for the children. SIGPIPE is reset in any case.
void reset_signals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD}) {
    struct sigaction action = {};
    if (::sigaction(signal, nullptr, &action) == 0 && action.sa_handler != SIG_IGN) ::signal(signal, SIG_DFL);
  }
  ::signal(SIGPIPE, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

/// No program waits at a terminal, or takes what another one is to read.
void empty_stdin() {
  const UniqueFd nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (nothing.get() >= 0) ::dup2(nothing.get(), 0);
}

// The child's first steps.
void begin_child(pid_t parent, const ProcessOptions& options) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(kCannotRun);  // the parent died before PR_SET_PDEATHSIG took effect
  if (!options.keep_terminal) {
    ::setpgid(0, 0);
    // Outside the terminal's foreground group, a read from the terminal would silently stop it.
    if (::isatty(0) != 0) empty_stdin();
  }
  if (options.stdin_fd >= 0) ::dup2(options.stdin_fd, 0);
  if (options.stdout_fd >= 0) ::dup2(options.stdout_fd, 1);
  if (options.stderr_fd >= 0) ::dup2(options.stderr_fd, 2);
  reset_signals();
}

pid_t fork_child(const ProcessOptions& options, const std::function<void()>& child) {
  flush_output();  // buffered output would otherwise be printed by both processes
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) throw UsageError("cannot start another process: " + describe_error(errno));
  if (pid == 0) {
    begin_child(parent, options);
    child();
    ::_exit(kCannotRun);
  }
  if (!options.keep_terminal) ::setpgid(pid, pid);  // here too, so that the group exists before it is signalled
  return pid;
}

/// A file in memory that holds the text: a child can read it with no process at the other end, unlike a pipe.
UniqueFd memory_file(std::string_view text) {
  UniqueFd file(::memfd_create("input", MFD_CLOEXEC));
  const int failure = file.get() < 0 ? errno : write_fully(file.get(), text);
  if (failure != 0) throw UsageError(fmt::format("cannot create an in-memory file: {}", std::strerror(failure)));
  ::lseek(file.get(), 0, SEEK_SET);
  return file;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (std::string& text : strings) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

std::vector<std::string> with_environment(const std::map<std::string, std::string>& added) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (added.count(text.substr(0, text.find('='))) == 0) all.push_back(text);
  }
  for (const auto& [name, value] : added) all.push_back(fmt::format("{}={}", name, value));
  return all;
}

}  // namespace

pid_t fork_process(const std::function<int()>& body, const ProcessOptions& options) {
  return fork_child(options, [&body] {
    int exit_code = 0;
    try {
      exit_code = body();
    } catch (const std::exception& failure) {
      write_fully(2, fmt::format("error: {}\n", get_message(failure)));
      exit_code = choose_exit_code(failure);
    } catch (...) {
      write_fully(2, "internal error: something that is not an exception was thrown\n");
      exit_code = static_cast<int>(ExitCode::kInternal);
    }
    flush_output();
    ::_exit(exit_code);
  });
}

pid_t exec_process(const std::vector<std::string>& argv, const std::map<std::string, std::string>& environment,
                   const ProcessOptions& options) {
  std::vector<std::string> arguments = argv, variables = with_environment(environment);
  const std::vector<char*> argument_pointers = pointers(arguments), variable_pointers = pointers(variables);
  auto [read_end, write_end] = make_pipe();
  // A program that starts closes the pipe and sends nothing; one that does not sends errno.
  const pid_t pid = fork_child(options, [&, fd = write_end.get()] {
    for (const int kept : options.inherited) ::fcntl(kept, F_SETFD, 0);
    if (options.folder.empty() || ::chdir(options.folder.c_str()) == 0)
      ::execvpe(argument_pointers[0], argument_pointers.data(), variable_pointers.data());
    const int error = errno;
    write_fully(fd, std::string_view(reinterpret_cast<const char*>(&error), sizeof(error)));
  });
  write_end.reset();
  int error = 0;
  ssize_t num_read = 0;
  do num_read = ::read(read_end.get(), &error, sizeof(error));
  while (num_read < 0 && errno == EINTR);
  if (num_read != static_cast<ssize_t>(sizeof(error))) return pid;
  ::waitpid(pid, nullptr, 0);
  throw UsageError(fmt::format("cannot run {}: {}", argv[0], std::strerror(error)));
}

void become_program(const std::vector<std::string>& argv, const std::map<std::string, std::string>& environment) {
  std::vector<std::string> arguments = argv, variables = with_environment(environment);
  empty_stdin();
  ::execvpe(arguments[0].c_str(), pointers(arguments).data(), pointers(variables).data());
  throw UsageError(fmt::format("cannot run {}: {}", argv[0], std::strerror(errno)));
}

int exit_code_of_status(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

std::string describe_status(int status) {
  if (!WIFSIGNALED(status)) return fmt::format("exited with code {}", WEXITSTATUS(status));
  return fmt::format("killed by signal {} ({})", WTERMSIG(status), signal_name(WTERMSIG(status)));
}

std::optional<std::vector<std::string>> split_command(std::string_view command) {
  std::vector<std::string> words;
  bool is_in_word = false;
  char quote = 0;
  for (std::size_t i = 0; i < command.size(); ++i) {
    char letter = command[i];
    if (quote == 0 && (letter == ' ' || letter == '\t' || letter == '\n')) {
      is_in_word = false;
      continue;
    }
    if (!is_in_word) words.emplace_back();
    is_in_word = true;
    if (letter == quote || (quote == 0 && (letter == '"' || letter == '\''))) {
      quote = quote == 0 ? letter : 0;
      continue;
    }
    if (letter == '\\' && quote != '\'' && i + 1 < command.size()) letter = command[++i];
    words.back() += letter;
  }
  return quote == 0 ? std::optional(words) : std::nullopt;
}

bool is_in_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  const bool is_path = program.find('/') != std::string::npos;
  for (const std::string_view folder : split(is_path ? "" : path == nullptr ? "/bin:/usr/bin" : path, ':')) {
    const std::string file = is_path ? program : std::string(folder) + "/" + program;
    struct stat found {};
    if (::stat(file.c_str(), &found) == 0 && S_ISREG(found.st_mode) && ::access(file.c_str(), X_OK) == 0) return true;
  }
  return false;
}

std::string own_program() {
  return std::filesystem::read_symlink("/proc/self/exe").string();
}

Subprocess::Subprocess(const ProcessSpec& command) : out_(command.max_output_bytes), err_(command.max_output_bytes) {
  ProcessOptions options;
  options.folder = command.folder;
  options.inherited = command.inherited;
  UniqueFd input;
  if (command.input) input = memory_file(*command.input);
  options.stdin_fd = input.get();
  if (command.capture) {
    options.stdout_fd = out_.write_end().get();
    options.stderr_fd = err_.write_end().get();
  }
  pid_ = exec_process(command.argv, command.environment, options);
  for (CapturedOutput* output : {&out_, &err_}) output->write_end().reset();
}

Subprocess::~Subprocess() {
  kill();
}

bool Subprocess::wait_for(double seconds) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::duration<double>(seconds);
  // The process is waited for without being reaped, so that its number stays its own until its group is killed.
  while (!ended_) {
    siginfo_t info{};
    const int failed = ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
    if (info.si_pid == pid_ || (failed != 0 && errno != EINTR)) {
      kill();
    } else {
      const double left = std::chrono::duration<double>(deadline - Clock::now()).count();
      if (left <= 0) return false;
      // The end of its output usually shows its end.
      const bool is_open = out_.read_end() >= 0 || err_.read_end() >= 0;
      collect(std::clamp(static_cast<int>(std::ceil(1e3 * left)), 1, is_open ? 20 : 2));
    }
  }
  collect(0);
  return true;
}

void Subprocess::kill() {
  if (ended_) return;
  ::kill(-pid_, SIGKILL);  // before it is reaped: until then its group's number is its own
  while (::waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
  }
  ended_ = true;
}

void Subprocess::collect(int milliseconds) {
  std::array<pollfd, 2> waits{};
  nfds_t count = 0;
  for (const CapturedOutput* output : {&out_, &err_}) {
    if (output->read_end() >= 0) waits[count++] = {output->read_end(), POLLIN, 0};
  }
  ::poll(waits.data(), count, milliseconds);
  out_.read();
  err_.read();
}

std::string ProgramEnd::message() const {
  constexpr std::size_t kMostBytes = 300;
  std::string message = one_line(err);
  if (message.size() > kMostBytes) message = message.substr(0, kMostBytes) + " ...";
  const std::string how = timed_out ? fmt::format("timed out after {:g} s", max_seconds)
                                    : (WIFSIGNALED(status) ? "was " : "") + describe_status(status);
  return message.empty() ? how : how + ": " + message;
}

ProgramEnd run_program(const ProcessSpec& command, double max_seconds) {
  Subprocess process(command);
  ProgramEnd end;
  end.max_seconds = max_seconds;
  end.timed_out = !process.wait_for(max_seconds);
  if (end.timed_out) {
    ::kill(process.pid(), SIGTERM);
    if (!process.wait_for(kGraceSeconds)) process.kill();
  }
  end.status = process.status();
  end.out = process.out();
  end.err = process.err();
  return end;
}

}  // namespace lab
