#include "common/log/run_report.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "common/base/failure.h"
#include "common/log/sharing.h"

namespace lab::log {
namespace {

using Json = nlohmann::ordered_json;

Json from_double(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

double to_double(const Json& json) {
  if (json.is_number()) return json.get<double>();
  const std::string name = json.get<std::string>();
  if (name == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (name == "inf") return std::numeric_limits<double>::infinity();
  if (name == "-inf") return -std::numeric_limits<double>::infinity();
  throw UsageError("expected a number, got '" + name + "'");
}

struct LineWriter {
  Json operator()(const std::string& text) const { return {{"kind", "text"}, {"text", text}}; }
  Json operator()(const JudgedLine& judged) const {
    const MatchLine& line = judged.line;
    return {{"kind", "match"},
            {"prefix", line.prefix},
            {"rank", line.rank},
            {"match", line.match},
            {"expected", judged.expect == Expect::kMatch},
            {"max_diff", from_double(line.max_diff)},
            {"mean_diff", from_double(line.mean_diff)}};
  }
  Json operator()(const SkippedLine& line) const {
    return {{"kind", "skipped"}, {"prefix", line.prefix}, {"rank", line.rank}, {"reason", line.reason}};
  }
};

PrintedLine to_line(const Json& json) {
  const std::string kind = json.at("kind").get<std::string>();
  if (kind == "text") return json.at("text").get<std::string>();
  if (kind == "skipped") {
    return SkippedLine{json.at("prefix").get<std::string>(), json.at("rank").get<int>(),
                       json.at("reason").get<std::string>()};
  }
  if (kind != "match") throw UsageError("expected a line of kind text, match or skipped, got '" + kind + "'");
  const MatchLine line{json.at("prefix").get<std::string>(), json.at("rank").get<int>(), json.at("match").get<bool>(),
                       to_double(json.at("max_diff")), to_double(json.at("mean_diff"))};
  return JudgedLine{line, json.at("expected").get<bool>() ? Expect::kMatch : Expect::kDiffer};
}

Json from_model_time(const ModelTime& time) {
  return {{"total", time.total}, {"work", time.work}, {"waiting", time.waiting}, {"overhead", time.overhead}};
}

ModelTime to_model_time(const Json& json) {
  return {json.at("total").get<std::int64_t>(), json.at("work").get<std::int64_t>(),
          json.at("waiting").get<std::int64_t>(), json.at("overhead").get<std::int64_t>()};
}

Json from_sharing(const Sharing& part) {
  const auto known = [](double figure) { return figure > 0 ? Json(figure) : Json(); };
  return {{"name", part.name},        {"model_seconds", part.model_seconds},
          {"waiting", part.waiting},  {"speed_up", known(part.speed_up)},
          {"work", known(part.work)}, {"peak", known(part.peak)}};
}

Json from_use(const ResourceUse& use) {
  return {
      {"flops", use.flops}, {"peak_tensor_bytes", use.peak_bytes}, {"model_time_ps", from_model_time(use.model_time)}};
}

ResourceUse to_use(const Json& json) {
  return {json.at("flops").get<std::int64_t>(), json.at("peak_tensor_bytes").get<std::int64_t>(),
          to_model_time(json.at("model_time_ps")), 0};
}

Json from_rank(const RankReport& report) {
  Json lines = Json::array();
  for (const PrintedLine& line : report.lines) lines.push_back(std::visit(LineWriter{}, line));
  Json ledger = Json::array();
  for (const LedgerEntry& entry : report.ledger) {
    ledger.push_back({{"operation", entry.operation},
                      {"calls", entry.calls},
                      {"messages", entry.messages},
                      {"bytes_sent", entry.bytes_sent},
                      {"bytes_received", entry.bytes_received},
                      {"rounds", entry.rounds}});
  }
  Json parts = Json::array();
  for (const PartReport& part : report.parts) {
    parts.push_back(
        {{"name", part.name}, {"used", from_use(part.used)}, {"of_one_process", from_use(part.of_one_process)}});
  }
  return {{"rank", report.rank},
          {"lines", std::move(lines)},
          {"error", report.error},
          {"ledger", std::move(ledger)},
          {"peak_tensor_bytes", report.peak_tensor_bytes},
          {"flops", report.flops},
          {"model_time_ps", from_model_time(report.model_time)},
          {"parts", std::move(parts)}};
}

RankReport to_rank(const Json& json) {
  RankReport report;
  report.rank = json.at("rank").get<int>();
  for (const Json& line : json.at("lines")) report.lines.push_back(to_line(line));
  report.error = json.at("error").get<std::string>();
  for (const Json& entry : json.at("ledger")) {
    report.ledger.push_back({entry.at("operation").get<std::string>(), entry.at("calls").get<std::uint64_t>(),
                             entry.at("messages").get<std::uint64_t>(), entry.at("bytes_sent").get<std::uint64_t>(),
                             entry.at("bytes_received").get<std::uint64_t>(), entry.at("rounds").get<std::uint64_t>()});
  }
  report.peak_tensor_bytes = json.at("peak_tensor_bytes").get<std::int64_t>();
  report.flops = json.at("flops").get<std::int64_t>();
  report.model_time = to_model_time(json.at("model_time_ps"));
  for (const Json& part : json.at("parts"))
    report.parts.push_back(
        {part.at("name").get<std::string>(), to_use(part.at("used")), to_use(part.at("of_one_process"))});
  return report;
}

/// Text that is not UTF-8 (an error message with raw bytes) must not keep a run from being reported.
std::string dump(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace) + "\n";
}

template <typename Read>
auto read_json(const char* what, const std::string& text, Read read) {
  try {
    return read(Json::parse(text));
  } catch (const std::exception& failure) {
    throw UsageError(std::string(what) + " cannot be read: " + message_of(failure));
  }
}

}  // namespace

std::string to_json(const RankReport& report) {
  return dump(from_rank(report), -1);
}

std::string to_json(const RunReport& report) {
  Json ranks = Json::array();
  for (const RankReport& rank : report.ranks) ranks.push_back(from_rank(rank));
  Json sharing = Json::array();
  for (const Sharing& part : sharing_of(report.ranks)) sharing.push_back(from_sharing(part));
  Json run = {{"program", report.program},
              {"version", report.version},
              {"world", report.world},
              {"num_ranks", report.num_ranks},
              {"seed", report.seed},
              {"exit_code", static_cast<int>(report.exit_code)},
              {"error", report.error},
              {"wall_seconds", from_double(report.wall_seconds)},
              {"model_rates", report.model_rates},
              {"sharing", std::move(sharing)},
              {"ranks", std::move(ranks)}};
  if (!report.timeline.empty()) run["timeline"] = Json::parse(report.timeline);
  return dump(run, 2);
}

RankReport rank_report_from_json(const std::string& text) {
  return read_json("a rank's report", text, to_rank);
}

}  // namespace lab::log
