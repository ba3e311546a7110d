#include "grading/compile/symbol_audit.h"

#include "common/api/errors.h"
#include "common/testing/plain_test.h"

namespace lab::grading {
namespace {

using Names = std::set<std::string>;
using Lines = std::vector<std::string>;

constexpr char kPrinted[] =
    "/store/a.o: forbidden: fork; use instead: the ranks that the lab starts\n"
    "/store/a.o: forbidden: std::thread::detach(); use instead: isend and irecv\n"
    "/store/a.o: unlisted: open\n"
    "/store/b.o: unlisted: at::Context::setBenchmarkCuDNN\n"
    "/store/b.o: unlisted: std::x: forbidden: y\n"
    "/store/b.other: forbidden: exit; use instead: an exception\n";

TEST_CASE("what the audit prints is read object by object, without its hints") {
  const auto found = parse_symbol_audit(kPrinted, {"/store/a.o", "/store/b.o", "/store/clean.o"});
  REQUIRE(found.size() == 2);
  CHECK(found.at("/store/a.o").forbidden == Lines{"fork", "std::thread::detach()"});
  CHECK(found.at("/store/a.o").unlisted == Names{"open"});
  CHECK(found.at("/store/b.o").forbidden.empty());
  CHECK(found.at("/store/b.o").unlisted == Names{"at::Context::setBenchmarkCuDNN", "std::x: forbidden: y"});
}

TEST_CASE("nothing printed is nothing found") {
  CHECK(parse_symbol_audit("", {"/store/a.o"}).empty());
}

TEST_CASE("an instructor accepts symbols by name, or all") {
  const Names unlisted = {"open", "at::set_num_threads"};
  CHECK(AcceptedSymbols().others(unlisted) == unlisted);
  CHECK(AcceptedSymbols("open").others(unlisted) == Names{"at::set_num_threads"});
  CHECK(AcceptedSymbols("open, at::set_num_threads,more").others(unlisted).empty());
  CHECK(AcceptedSymbols("*").others(unlisted).empty());
  CHECK(AcceptedSymbols("op*").others(unlisted) == unlisted);
}

TEST_CASE("a name that is missing is a usage error") {
  CHECK_THROWS_AS(AcceptedSymbols("open,,close"), UsageError);
  CHECK_THROWS_AS(AcceptedSymbols(" "), UsageError);
}

}  // namespace
}  // namespace lab::grading
