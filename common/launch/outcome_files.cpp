#include "common/launch/outcome_files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "common/report/atomic_file.h"
#include "common/tensor/safetensors.h"

namespace lab {
namespace {

using nlohmann::json;

json trace_to_json(const std::vector<TraceEvent>& trace) {
  json list = json::array();
  for (const TraceEvent& event : trace) {
    list.push_back({event.rank, event.direction == Direction::kSend, event.peer, event.group, event.tag, event.sequence,
                    event.bytes, event.operation, event.where, event.start_seconds, event.end_seconds,
                    event.collective});
  }
  return list;
}

TraceEvent trace_event_from_json(const json& entry) {
  TraceEvent event;
  event.rank = entry.at(0);
  event.direction = entry.at(1).get<bool>() ? Direction::kSend : Direction::kRecv;
  event.peer = entry.at(2);
  event.group = entry.at(3);
  event.tag = entry.at(4);
  event.sequence = entry.at(5);
  event.bytes = entry.at(6);
  event.operation = entry.at(7);
  event.where = entry.at(8);
  event.start_seconds = entry.at(9);
  event.end_seconds = entry.at(10);
  event.collective = entry.at(11);
  return event;
}

std::string path_of(const std::string& folder, int rank, const char* ending) {
  return fmt::format("{}/rank{}.{}", folder, rank, ending);
}

}  // namespace

std::string to_json(const RankOutcome& outcome) {
  json document = {{"report", to_json(outcome.report)},
                   {"trace", trace_to_json(outcome.trace)},
                   {"exit_code", static_cast<int>(outcome.exit_code)}};
  if (outcome.failure)
    document["failure"] = {{"exit_code", outcome.failure->exit_code}, {"sentence", outcome.failure->sentence}};
  return document.dump(-1, ' ', false, json::error_handler_t::replace);
}

RankOutcome outcome_from_json(const std::string& text) {
  const json document = json::parse(text);
  RankOutcome outcome;
  outcome.report = rank_report_from_json(document.at("report").get<std::string>());
  outcome.exit_code = static_cast<ExitCode>(document.at("exit_code").get<int>());
  for (const json& entry : document.at("trace")) outcome.trace.push_back(trace_event_from_json(entry));
  if (document.contains("failure")) {
    outcome.failure = RankFailure{document["failure"].at("exit_code"), document["failure"].at("sentence")};
  }
  return outcome;
}

void save_outcome(const std::string& folder, const RankOutcome& outcome) {
  const int rank = outcome.report.rank;
  if (!outcome.tensors.empty()) save_safetensors(path_of(folder, rank, "safetensors"), outcome.tensors);
  write_file_atomically(path_of(folder, rank, "json"), to_json(outcome));
}

std::optional<RankOutcome> load_outcome(const std::string& folder, int rank) {
  std::ifstream file(path_of(folder, rank, "json"), std::ios::binary);
  if (!file) return std::nullopt;
  RankOutcome outcome = outcome_from_json(std::string(std::istreambuf_iterator<char>(file), {}));
  const std::string tensors = path_of(folder, rank, "safetensors");
  if (access(tensors.c_str(), R_OK) == 0) outcome.tensors = load_safetensors(tensors);
  return outcome;
}

}  // namespace lab
