#include "common/cli/app.h"
#include "common/course/course_commands.h"

// Implements the student's commands of ./lab: no tensors, so it starts in milliseconds. ./lab builds it, and starts it
// under its own name.
namespace lab {
namespace {

ExitCode run(int argc, char** argv) {
  cli::App app("lab", "What ./lab's student commands do.");
  app.add_commands({{"next", "names the next task and what to read for it", next_command},
                    {"status", "lists the tasks and how far each is", status_command},
                    {"hint", "shows a task's next hint, or all up to a level", hint_command},
                    {"questions", "prints the written questions with a student's numbers", questions_command},
                    {"reset", "puts a task's TODO back as it was handed out", reset_command},
                    {"update", "brings this starter up to a newer one", update_command},
                    {"view", "makes a page of a run", view_command},
                    {"check", "builds and checks: what is wrong, on which rank", check_command},
                    {"watch", "checks again whenever a student file is saved", watch_command},
                    {"submit", "checks, runs what the assignment asks for, and packs the hand-in", submit_command},
                    {"test", "checks every task and counts", test_command}});
  return app.run(argc, argv);
}

}  // namespace
}  // namespace lab

int main(int argc, char** argv) {
  return lab::cli::guarded_main(argc, argv, lab::run);
}
