#include "a9_collectives/cases/cases.h"
#include "a9_collectives/commands/commands.h"
#include "common/checks/lab_main.h"

int main(int argc, char** argv) {
  using namespace lab;
  LabProgram program;
  program.name = "a9_collectives";
  program.description = "Assignment 9: collectives made of send and recv, and a parallel Transformer block on top.";
  program.steps = a9::program_steps;
  program.cases = a9::all_cases;
  program.calls = a9::calls();
  program.commands = {{"bench", "times all algorithms against each other", a9::bench_command},
                      {"sim", "runs algorithms on a simulated network", a9::sim_command},
                      {"explain", "draws who sends which chunk when", a9::explain_command}};
  return lab_main(argc, argv, program);
}
