#include "common/log/run_report.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "common/testing/plain_test.h"

namespace {

lab::log::RankReport sample_rank() {
  lab::log::RankReport report;
  report.rank = 3;
  report.lines.emplace_back("[Rank 3] \"quoted\" \\ text");
  report.lines.emplace_back(
      lab::log::JudgedLine{{"DataParallel", 3, true, 2.3841858e-07, 1.0 / 3.0}, lab::log::Expect::kMatch});
  report.lines.emplace_back(lab::log::JudgedLine{
      {"", 3, false, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()},
      lab::log::Expect::kDiffer});
  report.lines.emplace_back(lab::log::SkippedLine{"Bias", 3, "none"});
  report.error = "rank 2 failed";
  report.ledger.push_back({"all_reduce", 1, 2, 18446744073709551615ull, 4, 5});
  report.peak_tensor_bytes = 1ll << 40;
  report.flops = (1ll << 60) + 1;
  report.model_time_ps = {(1ll << 61) + 1, 2, 3, 4};
  report.parts.push_back({"Pipeline \"1f1b\"", {5, {6, 0}, {7, 8, 9, 10}}, {11, {12, 0}, {13, 14, 15, 16}}});
  return report;
}

void check_same(const lab::log::RankReport& a, const lab::log::RankReport& b) {
  CHECK(a.rank == b.rank);
  REQUIRE(a.lines.size() == b.lines.size());
  for (std::size_t i = 0; i < a.lines.size(); ++i) CHECK(a.lines[i].index() == b.lines[i].index());
  CHECK(a.error == b.error);
  CHECK(a.peak_tensor_bytes == b.peak_tensor_bytes);
  CHECK(a.flops == b.flops);
  CHECK(a.model_time_ps == b.model_time_ps);
  REQUIRE(a.parts.size() == b.parts.size());
  for (std::size_t i = 0; i < a.parts.size(); ++i) {
    CHECK(a.parts[i].name == b.parts[i].name);
    CHECK(a.parts[i].used.flops == b.parts[i].used.flops);
    CHECK(a.parts[i].used.model_time == b.parts[i].used.model_time);
    CHECK(a.parts[i].of_one_process.memory.peak_bytes == b.parts[i].of_one_process.memory.peak_bytes);
    CHECK(a.parts[i].of_one_process.model_time == b.parts[i].of_one_process.model_time);
  }
  CHECK(lab::log::to_json(a) == lab::log::to_json(b));
}

}  // namespace

TEST_CASE("run report: a rank survives the round trip, figures bit for bit") {
  const lab::log::RankReport report = sample_rank();
  const lab::log::RankReport back = lab::log::rank_report_from_json(lab::log::to_json(report));
  check_same(report, back);
  CHECK(std::get<std::string>(back.lines[0]) == "[Rank 3] \"quoted\" \\ text");
  const auto& match = std::get<lab::log::JudgedLine>(back.lines[1]);
  CHECK(match.line.prefix == "DataParallel");
  CHECK(match.line.rank == 3);
  CHECK(match.line.match);
  CHECK(match.expect == lab::log::Expect::kMatch);
  CHECK(match.line.max_diff == 2.3841858e-07);
  CHECK(match.line.mean_diff == 1.0 / 3.0);
  const auto& differ = std::get<lab::log::JudgedLine>(back.lines[2]);
  CHECK_FALSE(differ.line.match);
  CHECK(differ.expect == lab::log::Expect::kDiffer);
  CHECK(std::isnan(differ.line.max_diff));
  CHECK(std::isinf(differ.line.mean_diff));
  CHECK(std::get<lab::log::SkippedLine>(back.lines[3]).reason == "none");
  REQUIRE(back.ledger.size() == 1);
  CHECK(back.ledger[0].operation == "all_reduce");
  CHECK(back.ledger[0].calls == 1);
  CHECK(back.ledger[0].messages == 2);
  CHECK(back.ledger[0].bytes_sent == 18446744073709551615ull);
  CHECK(back.ledger[0].bytes_received == 4);
  CHECK(back.ledger[0].rounds == 5);
}

TEST_CASE("run report: the whole run's fields") {
  lab::log::RunReport report;
  report.program = "a4_data_tensor";
  report.version = "0.1.0";
  report.world = "threads";
  report.num_ranks = 4;
  report.seed = std::numeric_limits<std::uint64_t>::max();
  report.exit_code = lab::ExitCode::kCommunication;
  report.error = "rank 2 failed: x";
  report.wall_seconds = 0.1;
  report.ranks = {sample_rank(), lab::log::RankReport{}};
  const auto back = nlohmann::json::parse(lab::log::to_json(report));
  CHECK(back.at("program") == report.program);
  CHECK(back.at("version") == report.version);
  CHECK(back.at("world") == report.world);
  CHECK(back.at("num_ranks") == 4);
  CHECK(back.at("seed") == report.seed);
  CHECK(back.at("exit_code") == static_cast<int>(lab::ExitCode::kCommunication));
  CHECK(back.at("error") == report.error);
  CHECK(back.at("wall_seconds") == 0.1);
  REQUIRE(back.at("ranks").size() == 2);
  check_same(lab::log::rank_report_from_json(back.at("ranks").at(0)), report.ranks[0]);
}

TEST_CASE("run report: the fields' names and JSON's missing figures") {
  const nlohmann::json json = lab::log::to_json(sample_rank());
  CHECK(json.at("lines").at(2).dump() ==
        R"({"expected":false,"kind":"match","match":false,"max_diff":"nan","mean_diff":"inf","prefix":"","rank":3})");
  CHECK(json.at("lines").at(3).dump() == R"({"kind":"skipped","prefix":"Bias","rank":3,"reason":"none"})");
  CHECK(json.at("ledger").at(0).at("bytes_sent") == 18446744073709551615ull);
  CHECK(
      json.at("parts").at(0).at("used").dump() ==
      R"({"flops":5,"model_time_ps":{"overhead":10,"total":7,"waiting":9,"work":8},"peak_tensor_bytes":6,"retained_tensor_bytes":0})");
}

TEST_CASE("run report: raw bytes in a line do not keep it from being written") {
  lab::log::RunReport report;
  report.ranks.emplace_back().lines.emplace_back("bytes \xff\xfe");
  const std::string text = lab::log::to_json(report);
  CHECK(text.find("bytes \uFFFD\uFFFD") != std::string::npos);
  CHECK(text.back() == '\n');
}

TEST_CASE("run report: a rank's part that lacks a field, or has another kind of one, is refused") {
  for (const char* wrong : {"[]", "null", "3", "{}", R"({"rank":"x"})"}) {
    CAPTURE(wrong);
    CHECK_THROWS(lab::log::rank_report_from_json(nlohmann::json::parse(wrong)));
  }
  const nlohmann::json right = lab::log::to_json(sample_rank());
  for (const auto& field : right.items()) {
    nlohmann::json without = right;
    without.erase(field.key());
    CHECK_THROWS_WITH(lab::log::rank_report_from_json(without), doctest::Contains(field.key().c_str()));
  }
  for (const char* pointer : {"/lines/2/kind", "/lines/2/max_diff"}) {
    nlohmann::json other = right;
    other[nlohmann::json::json_pointer(pointer)] = "ignored";
    CHECK_THROWS(lab::log::rank_report_from_json(other));
  }
}
