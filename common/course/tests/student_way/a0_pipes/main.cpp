#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>
#include <string>

#include "a0_pipes/pipes.h"

// A lab without ranks: its check prints and writes what ./lab reads from a lab's check.
namespace {

int choose_exit_code(const std::string& task) {
  try {
    if (task == "a0.pipe") return pipe(3) == 3 ? 0 : 1;
    return valve(3, true) == 3 && valve(3, false) == 0 ? 0 : 1;
  } catch (const char*) {
    return 3;
  }
}

/// A program has nothing of the lock under which ./lab has built it.
int run(const std::string& program) {
  const std::string lock = program.substr(0, program.rfind('/')) + "/../../release.lock";
  const bool is_free = std::system(("flock --shared --nonblock '" + lock + "' true").c_str()) == 0;
  return std::puts(is_free ? "a run of pipes" : "a run under a lock") < 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || std::strcmp(argv[1], "check") != 0) return run(argv[0]);
  std::set<std::string> tasks;
  std::string json_file, junit_file;
  for (int i = 2; i < argc; ++i) {
    if (std::strcmp(argv[i], "--json") == 0)
      json_file = argv[++i];
    else if (std::strcmp(argv[i], "--junit") == 0)
      junit_file = argv[++i];
    else if (argv[i][0] != '-')  // --others: there are none
      tasks.insert(argv[i]);
  }
  int first = 0;
  std::string json, junit;
  for (const std::string task : {"a0.pipe", "a0.valve"}) {
    if (!tasks.empty() && tasks.count(task) == 0) continue;
    const int code = choose_exit_code(task);
    if (first == 0) first = code;
    std::printf("%s: %s\n", task.c_str(),
                code == 0   ? "1 of 1 checks right"
                : code == 1 ? "wrong"
                            : "not implemented: stops at TODO(it)");
    json += std::string(json.empty() ? "" : ",") + "{\"task\": \"" + task +
            "\", \"skipped\": false, \"passed\": " + (code == 0 ? "true" : "false") +
            ", \"exit_code\": " + std::to_string(code) + ", \"todo\": " + (code == 3 ? "true" : "false") +
            ", \"message\": \"not implemented\", \"checks\": [{\"name\": \"One\", \"skipped\": false, \"passed\": " +
            (code == 0 ? "true" : "false") + ", \"message\": \"too wet\", \"likely\": \"\"}]}";
    junit += "<testcase name=\"" + task + "\">" + (code == 0 ? "" : "<failure message=\"too wet\"/>") + "</testcase>";
  }
  std::ofstream(json_file) << "[" << json << "]";
  if (!junit_file.empty())
    std::ofstream(junit_file) << "<testsuites><testsuite name=\"a0_pipes\">" << junit << "</testsuite></testsuites>";
  return first;
}
