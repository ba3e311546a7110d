#include "common/testing/processes.h"

#include <dirent.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>
#include <thread>

#include "common/base/subprocess.h"

namespace lab {
namespace {

struct Stat {
  char state = 'X';
  pid_t parent = 0, group = 0, session = 0;
};

Stat load_stat(const std::string& pid) {
  Stat stat;
  const std::string line = file_text("/proc/" + pid + "/stat");
  if (line.empty()) return stat;
  std::istringstream fields(line.substr(line.rfind(')') + 1));
  fields >> stat.state >> stat.parent >> stat.group >> stat.session;
  return stat;
}

bool lives(const Stat& stat) {
  return stat.state != 'X' && stat.state != 'Z';
}

std::vector<pid_t> all_living(const std::function<bool(const std::string& pid, const Stat&)>& wanted) {
  std::vector<pid_t> found;
  DIR* proc = ::opendir("/proc");
  while (const dirent* entry = ::readdir(proc)) {
    if (std::string(entry->d_name).find_first_not_of("0123456789") != std::string::npos) continue;
    const Stat stat = load_stat(entry->d_name);
    if (lives(stat) && wanted(entry->d_name, stat)) found.push_back(static_cast<pid_t>(std::stol(entry->d_name)));
  }
  ::closedir(proc);
  return found;
}

}  // namespace

bool becomes_true(const std::function<bool()>& condition) {
  for (int i = 0; i < 6000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

bool is_alive(pid_t pid) {
  return lives(load_stat(std::to_string(pid)));
}

std::vector<pid_t> processes_of_session(pid_t session) {
  return all_living([session](const std::string&, const Stat& stat) { return stat.session == session; });
}

std::vector<pid_t> processes_with_variable(const std::string& text) {
  return all_living([&text](const std::string& pid, const Stat&) {
    return file_text("/proc/" + pid + "/environ").find(text) != std::string::npos;
  });
}

std::vector<pid_t> processes_in(const std::string& folder) {
  return all_living([&folder](const std::string& pid, const Stat&) {
    for (const char* link : {"exe", "cwd"}) {
      std::error_code unreadable;
      const std::string target = std::filesystem::read_symlink("/proc/" + pid + "/" + link, unreadable).string();
      if (target.compare(0, folder.size() + 1, folder + "/") == 0 || target == folder) return true;
    }
    return false;
  });
}

std::vector<pid_t> find_children(pid_t parent) {
  return all_living([parent](const std::string&, const Stat& stat) { return stat.parent == parent; });
}

int choose_exit_code(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return exit_code_of_status(status);
}

std::string file_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace lab
