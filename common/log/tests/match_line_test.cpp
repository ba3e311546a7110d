#include "common/log/match_line.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "common/api/errors.h"
#include "common/testing/plain_test.h"

namespace {

using lab::log::MatchLine;
using lab::log::SkippedLine;

const double kNan = std::numeric_limits<double>::quiet_NaN();
const double kInf = std::numeric_limits<double>::infinity();

void check_round_trip(const MatchLine& line) {
  const std::string text = lab::log::format(line);
  CAPTURE(text);
  const auto parsed = lab::log::parse_match_line(text);
  REQUIRE(parsed.has_value());
  CHECK(parsed->prefix == line.prefix);
  CHECK(parsed->rank == line.rank);
  CHECK(parsed->match == line.match);
  CHECK(lab::log::format(*parsed) == text);
}

}  // namespace

TEST_CASE("match line: format is the handout's grammar") {
  CHECK(lab::log::format(MatchLine{"prefix", 3, true, 2.384186e-07, 5.065431e-09}) ==
        "[prefix][Rank 3] Tensors match: True | Max diff: 2.384186e-07 | Mean diff: 5.065431e-09");
  CHECK(lab::log::format(MatchLine{"", 0, false, 1.193051e-01, 3.029096e-02}) ==
        "[Rank 0] Tensors match: False | Max diff: 1.193051e-01 | Mean diff: 3.029096e-02");
  CHECK(lab::log::format(MatchLine{"x", 0, false, kNan, kInf}) ==
        "[x][Rank 0] Tensors match: False | Max diff: nan | Mean diff: inf");
}

TEST_CASE("match line: figures are Python's %.6e") {
  CHECK(lab::log::format_figure(0.0) == "0.000000e+00");
  CHECK(lab::log::format_figure(-0.0) == "0.000000e+00");
  CHECK(lab::log::format_figure(1.0) == "1.000000e+00");
  CHECK(lab::log::format_figure(12345678.0) == "1.234568e+07");
  CHECK(lab::log::format_figure(1e100) == "1.000000e+100");
  CHECK(lab::log::format_figure(std::numeric_limits<double>::denorm_min()) == "4.940656e-324");
  CHECK(lab::log::format_figure(std::copysign(kNan, -1.0)) == "nan");
  CHECK(lab::log::format_figure(kInf) == "inf");
  CHECK_THROWS_AS(lab::log::format_figure(-1.0), lab::ContractError);
}

TEST_CASE("match line: round trip of special figures") {
  for (const double value : {0.0, 1.0, kNan, kInf, 2.384186e-07, std::numeric_limits<double>::denorm_min(),
                             std::numeric_limits<double>::min(), std::numeric_limits<double>::max(), 9.9999995e-1}) {
    check_round_trip({"DataParallel", 1, true, value, value});
    check_round_trip({"", 4095, false, value, 0.0});
  }
}

TEST_CASE("match line: round trip of 20,000 random bit patterns") {
  std::mt19937_64 bits(42);
  for (int i = 0; i < 20000; ++i) {
    double values[2];
    for (double& value : values) {
      const std::uint64_t pattern = bits();
      std::memcpy(&value, &pattern, sizeof value);
      if (!std::isnan(value)) value = std::abs(value);
    }
    const std::string text = lab::log::format(MatchLine{"p", i, i % 2 == 0, values[0], values[1]});
    const auto parsed = lab::log::parse_match_line(text);
    REQUIRE(parsed.has_value());
    REQUIRE(lab::log::format(*parsed) == text);
  }
}

TEST_CASE("match line: parse refuses whatever format does not write") {
  const std::string right = "[p][Rank 1] Tensors match: True | Max diff: 2.384186e-07 | Mean diff: 5.065431e-09";
  REQUIRE(lab::log::parse_match_line(right).has_value());
  for (std::size_t i = 0; i <= right.size(); ++i) {
    CAPTURE(i);
    if (i < right.size()) {
      std::string without = right;
      without.erase(i, 1);
      // Without a digit a figure or a rank is invalid; without "p" the brackets are empty.
      CHECK_FALSE(lab::log::parse_match_line(without).has_value());
    }
    std::string with = right;
    with.insert(i, 1, ' ');
    const bool inside_prefix = i == 1 || i == 2;
    CHECK(lab::log::parse_match_line(with).has_value() == inside_prefix);
  }
  const std::string head = "[Rank 0] Tensors match: True | Max diff: ";
  for (const char* figure : {"-1.000000e+00", "+1.000000e+00", "1.0e+00", "1.000000E+00", "1.000000e+0",
                             "1.000000e+000", "10.00000e+00", "0x1p3", "1", "", "NaN", "nan(1)", "-nan", "infinity",
                             "-inf", "9.999999e+999", "1.000000e-999", "1,000000e+00"}) {
    CAPTURE(figure);
    CHECK_FALSE(lab::log::parse_match_line(head + figure + " | Mean diff: 0.000000e+00").has_value());
    CHECK_FALSE(lab::log::parse_match_line(head + "0.000000e+00 | Mean diff: " + figure).has_value());
  }
  for (const char* start : {"[Rank 00]", "[Rank -1]", "[Rank 99999999999]", "[Rank ]", "[][Rank 0]", "[Rank 0][Rank 1]",
                            "[a][b][Rank 0]", "x[Rank 0]", "[a] [Rank 0]"}) {
    CAPTURE(start);
    CHECK_FALSE(lab::log::parse_match_line(std::string(start) + right.substr(11)).has_value());
  }
  CHECK_FALSE(lab::log::parse_match_line("").has_value());
  CHECK_FALSE(lab::log::parse_match_line(right + "\n").has_value());
  CHECK_FALSE(lab::log::parse_match_line(right + right).has_value());
}

TEST_CASE("match line: a value that the grammar cannot express is refused before it is printed") {
  for (const char* prefix : {"a]b", "[a", "a\nb", "Rank 3"}) {
    CAPTURE(prefix);
    CHECK_THROWS_AS(lab::log::format(MatchLine{prefix, 0, true, 0.0, 0.0}), lab::ContractError);
  }
  CHECK_THROWS_AS(lab::log::format(MatchLine{"", -1, true, 0.0, 0.0}), lab::ContractError);
  check_round_trip({"Ranks agree", 0, true, 0.0, 0.0});
}

TEST_CASE("skipped line: round trip, and a reason on one line") {
  const std::string text = lab::log::format(SkippedLine{"Sandbox", 2, "no user\n  namespaces | here"});
  CHECK(text == "[Sandbox][Rank 2] skipped: no user namespaces | here");
  const auto parsed = lab::log::parse_skipped_line(text);
  REQUIRE(parsed.has_value());
  CHECK(parsed->prefix == "Sandbox");
  CHECK(parsed->rank == 2);
  CHECK(parsed->reason == "no user namespaces | here");
  CHECK(lab::log::format(SkippedLine{"", 0, "x"}) == "[Rank 0] skipped: x");
  CHECK_THROWS_AS(lab::log::format(SkippedLine{"a", 0, "\n"}), lab::ContractError);
  for (const char* wrong : {"", "[Rank 0] skipped: ", "[Rank 0] skipped:x", "[Rank 0] skipped: x ",
                            "[Rank 0]  skipped: x", "skipped: x", "[Rank 0] Skipped: x", "[Rank 0] skipped: x\n"}) {
    CAPTURE(wrong);
    CHECK_FALSE(lab::log::parse_skipped_line(wrong).has_value());
  }
  CHECK_FALSE(lab::log::parse_match_line(text).has_value());
}
