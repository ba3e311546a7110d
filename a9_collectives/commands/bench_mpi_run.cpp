#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>

#include "a9_collectives/commands/bench.h"
#include "common/base/errors.h"
#include "common/base/subprocess.h"
#include "common/bench/bench_blocks.h"
#include "common/launch/supervise/run_directory.h"

namespace lab::a9 {
namespace {

std::vector<MpiWay> all_ways() {
  // pml ob1: without it another layer may bypass the btl. So do the sm collectives.
  return {
      {"mpi tcp",
       {"--mca", "pml", "ob1", "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", "lo", "--mca", "coll", "^sm"},
       &BenchRow::ratio_to_mpi},
      {"mpi shared memory", {"--mca", "pml", "ob1", "--mca", "btl", "vader,self"}, &BenchRow::ratio_to_mpi_shared}};
}

/// In the folder of this program.
std::string peer_program() {
  return std::filesystem::path(own_program()).replace_filename("bench_mpi").string();
}

/// Unbound, as our ranks are.
std::vector<std::string> command(const MpiWay& way, const MpiJob& job, const std::string& json_file) {
  std::vector<std::string> arguments = {"mpirun", "--oversubscribe", "--bind-to", "none", "--stdin", "none"};
  if (::geteuid() == 0) arguments.emplace_back("--allow-run-as-root");
  arguments.insert(arguments.end(), way.options.begin(), way.options.end());
  for (const std::string& argument :
       {std::string("-n"), fmt::format("{}", job.num_ranks), peer_program(), std::string("--collective"),
        job.collective->name, std::string("--bytes"), fmt::format("{}", fmt::join(job.sizes, ",")),
        std::string("--turns"), fmt::format("{}", job.turns), std::string("--json"), json_file}) {
    arguments.push_back(argument);
  }
  return arguments;
}

BenchRow row_of(const nlohmann::json& measured, const MpiWay& way, const MpiJob& job) {
  BenchRow row;
  row.collective = job.collective->name;
  row.algorithm = way.name;
  row.bytes = measured.at("bytes");
  row.ranks = job.num_ranks;
  row.bus_factor = job.collective->bus_factor(job.num_ranks);
  std::vector<double> seconds = measured.at("seconds");
  std::sort(seconds.begin(), seconds.end());
  row.min_seconds = seconds.front();
  row.median_seconds = seconds[seconds.size() / 2];
  row.max_seconds = seconds.back();
  row.wrong = measured.at("wrong");
  return row;
}

}  // namespace

MpiOutcome run_mpi(const MpiWay& way, const MpiJob& job) {
  const launch::RunDirectory directory;
  const std::string json_file = directory.path() + "/rows.json";
  ProcessSpec mpirun;
  mpirun.argv = command(way, job, json_file);
  ProgramEnd end = run_program(mpirun, job.limit_seconds);
  MpiOutcome outcome;
  if (!end.well()) {
    end.err = std::regex_replace(end.err, std::regex("-{10,}"), "");  // mpirun frames its messages
    outcome.failure = "mpirun " + end.message();
    return outcome;
  }
  std::ifstream file(json_file);
  const nlohmann::json all = nlohmann::json::parse(file, nullptr, false);
  if (all.is_discarded()) {
    outcome.failure = "mpirun ended well, but bench_mpi left no rows";
    return outcome;
  }
  outcome.library = all.at("library");
  for (const nlohmann::json& measured : all.at("rows")) outcome.rows.push_back(row_of(measured, way, job));
  return outcome;
}

UsableMpi usable_mpi(int num_ranks) {
  UsableMpi usable;
  const std::string hint = "hint: apt-get install libopenmpi-dev openmpi-bin, then build again";
  if (!std::filesystem::exists(peer_program())) {
    usable.lines.push_back(fmt::format("peer MPI is left out: {} was not built; {}", peer_program(), hint));
    return usable;
  }
  MpiJob trial;
  trial.collective = &collective_named("allreduce");
  trial.sizes = {whole_bytes(256 << 10, num_ranks)};  // large enough for a copy from process to process
  trial.num_ranks = num_ranks;
  trial.turns = 1;
  try {
    for (const MpiWay& way : all_ways()) {
      MpiOutcome outcome = run_mpi(way, trial);
      if (outcome.failure.empty() && outcome.rows.front().wrong != 0) outcome.failure = "its all-reduce is wrong";
      if (outcome.failure.empty()) usable.ways.push_back(way);
      usable.lines.push_back(outcome.failure.empty()
                                 ? fmt::format("peer {}: {}", way.name, outcome.library)
                                 : fmt::format("peer {} is left out: {}", way.name, outcome.failure));
    }
  } catch (const UsageError& error) {
    usable.lines.push_back(fmt::format("peer MPI is left out: {}; {}", error.what(), hint));
  }
  return usable;
}

}  // namespace lab::a9
