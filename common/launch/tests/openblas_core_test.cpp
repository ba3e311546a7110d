#include "common/launch/openblas_core.h"

#include <dlfcn.h>

#include <cstdlib>
#include <string>

#include "common/testing/test.h"

namespace lab {
namespace {

TEST_CASE("OpenBLAS runs the kernels that this program chose before main") {
  using CoreName = char* (*)();
  const auto core_name = reinterpret_cast<CoreName>(dlsym(RTLD_DEFAULT, "openblas_get_corename"));
  if (core_name == nullptr || best_openblas_core().empty()) {
    MESSAGE("skipped: no OpenBLAS here, or a CPU for which the choice is left to it");
    return;
  }
  CHECK(std::string(core_name()) == openblas_core_in_use());
}

TEST_CASE("the environment is read as ever") {
  REQUIRE(setenv("LAB_TEST_VARIABLE", "value=1", 1) == 0);
  CHECK(std::string(std::getenv("LAB_TEST_VARIABLE")) == "value=1");
  CHECK(std::getenv("LAB_TEST_VARIABL") == nullptr);
  CHECK(std::getenv("LAB_TEST_VARIABLE_") == nullptr);
  REQUIRE(setenv("LAB_TEST_VARIABLE", "", 1) == 0);
  CHECK(std::string(std::getenv("LAB_TEST_VARIABLE")).empty());
  unsetenv("LAB_TEST_VARIABLE");
  CHECK(std::getenv("LAB_TEST_VARIABLE") == nullptr);
  CHECK(std::getenv("") == nullptr);
}

TEST_CASE("what the user sets wins over the choice") {
  const char* before = std::getenv("OPENBLAS_CORETYPE");
  const std::string kept = before == nullptr ? "" : before;
  setenv("OPENBLAS_CORETYPE", "Prescott", 1);
  CHECK(openblas_core_in_use() == "Prescott");
  unsetenv("OPENBLAS_CORETYPE");
  CHECK(openblas_core_in_use() == best_openblas_core());
  if (kept != best_openblas_core()) setenv("OPENBLAS_CORETYPE", kept.c_str(), 1);
}

}  // namespace
}  // namespace lab
