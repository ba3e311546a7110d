#include "grading/mutants/generated/trials/orders.h"

#include <nlohmann/json.hpp>

namespace lab::grading::generated {
namespace {

using nlohmann::json;

std::string text_of(const json& document) {
  return document.dump(-1, ' ', false, json::error_handler_t::replace);
}

json json_of(const RunReport& report) {
  return {{"run", report.run},         {"right", report.right},   {"skipped", report.skipped},
          {"how", report.how},         {"why", report.why},       {"symptom", report.symptom},
          {"seconds", report.seconds}, {"places", report.places}, {"fingerprint", report.fingerprint}};
}

RunReport run_of(const json& one) {
  RunReport report;
  one.at("run").get_to(report.run);
  one.at("right").get_to(report.right);
  one.at("skipped").get_to(report.skipped);
  one.at("how").get_to(report.how);
  one.at("why").get_to(report.why);
  one.at("symptom").get_to(report.symptom);
  one.at("seconds").get_to(report.seconds);
  one.at("places").get_to(report.places);
  one.at("fingerprint").get_to(report.fingerprint);
  return report;
}

}  // namespace

std::string to_json(const TrialOrder& order) {
  json runs = json::array(), trials = json::array(), expected = json::array();
  for (const TrialRun& run : order.runs) runs.push_back({run.case_index, run.num_ranks, run.seed, run.seconds});
  for (const Trial& trial : order.trials) trials.push_back({trial.id, trial.runs});
  for (const auto& [run, fingerprint] : order.expected) expected.push_back({run, fingerprint});
  return text_of({{"until", order.until == TrialOrder::Until::kWrong ? "wrong" : "differs"},
                  {"notes_places", order.notes_places},
                  {"num_mutants", order.num_mutants},
                  {"jobs", order.jobs},
                  {"runs", runs},
                  {"trials", trials},
                  {"expected", expected}});
}

TrialOrder order_from_json(const std::string& text) {
  const json document = json::parse(text);
  TrialOrder order;
  order.until = document.at("until") == "wrong" ? TrialOrder::Until::kWrong : TrialOrder::Until::kDiffers;
  document.at("notes_places").get_to(order.notes_places);
  document.at("num_mutants").get_to(order.num_mutants);
  document.at("jobs").get_to(order.jobs);
  for (const json& run : document.at("runs")) order.runs.push_back({run.at(0), run.at(1), run.at(2), run.at(3)});
  for (const json& trial : document.at("trials")) order.trials.push_back({trial.at(0), trial.at(1)});
  for (const json& one : document.at("expected")) order.expected[one.at(0)] = one.at(1);
  return order;
}

std::string to_json(const RunReport& report) {
  return text_of(json_of(report));
}

RunReport run_from_json(const std::string& text) {
  return run_of(json::parse(text));
}

std::string to_json(const TrialReport& report) {
  json runs = json::array();
  for (const RunReport& run : report.runs) runs.push_back(json_of(run));
  return text_of({{"id", report.id}, {"ended", report.ended}, {"runs", runs}});
}

TrialReport report_from_json(const std::string& text) {
  const json document = json::parse(text);
  TrialReport report;
  document.at("id").get_to(report.id);
  document.at("ended").get_to(report.ended);
  for (const json& run : document.at("runs")) report.runs.push_back(run_of(run));
  return report;
}

}  // namespace lab::grading::generated
