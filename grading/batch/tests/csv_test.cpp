#include "grading/batch/csv.h"

#include "common/base/errors.h"
#include "common/testing/plain_test.h"

namespace lab::grading {
namespace {

TEST_CASE("CSV as spreadsheets save it") {
  const std::vector<CsvRow> expected = {{"id", "name"}, {"1", "Lovelace, \"Ada\""}, {"2", ""}, {"3", "two\nlines"}};
  CHECK(parse_csv("id,name\n1,\"Lovelace, \"\"Ada\"\"\"\n2,\n3,\"two\nlines\"\n", "x.csv") == expected);
  CHECK(parse_csv("\xEF\xBB\xBFid;name\r\n1;\"Lovelace, \"\"Ada\"\"\"\r\n\r\n2;\r\n3;\"two\nlines\"", "x.csv") ==
        expected);
  CHECK(parse_csv("", "x.csv").empty());
  CHECK_THROWS_AS(parse_csv("id\n\"open\n", "x.csv"), UsageError);
  CHECK_THROWS_AS(parse_csv("id\na\"b\n", "x.csv"), UsageError);
}

TEST_CASE("what is written is read again, and no spreadsheet takes it for a formula") {
  CHECK(csv_line({"a", "b,c", "d\"e", "f\ng", "", "-2.5", "1e-3"}) == "a,\"b,c\",\"d\"\"e\",\"f\ng\",,-2.5,1e-3\n");
  CHECK(csv_line({"", "x"}) == ",x\n");
  for (const char* formula : {"=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1"}) {
    CAPTURE(formula);
    const CsvRow read = parse_csv(csv_line({"x", formula}), "x.csv").front();
    CHECK(read.at(1) == std::string("'") + formula);
  }
  const CsvRow row = {"=a,\"b\"", "c;d", " e "};
  CHECK(parse_csv(csv_line(row), "x.csv").front().at(1) == "c;d");
}

}  // namespace
}  // namespace lab::grading
