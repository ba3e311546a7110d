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
  report.model_time = {(1ll << 61) + 1, 2, 3, 4};
  report.parts.push_back({"Pipeline \"1f1b\"", {5, 6, {7, 8, 9, 10}}, {11, 12, {13, 14, 15, 16}}});
  return report;
}

void check_same(const lab::log::RankReport& a, const lab::log::RankReport& b) {
  CHECK(a.rank == b.rank);
  REQUIRE(a.lines.size() == b.lines.size());
  for (std::size_t i = 0; i < a.lines.size(); ++i) CHECK(a.lines[i].index() == b.lines[i].index());
  CHECK(a.error == b.error);
  CHECK(a.peak_tensor_bytes == b.peak_tensor_bytes);
  CHECK(a.flops == b.flops);
  CHECK(a.model_time == b.model_time);
  REQUIRE(a.parts.size() == b.parts.size());
  for (std::size_t i = 0; i < a.parts.size(); ++i) {
    CHECK(a.parts[i].name == b.parts[i].name);
    CHECK(a.parts[i].used.flops == b.parts[i].used.flops);
    CHECK(a.parts[i].used.model_time == b.parts[i].used.model_time);
    CHECK(a.parts[i].of_one_process.peak_bytes == b.parts[i].of_one_process.peak_bytes);
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
  check_same(lab::log::rank_report_from_json(back.at("ranks").at(0).dump()), report.ranks[0]);
}

TEST_CASE("run report: the fields' names and JSON's missing figures") {
  const std::string text = lab::log::to_json(sample_rank());
  CHECK(
      text.find(
          R"({"kind":"match","prefix":"","rank":3,"match":false,"expected":false,"max_diff":"nan","mean_diff":"inf"})") !=
      std::string::npos);
  CHECK(text.find(R"({"kind":"skipped","prefix":"Bias","rank":3,"reason":"none"})") != std::string::npos);
  CHECK(text.find(R"({"operation":"all_reduce","calls":1,"messages":2,"bytes_sent":18446744073709551615,)") !=
        std::string::npos);
  CHECK(text.back() == '\n');
  CHECK(text.find('\n') == text.size() - 1);
}

TEST_CASE("run report: raw bytes in a line do not keep it from being written") {
  lab::log::RankReport report;
  report.lines.emplace_back("bytes \xff\xfe");
  CHECK_NOTHROW(lab::log::rank_report_from_json(lab::log::to_json(report)));
}

TEST_CASE("run report: a record that is cut off or of the wrong kind is refused with a message") {
  const std::string right = lab::log::to_json(sample_rank());
  for (std::size_t length = 0; length + 1 < right.size(); ++length) {
    CHECK_THROWS_AS(lab::log::rank_report_from_json(right.substr(0, length)), lab::UsageError);
  }
  for (const char* wrong : {"[]", "null", "3", "{}", R"({"rank":"x"})"}) {
    CAPTURE(wrong);
    CHECK_THROWS_AS(lab::log::rank_report_from_json(wrong), lab::UsageError);
  }
  std::string other_kind = right;
  other_kind.replace(other_kind.find("skipped"), 7, "ignored");
  CHECK_THROWS_AS(lab::log::rank_report_from_json(other_kind), lab::UsageError);
}
