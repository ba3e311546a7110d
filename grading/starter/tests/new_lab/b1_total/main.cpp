#include "b1_total/cases/cases.h"
#include "common/checks/lab_main.h"

int main(int argc, char** argv) {
  using namespace lab;
  LabProgram program;
  program.name = "b1_total";
  program.description = "The smallest lab: a total over ranks.";
  program.cases = b1::all_cases;
  program.calls = b1::calls();
  program.steps = b1::program_steps;
  return lab_main(argc, argv, program);
}
