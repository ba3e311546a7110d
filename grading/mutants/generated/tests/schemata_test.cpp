#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <memory>

#include "common/base/errors.h"
#include "common/base/subprocess.h"
#include "common/launch/supervise/run_directory.h"
#include "common/testing/plain_test.h"
#include "grading/mutants/generated/schemata_build.h"
#include "grading/mutants/generated/tests/small_source.h"

namespace {

using namespace lab;
using namespace lab::grading::generated;

const char* const kSolution =
    "  int sum = 0, count = size;\n"
    "  const int first = (rank + 1) % size;\n"
    "  for (int i = 0; i < count; ++i) {\n"
    "    if (i == other) continue;\n"
    "    sum += i * first;\n"
    "    count -= 0;\n"
    "  }\n"
    "  const auto twice = [&](int value) { return 2 * value; };\n"
    "  if (sum > 3) return twice(sum);\n"
    "  return sum - first;";

// Prints f() for some arguments; the mutant is the program's argument.
const char* const kMain =
    "extern \"C\" int printf(const char*, ...);\nextern \"C\" int atoi(const char*);\n"
    "int chosen = 0;\nbool lab_mutant(int id) noexcept { return id == chosen; }\n"
    "int main(int argc, char** argv) {\n"
    "  chosen = argc > 1 ? atoi(argv[1]) : 0;\n"
    "  for (int rank = 0; rank < 3; ++rank)\n"
    "    for (int size = 1; size < 5; ++size) printf(\"%d \", f(rank, size, 1));\n"
    "}\n";

/// A program made from a text.
class Compiled {
 public:
  explicit Compiled(const std::string& text) {
    std::ofstream(folder_->path() + "/a.cpp") << text;
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

/// The program of all mutants that compile, which are left in `some`.
Compiled compiled_with(const MutatedSource& source, std::vector<const SourceMutant*>& some) {
  for (;;) {
    const std::string text = source.schemata(some) + kMain;
    Compiled program(text);
    if (program.errors.empty()) return program;
    const std::set<int> named = mutants_named(program.errors, source, some);
    REQUIRE_MESSAGE(!named.empty(), program.errors);
    some.erase(std::remove_if(some.begin(), some.end(),
                              [&](const SourceMutant* mutant) { return named.count(mutant->id) != 0; }),
               some.end());
  }
}

std::vector<const SourceMutant*> all_of(const MutatedSource& source) {
  std::vector<const SourceMutant*> all;
  for (const SourceMutant& mutant : source.mutants()) all.push_back(&mutant);
  return all;
}

}  // namespace

TEST_CASE("generated schemata: one program behaves as each mutant's own, and as the original") {
  const MutatedSource source("f.cpp", file_with(kSolution), {"t.one"}, 1);
  std::vector<const SourceMutant*> all = all_of(source);
  const Compiled together = compiled_with(source, all);
  REQUIRE(all.size() > 60);
  CHECK(together.printed("0") == Compiled(file_with(kSolution) + kMain).printed("0"));
  int num_different = 0;
  for (std::size_t i = 0; i < all.size(); i += 5) {
    CAPTURE(all[i]->what);
    const Compiled alone("bool lab_mutant(int) noexcept;\n" + source.plain(*all[i]) + kMain);
    REQUIRE(alone.errors.empty());
    const std::string printed = together.printed(std::to_string(all[i]->id));
    CHECK(printed == alone.printed("0"));
    num_different += printed != together.printed("0") ? 1 : 0;
  }
  CHECK(num_different > 5);
}

TEST_CASE("generated schemata: swapped and late statements, and declarations that are moved") {
  const std::string solution =
      "  int a = 1;\n"
      "  Box b = receive(a);\n"
      "  a = 2;\n"
      "  const int c = a * 3 + b.value;\n"
      "  return c + b.value;";
  const std::string head =
      "struct Box { int value = 0; };\nBox receive(int& a) { return {a += 10}; }\nint f(int, int, int) {";
  const MutatedSource source("f.cpp", file_with(solution, head), {"t.one"}, 1);
  std::vector<const SourceMutant*> all = all_of(source);
  const Compiled together = compiled_with(source, all);
  int num_moved = 0;
  for (const SourceMutant* mutant : all) {
    if (mutant->rule != "late_message" && mutant->rule != "swapped_statements") continue;
    CAPTURE(mutant->what);
    ++num_moved;
    const Compiled alone("bool lab_mutant(int) noexcept;\n" + source.plain(*mutant) + kMain);
    REQUIRE_MESSAGE(alone.errors.empty(), alone.errors);
    CHECK(together.printed(std::to_string(mutant->id)) == alone.printed("0"));
    CHECK(together.printed(std::to_string(mutant->id)) != together.printed("0"));
  }
  CHECK(num_moved == 3);
}

TEST_CASE("generated schemata: the compiler's messages keep the file's lines, and name mutants by their ids") {
  const MutatedSource source("f.cpp", file_with("  const int a = rank + 1;\n  return a;"), {"t.one"}, 100);
  const std::string text = source.schemata(all_of(source));
  CHECK(text.find("#line 10000 \"mutant\"") != std::string::npos);
  CHECK(text.find("#line 5 \"f.cpp\"") != std::string::npos);
  CHECK(mutants_named("mutant:10100:7: error: no\nf.cpp:5:1: note: here\nmutant:10200:7: note: and\n", source,
                      all_of(source)) == std::set<int>{101});
  CHECK(mutants_named("x.h:3:1: error: no\nmutant:10201:9:   required from here\n", source, all_of(source)) ==
        std::set<int>{102});
  // Mutants that only use what a broken declaration should have declared are not named.
  CHECK(mutants_named("mutant:10100:7: error: no\nf.cpp:6:1: error: 'mean' was not declared in this scope\n"
                      "mutant:10200:7: error: 'mean' was not declared in this scope\n"
                      "mutant:10200:9: error: could not convert '{<expression error>}'\n"
                      "mutant:10300:7: error: 'share' was not declared in this scope\n",
                      source, all_of(source)) == std::set<int>{101, 103});
  CHECK(mutants_named("f.cpp:6:1: error: 'mean' was not declared in this scope\n"
                      "mutant:10200:7: error: 'mean' was not declared in this scope\n",
                      source, all_of(source)) == std::set<int>{102});
  // Of the second line's mutants: those that change something there.
  const std::set<int> second = mutants_named("f.cpp:6:1: error: no\n", source, all_of(source));
  CHECK(!second.empty());
  for (const int id : second) CHECK(source.mutants()[static_cast<std::size_t>(id - 100)].line == 6);
}

TEST_CASE("generated schemata: what does not compile is taken out, and counted") {
  Sources sources;
  sources.push_back(std::make_unique<MutatedSource>(
      "f.cpp", file_with("  const char* name = \"a\";\n  return name[rank] * 2;", "int f(int rank, int size, int) {"),
      std::set<std::string>{"t.one"}, 1));
  std::set<int> chosen;
  for (const SourceMutant& mutant : sources[0]->mutants()) chosen.insert(mutant.id);
  int num_compiled = 0;
  const CompileFiles compile = [&](const std::map<std::string, std::string>& texts) {
    ++num_compiled;
    std::map<std::string, grading::CompiledSource> compiled;
    for (const auto& [name, text] : texts) {
      const Compiled program(text + kMain);
      compiled[name].errors = program.errors;
      if (program.errors.empty()) compiled[name].object = "object of " + name;
    }
    return compiled;
  };
  const CompiledSchemata result = compile_schemata(sources, chosen, compile);
  CHECK(result.objects.at("f.cpp") == "object of f.cpp");
  CHECK(result.rounds == num_compiled);
  CHECK(result.left_out.size() < chosen.size());
  // Those that are left out would not compile alone; those that are not, do.
  for (const SourceMutant& mutant : sources[0]->mutants()) {
    CAPTURE(mutant.what);
    const Compiled alone("bool lab_mutant(int) noexcept;\n" + sources[0]->plain(mutant) + kMain);
    CHECK(alone.errors.empty() == (result.left_out.count(mutant.id) == 0));
  }
}

TEST_CASE("generated schemata: a file that is wrong by itself is an error, not a reason to leave everything out") {
  Sources sources;
  sources.push_back(
      std::make_unique<MutatedSource>("f.cpp", file_with("  return rank;"), std::set<std::string>{"t.one"}, 1));
  const CompileFiles refuses = [](const auto&) {
    return std::map<std::string, grading::CompiledSource>{{"f.cpp", {"", "f.cpp:1:1: error: no\n"}}};
  };
  CHECK_THROWS_AS(compile_schemata(sources, {1}, refuses), UsageError);
}
