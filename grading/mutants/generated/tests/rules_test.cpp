#include <algorithm>

#include "common/testing/plain_test.h"
#include "grading/mutants/generated/tests/small_source.h"

namespace {

using namespace lab::grading::generated;
using Texts = std::vector<std::string>;

bool makes(const Texts& made, const std::string& what) {
  return std::find(made.begin(), made.end(), what) != made.end();
}

}  // namespace

TEST_CASE("generated rules: ranks, sizes, neighbours, indices, variables") {
  CHECK(made_by(other_ranks, "g(p2p.rank());") == Texts{"p2p.rank() -> 0",
                                                        "p2p.rank() -> ((p2p.rank() + 1) % p2p.size())",
                                                        "p2p.rank() -> (p2p.size() - 1 - p2p.rank())"});
  CHECK(made_by(other_ranks, "g(parts.rank(), rank);") == Texts{"rank -> 0"});
  CHECK(makes(made_by(other_sizes, "return comm.size();"), "comm.size() -> 4"));
  CHECK(made_by(other_sizes, "return parts.size();") ==
        Texts{"parts.size() -> (parts.size() - 1)", "parts.size() -> (parts.size() + 1)"});
  CHECK(made_by(other_neighbours, "const int left = 1, right = 2; g(left, x.right);") == Texts{"left -> right"});
  CHECK(made_by(shifted_indices, "g(other, unknown); other = 1;") ==
        Texts{"other -> (other + 1)", "other -> (other - 1)"});
  CHECK(makes(made_by(shifted_indices, "g(slice.begin);"), "slice.begin -> (slice.begin + 1)"));
  CHECK(made_by(other_variables, "g(other);") == Texts{"other -> size", "other -> rank"});
}

TEST_CASE("generated rules: numbers, dimensions, operators, conditions") {
  CHECK(made_by(other_numbers, "g(3, -1, 2.5);") == Texts{"3 -> 4", "3 -> 2", "-1 -> 0", "-1 -> -2"});
  CHECK(made_by(other_dims, "x.narrow(0, 3, f(2)); y.sum(-1);") ==
        Texts{"0 -> 1", "0 -> 2", "3 -> 4", "3 -> 2", "-1 -> -2", "-1 -> 0"});
  CHECK(made_by(other_operators, "a = b + c; T<int> d; e *= 2;") == Texts{"+ -> -", "*= -> /=", "*= -> ="});
  CHECK(made_by(other_operators, "if (!a && b < -c) g();") ==
        Texts{"&& -> ||", "< -> <=", "< -> >", "! -> nothing", "- -> nothing"});
  CHECK(made_by(dropped_operands, "a = (b - f(c)[0] + d) % e;") ==
        Texts{"- f(c)[0] -> nothing", "+ d -> nothing", "f(c)[0] + -> nothing", "% e -> nothing"});
  CHECK(made_by(other_conditions, "if (a == b) g();") ==
        Texts{"a == b -> !(a == b)", "a == b -> false", "a == b -> true"});
  CHECK_FALSE(makes(made_by(other_conditions, "while (a) g();"), "a -> true"));  // has no end
  CHECK(makes(made_by(other_conditions, "x = a < b ? c : d;"), "a < b -> true"));
}

TEST_CASE("generated rules: arguments") {
  CHECK(made_by(swapped_arguments, "g(a, h(b), c);") == Texts{"a, h(b) -> h(b), a", "h(b), c -> c, h(b)"});
  CHECK(makes(made_by(swapped_arguments, "sendrecv(p2p, a, left, b, right);"), "a, left, b -> b, left, a"));
  CHECK(made_by(dropped_arguments, "g(a, b); h(c); k(d, \"name\");") == Texts{", b -> nothing"});
  CHECK(made_by(dropped_calls, "x = at::relu(h.t());") == Texts{"at::relu(h.t()) -> (h.t())", ".t() -> nothing"});
}

