#include "common/launch/debug_rank.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <vector>

#include "common/base/errors.h"
#include "common/base/subprocess.h"

namespace lab {

void start_under_debugger(int argc, char** argv, int num_ranks, int debug_rank) {
  if (debug_rank >= num_ranks) {
    throw UsageError(fmt::format("--debug-rank {}: expected 0 to {}", debug_rank, num_ranks - 1));
  }
  const std::string self = own_program(), labrun = std::filesystem::path(self).replace_filename("labrun").string();
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
