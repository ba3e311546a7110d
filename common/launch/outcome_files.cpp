#include "common/launch/outcome_files.h"

#include <fmt/format.h>

#include <cstring>

#include "common/base/files.h"
#include "common/base/json.h"
#include "common/base/numbers.h"
#include "common/launch/supervise/memory_file.h"
#include "common/tensor/files/safetensors.h"

namespace lab::comm {

LAB_JSON_ROW(TraceEvent, rank, direction, peer, group, tag, sequence, bytes, operation, where, start_seconds,
             end_seconds, kind, round, label, arrived_seconds, model_start, model_end, model_arrived, model_posted,
             model_waited, model_period)

}  // namespace lab::comm

namespace lab::launch {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RankFailure, exit_code, message, crashed_rank, task)

static void to_json(nlohmann::json& to, const RankOutcome& outcome) {
  to = {{"report", log::to_json(outcome.report)}, {"trace", outcome.trace}, {"exit_code", outcome.exit_code}};
  if (outcome.failure) to["failure"] = *outcome.failure;
}

static void from_json(const nlohmann::json& from, RankOutcome& outcome) {
  outcome.report = log::rank_report_from_json(from.at("report"));
  from.at("trace").get_to(outcome.trace);
  from.at("exit_code").get_to(outcome.exit_code);
  if (from.contains("failure")) outcome.failure = from["failure"].get<RankFailure>();
}

namespace {

constexpr const char* kOutcomesKey = "outcomes";  // of the metadata
constexpr const char* kWhat = "what a rank's process has left";

}  // namespace

std::string bytes_of_outcomes(const std::vector<RankOutcome>& outcomes) {
  TensorMap tensors;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    for (const auto& [name, tensor] : outcomes[i].tensors) tensors[fmt::format("{}/{}", i, name)] = tensor;
  }
  return to_safetensors(tensors, {{kOutcomesKey, json_text(outcomes)}});
}

std::vector<RankOutcome> outcomes_from_bytes(std::string_view bytes) {
  SafetensorsContent content = from_safetensors(bytes, kWhat, bytes.size());
  auto outcomes = from_json_text<std::vector<RankOutcome>>(content.metadata[kOutcomesKey], kWhat);
  for (const auto& [name, tensor] : content.tensors) {
    const std::size_t slash = name.find('/');
    outcomes.at(std::stoul(name.substr(0, slash))).tensors[name.substr(slash + 1)] = tensor;
  }
  return outcomes;
}

void save_outcomes(int fd, const std::vector<RankOutcome>& outcomes) {
  const std::string bytes = bytes_of_outcomes(outcomes);
  const std::uint64_t size = bytes.size();
  int failure = write_fully(fd, {reinterpret_cast<const char*>(&size), sizeof(size)});
  if (failure == 0) failure = write_fully(fd, bytes);
  if (failure != 0)
    throw UsageError(
        fmt::format("cannot pass on a rank's results ({}): {}", describe_bytes(size), std::strerror(failure)));
}

std::vector<RankOutcome> load_outcomes(int fd) {
  const std::string bytes = bytes_of(fd);
  std::uint64_t size = 0;
  if (bytes.size() < sizeof(size)) return {};
  std::memcpy(&size, bytes.data(), sizeof(size));
  if (bytes.size() - sizeof(size) < size) return {};
  return outcomes_from_bytes(std::string_view(bytes).substr(sizeof(size)));
}

RankOutcome lost_outcome(int rank, const RankFailure& failure) {
  RankOutcome lost;
  lost.report.rank = rank;
  lost.report.error = failure.message;
  lost.failure = failure;
  return lost;
}

}  // namespace lab::launch
