#include "common/launch/outcome_files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
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
                    event.bytes, event.operation, event.where, event.start_seconds, event.end_seconds, event.kind,
                    event.round, event.label});
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
  event.kind = entry.at(11);
  event.round = entry.at(12);
  event.label = entry.at(13);
  return event;
}

std::string path_of(const std::string& folder, int rank, const char* ending) {
  return fmt::format("{}/rank{}.{}", folder, rank, ending);
}

json document_of(const RankOutcome& outcome) {
  json document = {{"report", to_json(outcome.report)},
                   {"trace", trace_to_json(outcome.trace)},
                   {"exit_code", static_cast<int>(outcome.exit_code)}};
  if (outcome.failure)
    document["failure"] = {{"exit_code", outcome.failure->exit_code}, {"sentence", outcome.failure->sentence}};
  return document;
}

RankOutcome outcome_of(const json& document) {
  RankOutcome outcome;
  outcome.report = rank_report_from_json(document.at("report").get<std::string>());
  outcome.exit_code = static_cast<ExitCode>(document.at("exit_code").get<int>());
  for (const json& entry : document.at("trace")) outcome.trace.push_back(trace_event_from_json(entry));
  if (document.contains("failure")) {
    outcome.failure = RankFailure{document["failure"].at("exit_code"), document["failure"].at("sentence")};
  }
  return outcome;
}

std::string text_of(const json& document) {
  return document.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::optional<json> read_json(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  return json::parse(file);
}

TensorMap load_tensors(const std::string& path) {
  return access(path.c_str(), R_OK) == 0 ? load_safetensors(path) : TensorMap{};
}

}  // namespace

std::string to_json(const RankOutcome& outcome) {
  return text_of(document_of(outcome));
}

RankOutcome outcome_from_json(const std::string& text) {
  return outcome_of(json::parse(text));
}

void save_outcome(const std::string& folder, const RankOutcome& outcome) {
  const int rank = outcome.report.rank;
  if (!outcome.tensors.empty()) save_safetensors(path_of(folder, rank, "safetensors"), outcome.tensors);
  write_file_atomically(path_of(folder, rank, "json"), to_json(outcome));
}

std::optional<RankOutcome> load_outcome(const std::string& folder, int rank) {
  const auto document = read_json(path_of(folder, rank, "json"));
  if (!document) return std::nullopt;
  RankOutcome outcome = outcome_of(*document);
  outcome.tensors = load_tensors(path_of(folder, rank, "safetensors"));
  return outcome;
}

void save_outcomes(const std::string& folder, const std::vector<RankOutcome>& outcomes) {
  json documents = json::array();
  TensorMap tensors;
  for (const RankOutcome& outcome : outcomes) {
    documents.push_back(document_of(outcome));
    for (const auto& [name, tensor] : outcome.tensors)
      tensors[fmt::format("{}/{}", outcome.report.rank, name)] = tensor;
  }
  if (!tensors.empty()) save_safetensors(folder + "/world.safetensors", tensors);
  write_file_atomically(folder + "/world.json", text_of(documents));
}

std::vector<RankOutcome> load_outcomes(const std::string& folder) {
  std::vector<RankOutcome> outcomes;
  const auto documents = read_json(folder + "/world.json");
  if (!documents) return outcomes;
  for (const json& document : *documents) outcomes.push_back(outcome_of(document));
  for (const auto& [name, tensor] : load_tensors(folder + "/world.safetensors")) {
    const std::size_t slash = name.find('/');
    outcomes.at(std::stoul(name.substr(0, slash))).tensors[name.substr(slash + 1)] = tensor;
  }
  return outcomes;
}

}  // namespace lab
