#include <fmt/format.h>

#include <filesystem>

#include "common/base/files.h"
#include "common/course/course_commands.h"
#include "common/page/run_page.h"

namespace lab {
namespace {

struct ViewOptions {
  std::string run_file, page_file;
};

ExitCode view(const ViewOptions& options) {
  const std::string page_file = options.page_file.empty()
                                    ? std::filesystem::path(options.run_file).replace_extension(".html").string()
                                    : options.page_file;
  write_file_atomically(page_file, page::run_page(read_file(options.run_file), options.run_file));
  fmt::print("{}\n", page_file);
  return ExitCode::kAllMatch;
}

}  // namespace

void view_command(cli::App& app) {
  auto& options = app.own(ViewOptions());
  app.add_argument("RUN.json", options.run_file, "what a lab's --json FILE has written");
  app.add_text("--out", options.page_file, "FILE", "the page (default: RUN.html)");
  add_root(app);  // ./lab gives it to every command
  app.set_action([&options] { return view(options); });
}

}  // namespace lab
