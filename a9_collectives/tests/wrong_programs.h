#pragma once

#include <fmt/format.h>

#include <regex>

#include "common/launch/tests/worlds.h"

// Runs a wrong student program, a collective with one mistake, on every rank of a world, and says how it ended.
namespace lab::a9 {

using Program = at::Tensor (*)(at::Tensor, PointToPoint&);

/// Replaces the source lines of the wrong programs by "@", so that whole messages can be compared.
inline std::string without_lines(const std::string& message) {
  static const std::regex line("wrong_(programs|messages)_test\\.cpp:[0-9]+");
  return std::regex_replace(message, line, "@");
}

struct Ending {
  ExitCode exit_code = ExitCode::kAllMatch;  ///< of the world
  std::string message;
  std::vector<ExitCode> exit_codes;  ///< by rank
  std::vector<std::string> messages;
};

/// Rank r calls the program with four floats, all r + 1.
template <typename World>
Ending ending_of(int size, Program program) {
  const WorldOutcome outcome = run_ranks(world_of<World>(size), [program](Communicator& comm) {
    const at::Tensor tensor = at::full({4}, comm.rank() + 1.0F);
    return TensorMap{{"out", program(tensor, comm.point_to_point())}};
  });
  Ending ending;
  ending.exit_code = static_cast<ExitCode>(outcome.exit_code());
  if (outcome.failure) ending.message = without_lines(outcome.failure->message);
  for (int rank = 0; rank < size; ++rank) {
    ending.exit_codes.push_back(static_cast<ExitCode>(exit_code_of_rank(outcome, rank)));
    ending.messages.push_back(without_lines(message_of_rank(outcome, rank)));
  }
  return ending;
}

}  // namespace lab::a9
