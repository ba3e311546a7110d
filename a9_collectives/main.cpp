#include "a9_collectives/cases/calls.h"
#include "a9_collectives/cases/cases.h"
#include "a9_collectives/cases/log.h"
#include "a9_collectives/commands/commands.h"
#include "common/checks/lab_main.h"

namespace lab::a9 {
namespace {

void run_lab(RankRun& run) {
  run.announce();
  run_sections(run, sections(), calls());
  run.out.text(run.comm.rank(), "done");
}

}  // namespace
}  // namespace lab::a9

int main(int argc, char** argv) {
  using namespace lab;
  LabProgram program;
  program.name = "a9_collectives";
  program.description = "Assignment 9: collectives made of send and recv, and a parallel Transformer block on top.";
  program.body = a9::run_lab;
  program.expected_log = a9::expected_log;
  program.cases = a9::all_cases();
  program.calls = a9::calls();
  program.commands = {
      {"bench", "bench [--nproc P] (times every algorithm against Gloo and Open MPI)", a9::bench_command},
      {"sim", "sim [--ranks P] [--bytes N] [--sweep] (the same on a simulated network)", a9::sim_command},
      {"explain", "explain NAME [--text] (draws who sends which chunk when)", a9::explain_command}};
  return lab_main(argc, argv, program);
}
