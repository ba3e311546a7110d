#include "common/cli/app.h"
#include "common/course/course_commands.h"

// Implements the student's commands of ./lab, except for building and running: no tensors, so it starts in
// milliseconds.
namespace lab {
namespace {

ExitCode run(int argc, char** argv) {
  cli::App app("labcourse", "What ./lab's student commands do.");
  app.add_commands({{"next", "names the next task and what to read for it", next_command},
                    {"status", "lists the tasks and how far each is", status_command},
                    {"hint", "shows a task's next hint, or all up to a level", hint_command},
                    {"questions", "prints the written questions with a student's numbers", questions_command},
                    {"reset", "puts a task's TODO back as it was handed out", reset_command},
                    {"update", "brings this starter up to a newer one", update_command},
                    {"view", "makes a page of a run", view_command},
                    {"plan", "prints what to check", plan_command},
                    {"record", "remembers the results of checks", record_command},
                    {"combine", "puts the results of several checks into one file", combine_command},
                    {"summary", "counts the tasks that are solved", summary_command},
                    {"wait", "waits until a student file is saved", wait_command},
                    {"needs-run", "says whether the hand-in needs a run", needs_run_command},
                    {"identity", "stores who hands in; asks on a terminal, once", identity_command},
                    {"pack", "packs what a lab asks to hand in", pack_command}});
  return app.run(argc, argv);
}

}  // namespace
}  // namespace lab

int main(int argc, char** argv) {
  return lab::cli::guarded_main(argc, argv, lab::run);
}
