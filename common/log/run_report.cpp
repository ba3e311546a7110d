#include "common/log/run_report.h"

#include <cmath>

#include "common/base/costs_json.h"
#include "common/log/sharing.h"

namespace lab::log {
namespace {

using nlohmann::json;

json from_double(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

double to_double(const json& figure) {
  return figure.is_string() ? std::stod(figure.get<std::string>()) : figure.get<double>();
}

struct LineWriter {
  json operator()(const std::string& text) const { return {{"kind", "text"}, {"text", text}}; }
  json operator()(const JudgedLine& judged) const {
    const MatchLine& line = judged.line;
    return {{"kind", "match"},
            {"prefix", line.prefix},
            {"rank", line.rank},
            {"match", line.match},
            {"expected", judged.expect == Expect::kMatch},
            {"max_diff", from_double(line.max_diff)},
            {"mean_diff", from_double(line.mean_diff)}};
  }
  json operator()(const SkippedLine& line) const {
    return {{"kind", "skipped"}, {"prefix", line.prefix}, {"rank", line.rank}, {"reason", line.reason}};
  }
};

json from_sharing(const Sharing& part) {
  const auto known = [](double figure) { return figure > 0 ? json(figure) : json(); };
  return {{"name", part.name},        {"model_seconds", part.model_seconds},
          {"waiting", part.waiting},  {"speed_up", known(part.speed_up)},
          {"work", known(part.work)}, {"peak", known(part.peak)}};
}

}  // namespace

static void to_json(json& to, const PrintedLine& line) {
  to = std::visit(LineWriter{}, line);
}

static void from_json(const json& from, PrintedLine& line) {
  const std::string kind = from.at("kind");
  if (kind == "text") {
    line = from.at("text").get<std::string>();
  } else if (kind == "skipped") {
    line = SkippedLine{from.at("prefix"), from.at("rank"), from.at("reason")};
  } else if (kind == "match") {
    line = JudgedLine{{from.at("prefix"), from.at("rank"), from.at("match"), to_double(from.at("max_diff")),
                       to_double(from.at("mean_diff"))},
                      from.at("expected").get<bool>() ? Expect::kMatch : Expect::kDiffer};
  } else {
    throw UsageError("expected a line of kind text, match or skipped, got '" + kind + "'");
  }
}

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PartReport, name, used, of_one_process)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RankReport, rank, lines, error, ledger, peak_tensor_bytes, flops, model_time_ps,
                                   parts)

std::string to_json(const RunReport& report) {
  json sharing = json::array();
  for (const Sharing& part : describe_sharing(report.ranks)) sharing.push_back(from_sharing(part));
  json run = {{"program", report.program},
              {"version", report.version},
              {"world", report.world},
              {"num_ranks", report.num_ranks},
              {"seed", report.seed},
              {"exit_code", static_cast<int>(report.exit_code)},
              {"error", report.error},
              {"wall_seconds", from_double(report.wall_seconds)},
              {"model_rates", report.model_rates},
              {"sharing", std::move(sharing)},
              {"ranks", report.ranks}};
  if (!report.timeline.empty()) run["timeline"] = json::parse(report.timeline);
  // Text that is not UTF-8 (an error message with raw bytes) must not keep a run from being reported.
  return run.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

json to_json(const RankReport& report) {
  return report;
}

RankReport rank_report_from_json(const json& from) {
  return from.get<RankReport>();
}

}  // namespace lab::log
