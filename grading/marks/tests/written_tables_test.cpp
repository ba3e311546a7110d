#include "common/testing/plain_test.h"
#include "grading/marks/suggestion.h"

namespace lab::grading {
namespace {

using Numbers = std::vector<double>;

TEST_CASE("written answers: a question's section, however its heading is written") {
  const std::string body = "a | b\n";
  for (const char* heading : {"## Q2. All-reduce", "Q2", "**Q2)** sums", "### q2: sums", " Q2 - sums\r"}) {
    INFO(heading);
    const std::string text = std::string("# Title\nQuestions\n## Q1\nx\n") + heading + "\n" + body + "## Q3\ny\n";
    CHECK(section_of(text, "Q2") == std::string(heading) + "\n" + body);
  }
  CHECK(section_of("## Q22\nx\n## Q2b\n", "Q2").empty());
  CHECK(section_of("", "Q2").empty());
}

TEST_CASE("written answers: tables with and without borders and rules") {
  const WrittenTable expected = {{"rank", "x"}, {"0", "20"}};
  for (const char* text :
       {"| rank | x |\n|------|---|\n| 0 | 20 |\n", "rank|x\n:-:|--\n0|20", "|rank|x|\r\n| 0 |20|\r\n",
        "+------+----+\n| rank | x |\n+======+====+\n| 0 | 20 |\n+------+----+\n"}) {
    INFO(text);
    const auto tables = tables_of(text);
    REQUIRE(tables.size() == 1);
    CHECK(tables[0] == expected);
  }
  CHECK(tables_of("a|b\n\nwords\n\nc|d\n").size() == 2);
  CHECK(tables_of("no table\n---\n").empty());
}

TEST_CASE("written answers: a cell is found by the number in its row's first cell") {
  const WrittenTable table = {{"rank", "x"}, {"rank 0", "a"}, {"r1", "b"}, {"**2**", "c", "d"}, {"3 of 4", "e"}};
  CHECK(cell_at(table, 0, 1) == "a");
  CHECK(cell_at(table, 1, 1) == "b");
  CHECK(cell_at(table, 2, 2) == "d");
  CHECK(cell_at(table, 2, 3).empty());
  CHECK(cell_at(table, 3, 1).empty());
  CHECK(cell_at({{"99999999999999999999", "x"}}, 9, 1).empty());
}

TEST_CASE("written answers: numbers, in whatever a cell wraps them") {
  CHECK(numbers_of_cell("20") == Numbers{20});
  CHECK(numbers_of_cell(" **20.0** ") == Numbers{20});
  CHECK(numbers_of_cell("_20_") == Numbers{20});
  CHECK(numbers_of_cell("tensor([20.], dtype=torch.float32)") == Numbers{20});
  CHECK(numbers_of_cell("torch.Size([6])") == Numbers{6});
  CHECK(numbers_of_cell("(6,)") == Numbers{6});
  CHECK(numbers_of_cell("[0., 10., 1.]") == Numbers{0, 10, 1});
  CHECK(numbers_of_cell("-1.5e1, .5, 3-2") == Numbers{-15, 0.5, 3, 2});
  CHECK(numbers_of_cell("x2 float32").empty());
  CHECK(numbers_of_cell("").empty());
  CHECK(numbers_of_cell("...").empty());
}

}  // namespace
}  // namespace lab::grading
