#include "grading/batch/csv.h"

#include "common/api/errors.h"
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
  for (const char* formula : {"=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\n=1",
                              "\xEF\xBC\x9D"
                              "1+1"}) {
    CAPTURE(formula);
    const CsvRow read = parse_csv(csv_line({"x", formula}), "x.csv").front();
    CHECK(read.at(1) == std::string("'") + formula);
  }
  CHECK(csv_line({"-", "\r=1"}) == "-,'\xEF\xBF\xBD=1\n");
  const CsvRow row = {"=a,\"b\"", "c;d", " e "};
  CHECK(parse_csv(csv_line(row), "x.csv").front().at(1) == "c;d");
}

TEST_CASE("an identifier stays as it is, unless it could do harm") {
  const CsvRow row = {"-s1", "@ada", "+49", "=1+1", "-2+cmd|' /C calc'!A0", "@SUM(A1)", "-s1"};
  CHECK(csv_line(row, {0, 1, 2, 3, 4, 5}) == "-s1,@ada,+49,'=1+1,'-2+cmd|' /C calc'!A0,'@SUM(A1),'-s1\n");
}

TEST_CASE("a field is text that is safe to show, and bounded") {
  CHECK(csv_line({"\x1b[31m", std::string("a\0b", 3), "\xE2\x80\xAE", "\xFF"}) ==
        "\xEF\xBF\xBD[31m,a\xEF\xBF\xBD"
        "b,\xEF\xBF\xBD,\xEF\xBF\xBD\n");
  CHECK(csv_line({std::string(1'000'000, '"')}).size() < 70'000);
}

}  // namespace
}  // namespace lab::grading
