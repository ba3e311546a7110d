#include "common/launch/outcome_files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>

#include "common/base/errors.h"
#include "common/base/files.h"
#include "common/base/numbers.h"
#include "common/launch/supervise/memory_file.h"
#include "common/tensor/files/safetensors.h"

namespace lab::launch {
namespace {

using nlohmann::json;

json trace_to_json(const std::vector<comm::TraceEvent>& trace) {
  json list = json::array();
  for (const comm::TraceEvent& event : trace) {
    list.push_back({event.rank,
                    event.direction == comm::Direction::kSend,
                    event.peer,
                    event.group,
                    event.tag,
                    event.sequence,
                    event.bytes,
                    event.operation,
                    event.where,
                    event.start_seconds,
                    event.end_seconds,
                    event.kind,
                    event.round,
                    event.label,
                    event.arrived_seconds,
                    event.model_start,
                    event.model_end,
                    event.model_arrived,
                    event.model_posted,
                    event.model_waited,
                    event.model_period});
  }
  return list;
}

comm::TraceEvent trace_event_from_json(const json& entry) {
  comm::TraceEvent event;
  event.rank = entry.at(0);
  event.direction = entry.at(1).get<bool>() ? comm::Direction::kSend : comm::Direction::kRecv;
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
  event.arrived_seconds = entry.at(14);
  event.model_start = entry.at(15);
  event.model_end = entry.at(16);
  event.model_arrived = entry.at(17);
  event.model_posted = entry.at(18);
  event.model_waited = entry.at(19);
  event.model_period = entry.at(20);
  return event;
}

json document_of(const RankOutcome& outcome) {
  json document = {{"report", to_json(outcome.report)},
                   {"trace", trace_to_json(outcome.trace)},
                   {"exit_code", static_cast<int>(outcome.exit_code)}};
  if (outcome.failure)
    document["failure"] = {{"exit_code", outcome.failure->exit_code}, {"message", outcome.failure->message}};
  return document;
}

RankOutcome outcome_of(const json& document) {
  RankOutcome outcome;
  outcome.report = log::rank_report_from_json(document.at("report").get<std::string>());
  outcome.exit_code = static_cast<ExitCode>(document.at("exit_code").get<int>());
  for (const json& entry : document.at("trace")) outcome.trace.push_back(trace_event_from_json(entry));
  if (document.contains("failure")) {
    outcome.failure = RankFailure{document["failure"].at("exit_code"), document["failure"].at("message")};
  }
  return outcome;
}

std::string text_of(const json& document) {
  return document.dump(-1, ' ', false, json::error_handler_t::replace);
}

/// Precedes the data, and is written last.
struct Header {
  std::uint64_t magic, document_bytes, tensor_bytes;
  static constexpr std::uint64_t kMagic = 0x6c61625f6f757463;  // "lab_outc"
};

void write_all(int fd, std::string_view bytes, off_t offset) {
  int failure = ::lseek(fd, offset, SEEK_SET) < 0 ? errno : 0;
  if (failure == 0) failure = write_fully(fd, bytes);
  if (failure != 0)
    throw UsageError(
        fmt::format("cannot pass on a rank's results ({}): {}", describe_bytes(bytes.size()), std::strerror(failure)));
}

}  // namespace

std::string to_json(const RankOutcome& outcome) {
  return text_of(document_of(outcome));
}

RankOutcome outcome_from_json(const std::string& text) {
  return outcome_of(json::parse(text));
}

void save_outcomes(int fd, const std::vector<RankOutcome>& outcomes) {
  json documents = json::array();
  TensorMap tensors;
  for (const RankOutcome& outcome : outcomes) {
    documents.push_back(document_of(outcome));
    for (const auto& [name, tensor] : outcome.tensors)
      tensors[fmt::format("{}/{}", outcome.report.rank, name)] = tensor;
  }
  const std::string document = text_of(documents), tensor_bytes = tensors.empty() ? "" : to_safetensors(tensors);
  const Header header = {Header::kMagic, document.size(), tensor_bytes.size()};
  write_all(fd, document, sizeof(header));
  write_all(fd, tensor_bytes, static_cast<off_t>(sizeof(header) + document.size()));
  write_all(fd, {reinterpret_cast<const char*>(&header), sizeof(header)}, 0);
}

std::vector<RankOutcome> load_outcomes(int fd) {
  const std::string bytes = bytes_of(fd);
  Header header{};
  if (bytes.size() < sizeof(header)) return {};
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (header.magic != Header::kMagic) return {};
  const std::string_view content = std::string_view(bytes).substr(sizeof(header));
  std::map<int, RankOutcome> by_rank;
  for (const json& document : json::parse(content.substr(0, header.document_bytes))) {
    RankOutcome outcome = outcome_of(document);
    by_rank.emplace(outcome.report.rank, std::move(outcome));
  }
  if (header.tensor_bytes > 0) {
    const auto found = from_safetensors(content.substr(header.document_bytes), "a rank's results", header.tensor_bytes);
    for (const auto& [name, tensor] : found.tensors) {
      const std::size_t slash = name.find('/');
      by_rank.at(std::stoi(name.substr(0, slash))).tensors[name.substr(slash + 1)] = tensor;
    }
  }
  std::vector<RankOutcome> outcomes;
  for (auto& [rank, outcome] : by_rank) outcomes.push_back(std::move(outcome));
  return outcomes;
}

}  // namespace lab::launch
