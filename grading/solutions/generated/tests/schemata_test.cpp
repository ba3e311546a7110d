#include <fmt/format.h>

#include <fstream>
#include <memory>

#include "common/api/errors.h"
#include "common/base/subprocess.h"
#include "common/launch/supervise/run_directory.h"
#include "common/testing/plain_test.h"
#include "grading/solutions/generated/schemata_build.h"

namespace {

using namespace lab;
using namespace lab::grading::generated;

const char* const kFile =
    "namespace {\nint doubled(int value) {\n  // BEGIN SOLUTION t.one\n  return 2 * value;\n  // END SOLUTION "
    "t.one\n}\n"
    "}  // namespace\n\n"
    "int f(int rank, int size, int other) {\n"
    "  int before = 1;\n"
    "  // BEGIN SOLUTION t.one\n"
    "  constexpr int kFirst = 3;\n"
    "  const int first = (rank + 1) % size;  // before > 3\n"
    "  for (int i = 0; i < size; ++i) {\n"
    "    if (i == other) continue;\n"
    "    before += i * first;\n"
    "  }\n"
    "  const auto twice = [&](int value) { return doubled(value) + kFirst; };\n"
    "  if (before > 3) return twice(before);\n"
    "  return before - first;\n"
    "  // END SOLUTION t.one\n"
    "}\n";

// Prints f() for some arguments; the mutant is the program's argument.
const char* const kMain =
    "extern \"C\" int printf(const char*, ...);\nextern \"C\" int atoi(const char*);\n"
    "int chosen = 0;\nint lab_mutant(std::initializer_list<int> ids) noexcept {\n"
    "  for (int id : ids) if (id == chosen) return id;\n  return 0;\n}\n"
    "int main(int argc, char** argv) {\n"
    "  chosen = argc > 1 ? atoi(argv[1]) : 0;\n"
    "  for (int rank = 0; rank < 3; ++rank)\n"
    "    for (int size = 1; size < 5; ++size) printf(\"%d \", f(rank, size, 1));\n"
    "}\n";

grading::Solution row(const std::string& replace, const std::string& with) {
  grading::Solution one;
  one.what = replace + " -> " + with;
  one.changes = {{"t_lab/f.cpp", 0, {}, replace, with}};
  one.place = "rows.toml:1";
  return one;
}

std::unique_ptr<MutatedSource> find_source(const std::vector<grading::Solution>& rows, int first_id = 1) {
  std::vector<NumberedRow> numbered;
  for (const grading::Solution& one : rows) numbered.push_back({first_id++, &one, one.changes});
  return std::make_unique<MutatedSource>("f.cpp", kFile, std::set<std::string>{"t.one", "t.two"}, numbered);
}

std::set<int> list_ids(const std::map<int, std::string>& by_id) {
  std::set<int> ids;
  for (const auto& [id, text] : by_id) ids.insert(id);
  return ids;
}

/// A program made from a text.
class Compiled {
 public:
  explicit Compiled(const std::string& text) {
    std::ofstream(folder_->path() + "/a.cpp") << "#include <initializer_list>\n" << text << kMain;
    ProcessSpec compiler;
    compiler.argv = {"c++", "-w", "-std=c++17", "-ftrapv", "-o", program(), folder_->path() + "/a.cpp"};
    const ProgramEnd end = run_program(compiler);
    errors = end.well() ? "" : end.err;
  }

  std::string printed(const std::string& argument) const {
    ProcessSpec run;
    run.argv = {program(), argument};
    const ProgramEnd end = run_program(run, 2);
    return end.well() ? end.out : "ends early";
  }

  std::string errors;

 private:
  std::string program() const { return folder_->path() + "/a"; }
  std::shared_ptr<launch::RunDirectory> folder_ = std::make_shared<launch::RunDirectory>();
};

std::vector<const SourceMutant*> all_of(const MutatedSource& source) {
  std::vector<const SourceMutant*> all;
  for (const SourceMutant& mutant : source.mutants()) all.push_back(&mutant);
  return all;
}

/// Those of the rows that compile in the test, by id.
CompiledSchemata compiled_in(const Sources& sources, const std::set<int>& chosen) {
  int num_rounds = 0;
  const CompiledSchemata result = compile_schemata(sources, chosen, [&](const auto& texts) {
    ++num_rounds;
    std::map<std::string, grading::CompiledSource> compiled;
    for (const auto& [name, text] : texts) {
      compiled[name].errors = Compiled(text).errors;
      if (compiled[name].errors.empty()) compiled[name].object = "object of " + name;
    }
    return compiled;
  });
  CHECK(result.rounds == num_rounds);
  return result;
}

}  // namespace