TEST_CASE("generated rules: copies, means, scales") {
  CHECK(made_by(views_for_copies, "y = x.clone();") == Texts{".clone() -> nothing"});
  CHECK(made_by(views_for_copies, "y = at::empty_like(x); y.add_(x);") ==
        Texts{"at::empty_like(x) -> x", "add_ -> add"});
  CHECK(made_by(sums_for_means, "l = x.mean(); s = x.sum(-1);") == Texts{"mean -> sum", "sum -> mean"});
  CHECK(
      makes(made_by(scaled_sums, "comm.all_reduce(x);"), "comm.all_reduce(x) -> comm.all_reduce(x).div_(comm.size())"));
  CHECK(made_by(other_calls, "n = std::min(a, b);") == Texts{"min -> max"});
  CHECK(made_by(copies_for_moves, "f(std::move(x));") == Texts{"std::move(x) -> x"});
}

TEST_CASE("generated rules: statements") {
  CHECK(made_by(dropped_statements, "a(); int b = 1; for (T& r : all) r.wait(); return b;") ==
        Texts{"without: a();", "without: r.wait();"});
  CHECK(made_by(dropped_statements, "if (a) { return b; } return c;") ==
        Texts{"without: return b;"});  // not the last one: a function must end with it
  CHECK(made_by(dropped_statements, "check(x, {1}); throw E();") == Texts{"without: throw E();"});
  CHECK(made_by(doubled_statements, "a(); return b;") == Texts{"twice: a();"});
  CHECK(made_by(doubled_statements, "a = b; a = g(); a += b;") == Texts{"twice: a = g();", "twice: a += b;"});
  CHECK(made_by(swapped_statements, "a.f(x); b(x); int c = g(x); d(c); e();") ==
        Texts{"before it: b(x);", "before it: int c = g(x);"});
  CHECK(made_by(swapped_arguments, "std::max<int>(a, b); x.transpose(1, 2);").empty());
}

TEST_CASE("generated rules: the order of messages") {
  CHECK(made_by(late_messages, "p2p.send(x, 1); a(); b(); return c;").size() == 1);
  CHECK(made_by(late_messages, "T next = ring.pass_on(x); add(x); x = next.wait();") ==
        Texts{"only after line 5: T next = ring.pass_on(x);"});
  CHECK(made_by(late_messages, "list.push_back(p2p.isend(x, 1)); for (R& r : list) r.wait();").empty());
  CHECK(made_by(early_waits, "list.push_back(p2p.isend(x, 1));") == Texts{"waits at once: p2p.isend(x, 1)"});
}

TEST_CASE("generated rules: where whole functions are between the markers, in each body, and in nothing else") {
  const TokenizedText text(
      "// BEGIN SOLUTION t.one\nstruct S {\n  int n = 1 + 2;\n};\nint f(int rank) {\n  return rank + 3;\n}\n"
      "int g(const S& other) {\n  if (other.n > 4) return 5;\n  return f(6);\n}\n// END SOLUTION t.one\n"
      "int h() {\n  return 7;\n}\n");
  const std::vector<Region> regions = regions_of(text, {"t.one"});
  REQUIRE(regions.size() == 2);
  Texts made;
  for (const Region& region : regions) {
    CHECK(region.task == "t.one");
    for (const Proposal& proposal : other_numbers(region)) made.push_back(proposal.what);
  }
  CHECK(made == Texts{"3 -> 4", "3 -> 2", "4 -> 5", "4 -> 3", "5 -> 6", "5 -> 4", "6 -> 7", "6 -> 5"});
}

TEST_CASE("generated rules: nothing is mutated in checks and messages of errors, nor outside of the markers") {
  for (const Rule& rule : rules()) {
    CAPTURE(rule.name);
    for (const std::string& made : made_by(rule.find, "check(x, {rank + 1, size});\n(void)other;")) FAIL_CHECK(made);
    const TokenizedText text(
        "int f(int a) { return a + 1; }\n// BEGIN SOLUTION t.two\na + 1;\n// END SOLUTION t.two\n");
    CHECK(regions_of(text, {"t.one"}).empty());
  }
}
