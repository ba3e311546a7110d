#include "optC_model_parallel/commands/commands.h"

int main(int argc, char** argv) {
  return lab::optc::lab_program(argc, argv);
}
