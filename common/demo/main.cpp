#include <unistd.h>

#include <cstdio>

#include "common/cli/guarded_main.h"
#include "common/demo/commands.h"

int main(int argc, char** argv) {
  using namespace lab;
  const int exit_code = cli::guarded_main(argc, argv, [](int count, char** arguments) {
    cli::App app("lab_demo", "What ./lab demo shows of ranks that exchange messages, before any task is solved.");
    app.add_commands({{"both-send", "two ranks that wait for each other", demo::both_send_command},
                      {"learn", "a model in a pipeline: its loss, and its speed-up", demo::learn_command}});
    return app.run(count, arguments);
  });
  std::fflush(nullptr);
  _exit(exit_code);
}
