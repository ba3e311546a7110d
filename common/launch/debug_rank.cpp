#include "common/launch/debug_rank.h"

#include <fmt/format.h>
#include <unistd.h>

#include <vector>

#include "common/base/errors.h"

namespace lab {
namespace {

std::string own_path() {
  char path[4096];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof(path));
  return length > 0 ? std::string(path, static_cast<std::size_t>(length)) : "";
}

}  // namespace

void start_under_debugger(int argc, char** argv, int num_ranks, int debug_rank) {
  if (debug_rank >= num_ranks) {
    throw UsageError(fmt::format("--debug-rank {}: expected 0 to {}", debug_rank, num_ranks - 1));
  }
  const std::string self = own_path();
  const std::string labrun = self.substr(0, self.find_last_of('/') + 1) + "labrun";
  std::vector<std::string> words = {
      labrun, "--standalone", "--nproc-per-node", std::to_string(num_ranks), "--debug-rank", std::to_string(debug_rank),
      self};
  words.insert(words.end(), argv + 1, argv + argc);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execv(labrun.c_str(), arguments.data());
  throw UsageError(fmt::format("--debug-rank: expected {} to exist; hint: ./lab build", labrun));
}

}  // namespace lab
