#include "grading/compile/link_objects.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace lab::grading {

SandboxJob tool_job(const std::string& folder, std::vector<std::string> argv) {
  SandboxJob job;
  job.folder = folder;
  job.argv = std::move(argv);
  job.limits.run_seconds = 60;
  job.limits.output_bytes = 8u << 20;
  return job;
}

std::string link_objects(const BuildRecipe& recipe, const std::map<std::string, std::string>& objects,
                         const std::string& program, const Sandbox& sandbox) {
  SandboxJob job = tool_job(std::filesystem::path(program).parent_path().string(), {"env", "-C", recipe.folder});
  job.readable = {recipe.folder};
  for (const std::string& argument : recipe.link) {
    if (argument == kObjectsPlace) {
      for (const auto& [name, object] : objects) {
        job.argv.push_back(object);
        job.readable.push_back(object);
      }
    } else {
      job.argv.push_back(argument == kProgramPlace ? program : argument);
    }
  }
  // An object may ask lld for further libraries (.deplibs), such as the reference's.
  if (std::find(recipe.link.begin(), recipe.link.end(), "-fuse-ld=lld") != recipe.link.end())
    job.argv.push_back("-Wl,--no-dependent-libraries");
  const SandboxResult result = sandbox.run_or_give_up(job);
  if (result.exit_code == 0) return "";
  return result.err.empty() ? fmt::format("the linker {}", result.ending()) : result.err;
}

}  // namespace lab::grading