TEST_CASE("generated schemata: one program behaves as each mutant's own, and as the original") {
  const auto source =
      find_source({row("rank + 1", "rank - 1"), row("2 * value", "3 * value"), row("kFirst = 3", "kFirst = 4"),
                   row("if (i == other) continue;", ""), row("i < size", "i <= size"),
                   row("before += i * first;", "before += i * first; before += i * first;"),
                   row("const int first = (rank + 1) % size;  // before > 3\n  for (int i = 0; i < size; ++i) {",
                       "const int first = size;\n  for (int i = 1; i < size; ++i) {"),
                   row("before > 3", "!(before > 3)"), row("doubled(value) + kFirst", "kFirst")});
  const Compiled together(source->schemata(all_of(*source)));
  REQUIRE(together.errors == "");
  CHECK(together.printed("0") == Compiled(kFile).printed("0"));
  std::set<std::string> different;
  for (const SourceMutant& mutant : source->mutants()) {
    CAPTURE(mutant.what);
    const Compiled alone(source->plain(mutant));
    REQUIRE(alone.errors == "");
    const std::string printed = together.printed(std::to_string(mutant.id));
    CHECK(printed == alone.printed("0"));
    CHECK(printed != together.printed("0"));
    different.insert(printed);
  }
  CHECK(different.size() > 5);
}

TEST_CASE("generated schemata: the compiler's messages keep the file's lines, and name mutants by their ids") {
  const auto source = find_source({row("rank + 1", "rank - 1"), row("before > 3", "nothing")}, 100);
  const std::string errors = Compiled(source->schemata(all_of(*source))).errors;
  CHECK(errors.find("mutant:101010:") != std::string::npos);  // the tenth line after the function's first
  CHECK(list_ids(mutants_named(errors)) == std::set<int>{101});
  // The original's body keeps its lines; so does what follows.
  std::string wrong = source->schemata(all_of(*source));
  wrong.replace(wrong.rfind("int before"), 3, "unknown");
  CHECK(Compiled(wrong + "unknown after;\n").errors.find("f.cpp:10:") != std::string::npos);
  CHECK(Compiled(wrong + "unknown after;\n").errors.find("f.cpp:23:") != std::string::npos);
  CHECK(list_ids(mutants_named("mutant:100100:7: error: no\nf.cpp:5:1: note: here\nmutant:101200:7: note: and\n")) ==
        std::set<int>{100});
  CHECK(list_ids(mutants_named("x.h:3:1: error: no\nmutant:101201:9:   required from here\n")) == std::set<int>{101});
  CHECK(mutants_named("f.cpp:3:1: error: no\n").empty());
}

TEST_CASE("generated schemata: what does not compile is taken out, and counted") {
  Sources sources;
  sources.push_back(find_source({row("rank + 1", "rank->x"), row("2 * value", "3 * value"), row("before - first", "i"),
                                 row("i * first", "i"), row("const int first = (rank + 1) % size;", "")}));
  const CompiledSchemata result = compiled_in(sources, {1, 2, 3, 4, 5});
  CHECK(result.objects.at("f.cpp") == "object of f.cpp");
  CHECK(list_ids(result.left_out) == std::set<int>{1, 3, 5});
  CHECK(list_ids(compiled_in(sources, {2, 3}).left_out) == std::set<int>{3});
}

TEST_CASE("generated schemata: a file that is wrong by itself is an error, not a reason to leave everything out") {
  Sources sources;
  sources.push_back(find_source({row("rank + 1", "rank")}));
  const CompileFiles refuses = [](const auto&) {
    return std::map<std::string, grading::CompiledSource>{{"f.cpp", {"", "f.cpp:1:1: error: no\n"}}};
  };
  CHECK_THROWS_AS(compile_schemata(sources, {1}, refuses), UsageError);
}

TEST_CASE("generated schemata: a row that does not fit its file is refused") {
  const auto refused = [](const grading::Solution& one) {
    CHECK_THROWS_WITH_AS(find_source({one}), doctest::Contains("rows.toml:1"), UsageError);
  };
  refused(row("not there", "x"));
  refused(row("size", "x"));    // more than once
  refused(row("int f(", "x"));  // in no function
  grading::Solution placed = row("value", "x");
  refused(placed);
  placed.changes[0].at = std::string(kFile).find("value;");
  const auto source = find_source({placed});
  CHECK(source->mutants()[0].line == 4);
  CHECK(source->mutants()[0].line_text == "return 2 * value;");
  CHECK(source->mutants()[0].task == "t.one");
  placed.changes[0].at = *placed.changes[0].at + 1;
  refused(placed);
  placed = row("rank + 1", "x");
  placed.changes.push_back({"t_lab/f.cpp", 0, {}, "(rank + 1)", "y"});  // overlaps
  refused(placed);
  placed = row("", "x");
  placed.changes[0].part = 3;
  refused(placed);
}

TEST_CASE("generated schemata: one row may change several places, a whole part, and code without markers") {
  grading::Solution several = row("before > 3", "before > 4"), whole = row("", "return 3 * value;");
  several.changes.push_back({"t_lab/f.cpp", 0, {}, "return 2 * value;", "return value;"});
  several.changes.push_back({"t_lab/f.cpp", 0, {}, "int before = 1;", "int before = 2;"});
  whole.changes[0].part = 1;
  const auto source = find_source({several, whole});
  const Compiled together(source->schemata(all_of(*source)));
  REQUIRE(together.errors == "");
  for (const SourceMutant& mutant : source->mutants()) {
    const Compiled alone(source->plain(mutant));
    REQUIRE(alone.errors == "");
    CHECK(together.printed(std::to_string(mutant.id)) == alone.printed("0"));
    CHECK(alone.printed("0") != Compiled(kFile).printed("0"));
  }
}
