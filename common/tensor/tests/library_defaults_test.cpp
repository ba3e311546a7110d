#include "common/tensor/library_defaults.h"

#include <dlfcn.h>

#include <cstdlib>
#include <map>
#include <string>

#include "common/base/subprocess.h"
#include "common/testing/test.h"

namespace lab {
namespace {

/// What OpenBLAS got from getenv(); empty: it chose by itself.
std::string openblas_core_in_use() {
  const char* core = std::getenv("OPENBLAS_CORETYPE");
  return core == nullptr ? "" : core;
}

TEST_CASE("OpenBLAS runs the kernels that this program chose before main") {
  using CoreName = char* (*)();
  const auto core_name = reinterpret_cast<CoreName>(dlsym(RTLD_DEFAULT, "openblas_get_corename"));
  if (core_name == nullptr || best_openblas_core().empty()) {
    MESSAGE("skipped: no OpenBLAS here, or a CPU for which the choice is left to it");
    return;
  }
  CHECK(std::string(core_name()) == openblas_core_in_use());
}

/// The settings that libgomp prints when this program starts.
std::string openmp_settings(const std::map<std::string, std::string>& environment) {
  ProcessSpec command;
  command.argv = {own_program(), "--version"};
  command.environment = environment;
  command.environment["OMP_DISPLAY_ENV"] = "true";
  const ProgramEnd end = run_program(command);
  return end.out + end.err;
}

TEST_CASE("OpenMP's threads sleep while they wait, unless the user says otherwise") {
  const std::string settings = openmp_settings({});
  if (__GNUC__ >= 13 || settings.find("OMP_WAIT_POLICY") == std::string::npos) {
    MESSAGE("skipped: this OpenMP does not ask getenv(), or there is none");
    return;
  }
  CHECK(settings.find("OMP_WAIT_POLICY = 'PASSIVE'") != std::string::npos);
  CHECK(openmp_settings({{"OMP_WAIT_POLICY", "active"}}).find("OMP_WAIT_POLICY = 'ACTIVE'") != std::string::npos);
}

TEST_CASE("OpenBLAS's idle threads sleep at once, unless the user says otherwise") {
  const char* const name = "OPENBLAS_THREAD_TIMEOUT";
  const char* const given = std::getenv(name);
  REQUIRE(given != nullptr);
  const std::string before = given;
  REQUIRE(setenv(name, "20", 1) == 0);
  CHECK(std::string(std::getenv(name)) == "20");
  unsetenv(name);
  CHECK(std::string(std::getenv(name)) == "4");
  if (before != "4") setenv(name, before.c_str(), 1);
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

TEST_CASE("oneDNN keeps to the instruction sets that it computes right with, unless the user says otherwise") {
  for (const char* name : {"ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA"}) unsetenv(name);
  const char* isa = std::getenv("ONEDNN_MAX_CPU_ISA");
  CHECK(std::string(isa == nullptr ? "" : isa) == highest_onednn_isa());
  // Its earlier name for the same: oneDNN asks for it second.
  REQUIRE(setenv("DNNL_MAX_CPU_ISA", "AVX512_CORE", 1) == 0);
  CHECK(std::getenv("ONEDNN_MAX_CPU_ISA") == nullptr);
  unsetenv("DNNL_MAX_CPU_ISA");
  REQUIRE(setenv("ONEDNN_MAX_CPU_ISA", "SSE41", 1) == 0);
  CHECK(std::string(std::getenv("ONEDNN_MAX_CPU_ISA")) == "SSE41");
  unsetenv("ONEDNN_MAX_CPU_ISA");
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
