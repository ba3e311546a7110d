#include "common/log/line_template.h"

#include <limits>
#include <string>
#include <vector>

#include "common/api/errors.h"
#include "common/log/expected_line.h"
#include "common/testing/plain_test.h"

using lab::log::filled;
using lab::log::matches_template;

TEST_CASE("template: text without fields stands for itself") {
  CHECK(matches_template("", ""));
  CHECK(matches_template("[Rank 0] done", "[Rank 0] done"));
  CHECK_FALSE(matches_template("[Rank 0] done", "[Rank 0] done."));
  CHECK_FALSE(matches_template("[Rank 0] done.", "[Rank 0] done"));
  CHECK_FALSE(matches_template("a.c", "abc"));
}

TEST_CASE("template: each field takes what it stands for and nothing else") {
  const auto check = [](const std::string& field, const std::vector<std::string>& right,
                        const std::vector<std::string>& wrong) {
    for (const std::string& text : right) {
      CAPTURE(text);
      CHECK(matches_template("<" + field + ">", "<" + text + ">"));
    }
    for (const std::string& text : wrong) {
      CAPTURE(text);
      CHECK_FALSE(matches_template("<" + field + ">", "<" + text + ">"));
    }
  };
  check("{node}", {"N/A", "0", "17"}, {"", "n/a", "N/", "-1", "01", "1.0", "N/A0"});
  check("{index}", {"0", "7", "123"}, {"", "N/A", "-1", "+1", "01", "1 ", "x"});
  check("{device}", {"CPU", "GPU"}, {"", "cpu", "CPUs", "TPU"});
  check("{number}", {"0", "-0.5", "12", "1.5e-07"}, {"", "nan", "inf", "1.5e", "1,5", "+1", "0x10"});
  check("{word}", {"afab", "zb-h1", "0-2,5", "1.5"}, {"", "two words", "a_b", "a:b", "[a]"});
  check("{figure}", {"0.000000e+00", "1.193051e-01"}, {"", "nan", "inf", "1.0", "-1.193051e-01", "1.193051e-1"});
}

TEST_CASE("template: several fields, next to each other and repeated") {
  const char* init = "[Distributed Init] Rank 1 initialized on {node} on {device} {index}.";
  CHECK(matches_template(init, "[Distributed Init] Rank 1 initialized on N/A on CPU 1."));
  CHECK(matches_template(init, "[Distributed Init] Rank 1 initialized on 3 on GPU 12."));
  CHECK_FALSE(matches_template(init, "[Distributed Init] Rank 2 initialized on N/A on CPU 1."));
  CHECK_FALSE(matches_template(init, "[Distributed Init] Rank 1 initialized on N/A on CPU 1"));
  CHECK(matches_template("{index}{device}", "12CPU"));
  CHECK(matches_template("{index}{index}", "12"));
  CHECK_FALSE(matches_template("{index}{index}", "1"));
}

TEST_CASE("template: an unknown field is an error, even if the text differs anyway") {
  CHECK_THROWS_AS(matches_template("{nodes}", "1"), lab::ContractError);
  CHECK_THROWS_AS(matches_template("a{nodes}", "b"), lab::ContractError);
  CHECK_THROWS_AS(matches_template("{node", "1"), lab::ContractError);
}

TEST_CASE("template: what is filled in matches, in the format that the field asks for") {
  const char* line = "{word}: {number:.1f} s on rank {index}, {number:.2g}";
  CHECK(filled(line, "1f1b", 3.14, 2, 4e-5) == "1f1b: 3.1 s on rank 2, 4e-05");
  CHECK(matches_template(line, "1f1b: 3.1 s on rank 2, 4e-05"));
  CHECK(matches_template(line, "1f1b: 3.14159 s on rank 2, 4"));
  CHECK_FALSE(matches_template(line, "1f1b: 3.1 s on rank 2.0, 4e-05"));
  CHECK(filled("done") == "done");
}

TEST_CASE("template: a wrong run's value is printed and does not match; another number of values is an error") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(filled("loss {number:.6f}", nan) == "loss nan");
  CHECK_FALSE(matches_template("loss {number:.6f}", "loss nan"));
  CHECK_THROWS_AS(filled("loss {number}"), lab::ContractError);
  CHECK_THROWS_AS(filled("loss {number}", 1, 2), lab::ContractError);
}

TEST_CASE("template: messages quote it without formats") {
  CHECK(describe(lab::log::rank_text("{number:.1f} s"), 3) == "\"[Rank 3] {number} s\"");
}
