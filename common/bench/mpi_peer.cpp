#include <fmt/format.h>
#include <mpi.h>
#include <signal.h>
#include <sys/prctl.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/base/files.h"
#include "common/base/numbers.h"
#include "common/bench/bench_blocks.h"
#include "common/cli/app.h"
#include "common/cli/guarded_main.h"
#include "common/tensor/mixing.h"

// Open MPI's own collectives on float32, timed in the blocks and turns of `a9_collectives bench`, which uses it.
// Started by mpirun; rank 0 writes the rows.
namespace lab {
namespace {

struct World {
  World() {
    MPI_Init(nullptr, nullptr);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
  }
  ~World() { MPI_Finalize(); }
  int rank = 0;
  int size = 0;
};

using Floats = std::vector<float>;

/// One collective on P ranks, of P parts of `part` elements each.
struct Collective {
  std::string name;
  bool whole_input;   ///< all parts; else one
  bool whole_result;  ///< all parts; else one
  bool in_place;      ///< the input becomes the result
  void (*call)(Floats& input, Floats& result, int part);
  float (*expected)(const World& world, int part, int position);
};

/// Integers whose sum over 64 ranks is exact; a misplaced part is detected.
float value(int rank, int position) {
  const uint64_t drawn = splitmix64(splitmix64(static_cast<uint64_t>(rank)) + static_cast<uint64_t>(position));
  return static_cast<float>(drawn % 127) - 63;
}

float sum(const World& world, int position) {
  float total = 0;
  for (int rank = 0; rank < world.size; ++rank) total += value(rank, position);
  return total;
}

int count(const Floats& floats) {
  return static_cast<int>(floats.size());
}

const std::vector<Collective>& collectives() {
  static const std::vector<Collective> all = {
      {"broadcast", true, true, true,
       [](Floats& input, Floats&, int) { MPI_Bcast(input.data(), count(input), MPI_FLOAT, 0, MPI_COMM_WORLD); },
       [](const World&, int, int position) { return value(0, position); }},
      {"allreduce", true, true, true,
       [](Floats& input, Floats&, int) {
         MPI_Allreduce(MPI_IN_PLACE, input.data(), count(input), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
       },
       [](const World& world, int, int position) { return sum(world, position); }},
      {"allgather", false, true, false,
       [](Floats& input, Floats& result, int part) {
         MPI_Allgather(input.data(), part, MPI_FLOAT, result.data(), part, MPI_FLOAT, MPI_COMM_WORLD);
       },
       [](const World&, int part, int position) { return value(position / part, position % part); }},
      {"reduce_scatter", true, false, false,
       [](Floats& input, Floats& result, int part) {
         MPI_Reduce_scatter_block(input.data(), result.data(), part, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
       },
       [](const World& world, int part, int position) { return sum(world, world.rank * part + position); }},
      {"all_to_all", true, true, false,
       [](Floats& input, Floats& result, int part) {
         MPI_Alltoall(input.data(), part, MPI_FLOAT, result.data(), part, MPI_FLOAT, MPI_COMM_WORLD);
       },
       [](const World& world, int part, int position) {
         return value(position / part, world.rank * part + position % part);
       }}};
  return all;
}

const Collective& collective_named(const std::string& name) {
  std::string known;
  for (const Collective& one : collectives()) {
    if (one.name == name) return one;
    known += " " + one.name;
  }
  throw UsageError(fmt::format("--collective {}: unknown name; expected one of{}", name, known));
}

/// Seconds per call, by turn: a block takes as long as its slowest rank.
std::vector<double> seconds_by_turn(const Collective& collective, Floats& input, Floats& result, int part, int turns,
                                    int calls) {
  std::vector<double> seconds;
  for (int turn = -1; turn < turns; ++turn) {  // the first is a warm-up
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (int call = 0; call < calls; ++call) collective.call(input, result, part);
    if (turn >= 0) seconds.push_back((MPI_Wtime() - start) / calls);
  }
  MPI_Allreduce(MPI_IN_PLACE, seconds.data(), static_cast<int>(seconds.size()), MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return seconds;
}

/// Wrong elements in the result of one call, over all ranks.
long num_wrong(const Collective& collective, const World& world, Floats& input, Floats& result, int part) {
  for (int i = 0; i < count(input); ++i) input[static_cast<std::size_t>(i)] = value(world.rank, i);
  std::fill(result.begin(), result.end(), std::nanf(""));
  collective.call(input, result, part);
  const Floats& got = collective.in_place ? input : result;
  long wrong = 0;
  for (int i = 0; i < count(got); ++i)
    wrong += got[static_cast<std::size_t>(i)] == collective.expected(world, part, i) ? 0 : 1;
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  return wrong;
}

nlohmann::json row(const Collective& collective, std::int64_t bytes, int turns, const World& world) {
  const int elements = static_cast<int>(bytes / 4);
  const int part = elements / world.size;
  Floats input(static_cast<std::size_t>(collective.whole_input ? elements : part));
  Floats result(static_cast<std::size_t>(collective.in_place ? 0 : collective.whole_result ? elements : part));
  // Zeros, as in the timing of our own calls: an in-place sum that is repeated stays 0.
  const auto seconds = seconds_by_turn(collective, input, result, part, turns, calls_per_block(bytes));
  return {{"collective", collective.name},
          {"bytes", bytes},
          {"seconds", seconds},
          {"wrong", num_wrong(collective, world, input, result, part)}};
}

std::string library_name() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(text, &length);
  const std::string version(text, static_cast<std::size_t>(length));
  return version.substr(0, version.find(','));
}

ExitCode run(int argc, char** argv) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // not to outlive a killed mpirun
  cli::App app("bench_mpi", "Times Open MPI's collectives: mpirun -n P bench_mpi ...; a9_collectives bench runs it.");
  std::string name = "allreduce", sizes = "1048576", json_file = "/dev/stdout";
  int turns = 11;
  app.add_text("--collective", name, "NAME", "the collective");
  app.add_text("--bytes", sizes, "LIST", "sizes as nccl-tests counts them, with commas between");
  app.add_integer("--turns", turns, {1, 1000}, "blocks of calls of each size");
  app.add_text("--json", json_file, "FILE", "where rank 0 writes the rows");
  if (const auto done = app.parse(argc, argv)) return *done;
  const Collective& collective = collective_named(name);

  const World world;
  nlohmann::json rows = nlohmann::json::array();
  // Whole float32 elements on each rank.
  for (const std::int64_t bytes : numbers_in("--bytes", sizes, {4 * world.size, std::int64_t{1} << 32, 4 * world.size}))
    rows.push_back(row(collective, bytes, turns, world));
  const nlohmann::json all = {{"library", library_name()}, {"ranks", world.size}, {"rows", rows}};
  if (world.rank == 0) write_file_atomically(json_file, all.dump(1) + "\n");
  return ExitCode::kAllMatch;
}

}  // namespace
}  // namespace lab

int main(int argc, char** argv) {
  return lab::cli::guarded_main(argc, argv, lab::run);
}
