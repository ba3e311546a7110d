#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

// ci_steps FILE DIR: what a CI service would run for a sample, as DIR/env.sh and the scripts DIR/1.sh, DIR/2.sh, ...
// GitHub starts a shell for each step; GitLab runs all of a job's lines in one.
namespace {

void write(const std::string& file, const std::string& text) {
  std::ofstream stream(file);
  stream << text;
  if (!stream.flush()) throw std::runtime_error("cannot write " + file);
}

/// Variables of the service stand for the folder that the sample is in.
std::string with_workspace(std::string text) {
  for (const std::string variable : {"${{ github.workspace }}", "$CI_PROJECT_DIR"}) {
    for (auto at = text.find(variable); at != std::string::npos; at = text.find(variable))
      text.replace(at, variable.size(), "$PWD");
  }
  return text;
}

void write_environment(const YAML::Node& variables, const std::string& folder) {
  std::string text;
  for (const auto& variable : variables) {
    text += fmt::format("export {}=\"{}\"\n", variable.first.as<std::string>(),
                        with_workspace(variable.second.as<std::string>()));
  }
  if (text.empty()) throw std::runtime_error("no variables");
  write(folder + "/env.sh", text);
}

int write_steps_of_github(const YAML::Node& sample, const std::string& folder) {
  const YAML::Node job = sample["jobs"]["check"];
  if (job["container"].as<std::string>() != "debian:12" || !sample["on"]) throw std::runtime_error("another image");
  write_environment(sample["env"], folder);
  int count = 0;
  for (const YAML::Node& step : job["steps"]) {
    if (!step["run"]) {
      if (!step["uses"]) throw std::runtime_error("a step that neither runs nor uses anything");
      continue;
    }
    write(fmt::format("{}/{}.sh", folder, ++count), step["run"].as<std::string>() + "\n");
  }
  return count;
}

int write_steps_of_gitlab(const YAML::Node& sample, const std::string& folder) {
  const YAML::Node job = sample["labs"];
  if (job["image"].as<std::string>() != "debian:12") throw std::runtime_error("another image");
  write_environment(job["variables"], folder);
  std::string script;
  for (const char* part : {"before_script", "script"}) {
    for (const YAML::Node& line : job[part]) script += line.as<std::string>() + "\n";
  }
  write(folder + "/1.sh", script);
  return 1;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) throw std::runtime_error("use: ci_steps FILE DIR");
  std::filesystem::create_directories(argv[2]);
  const YAML::Node sample = YAML::LoadFile(argv[1]);
  const int count = sample["jobs"] ? write_steps_of_github(sample, argv[2]) : write_steps_of_gitlab(sample, argv[2]);
  fmt::print("{} scripts\n", count);
  return count > 0 ? 0 : 1;
} catch (const std::exception& failure) {
  fmt::print(stderr, "{}: {}\n", argc > 1 ? argv[1] : "ci_steps", failure.what());
  return 2;
}
