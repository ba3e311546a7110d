#include "common/page/run_page.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "common/api/errors.h"
#include "common/base/text.h"
#include "common/page/html_page.h"
#include "common/page/shown_costs.h"
#include "common/plot/timeline_json.h"
#include "embedded/common/page/pages.h"

namespace lab::page {
namespace {

using nlohmann::json;

/// A figure that JSON may lack, see log/run_report.h.
std::string figure(const json& value) {
  if (value.is_null()) return "";
  return value.is_string() ? value.get<std::string>() : fmt::format("{:.6g}", value.get<double>());
}

std::string ratio(const json& value) {
  return value.is_null() ? "" : fmt::format("{:.2f}", value.get<double>());
}

json make_line(const json& line) {
  const std::string kind = line.at("kind");
  if (kind == "text") return {{"kind", "open"}, {"label", ""}, {"text", line.at("text")}};
  const std::string prefix = line.at("prefix");
  if (kind == "skipped")
    return {{"kind", "open"}, {"label", "skipped"}, {"text", prefix + ": " + line.at("reason").get<std::string>()}};
  const bool match = line.at("match"), expected = match == line.at("expected").get<bool>();
  return {{"kind", expected ? "right" : "wrong"},
          {"label", match ? "match" : "differ"},
          {"text", fmt::format("{} | Max diff: {} | Mean diff: {}", prefix, figure(line.at("max_diff")),
                               figure(line.at("mean_diff")))}};
}

json printed_by(const json& rank) {
  json lines = json::array();
  int num_lines = 0, num_wrong = 0;
  for (const json& line : rank.at("lines")) {
    lines.push_back(make_line(line));
    ++num_lines;
    if (lines.back().at("kind") == "wrong") ++num_wrong;
  }
  const std::string error = rank.at("error");
  const bool right = error.empty() && num_wrong == 0;
  return {{"rank", rank.at("rank")},
          {"kind", right ? "right" : "wrong"},
          {"label", !error.empty()  ? "failed"
                    : num_wrong > 0 ? fmt::format("{} not as expected", num_wrong)
                                    : counted(num_lines, "line")},
          {"open", !right || rank.at("rank") == 0},
          {"error", error},
          {"lines", lines}};
}

json list_values(const json& run) {
  const std::string program = run.at("program"), error = run.at("error");
  const int exit_code = run.at("exit_code");
  json ledger = json::array(), printed = json::array(), sharing = json::array();
  for (const json& rank : run.at("ranks")) {
    for (json entry : rank.at("ledger")) {
      for (const char* count : {"calls", "messages", "bytes_sent", "bytes_received", "rounds"})
        entry[count] = text_of_count(entry.at(count).get<std::int64_t>());
      entry["rank"] = rank.at("rank");
      ledger.push_back(entry);
    }
    printed.push_back(printed_by(rank));
  }
  for (const json& part : run.at("sharing")) {
    sharing.push_back({{"name", part.at("name")},
                       {"model_time", text_of_time(part.at("model_seconds").get<double>())},
                       {"speed_up", ratio(part.at("speed_up"))},
                       {"work", ratio(part.at("work"))},
                       {"waiting", fmt::format("{:.0f} %", 100 * part.at("waiting").get<double>())},
                       {"peak", ratio(part.at("peak"))}});
  }
  const json facts = {{{"what", "world"}, {"value", run.at("world")}},
                      {{"what", "seed"}, {"value", run.at("seed")}},
                      {{"what", "wall time"}, {"value", figure(run.at("wall_seconds")) + " s"}},
                      {{"what", "model time is of"}, {"value", run.at("model_rates")}},
                      {{"what", "version"}, {"value", run.at("version")}}};
  return {{"headline", fmt::format("{} on {}", program, counted(run.at("num_ranks").get<int>(), "rank"))},
          {"kind", exit_code == 0 ? "right" : "wrong"},
          {"outcome", exit_code == 0 ? "all as expected" : fmt::format("exit code {}", exit_code)},
          {"error", error},
          {"facts", facts},
          {"has_sharing", !sharing.empty()},
          {"sharing", sharing},
          {"ledger", ledger},
          {"printed", printed}};
}

}  // namespace

std::string run_page(const std::string& text, const std::string& path) {
  json values;
  std::vector<std::string> drawings;
  try {
    const json run = json::parse(text);
    values = list_values(run);
    if (run.contains("timeline")) drawings.push_back(plot::to_svg(plot::timeline_from_json(run.at("timeline"))));
  } catch (const std::exception& failure) {
    throw UsageError(fmt::format("{}: expected a run as `LAB --json FILE` writes it: {}", path, failure.what()));
  }
  values["has_timeline"] = !drawings.empty();
  return html_page(values.at("headline").get<std::string>(), embedded::kRunMustache, values, "", drawings);
}

}  // namespace lab::page
