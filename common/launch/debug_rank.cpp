#include "common/launch/debug_rank.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <vector>

#include "common/api/errors.h"
#include "common/base/subprocess.h"

namespace lab::launch {

void start_under_debugger(const std::vector<std::string>& arguments, int num_ranks, int debug_rank) {
  if (debug_rank >= num_ranks) {
    throw UsageError(fmt::format("--debug-rank {}: expected 0 to {}", debug_rank, num_ranks - 1));
  }
  const std::string self = own_program(), labrun = std::filesystem::path(self).replace_filename("labrun").string();
  std::vector<std::string> command = {
      labrun, "--standalone", "--nproc-per-node", std::to_string(num_ranks), "--debug-rank", std::to_string(debug_rank),
      self};
  command.insert(command.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& argument : command) argv.push_back(argument.data());
  argv.push_back(nullptr);
  execv(labrun.c_str(), argv.data());
  throw UsageError(fmt::format("--debug-rank: expected {} to exist; hint: ./lab build", labrun));
}

std::string debugger_command(const std::string& lab, const std::string& check, int num_ranks, int rank) {
  return fmt::format("./lab run {}{}{} --nproc {} --debug-rank {}", lab, check.empty() ? "" : " run ", check, num_ranks,
                     rank);
}

}  // namespace lab::launch
