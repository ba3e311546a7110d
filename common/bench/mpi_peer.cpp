#include <fmt/format.h>
#include <mpi.h>
#include <signal.h>
#include <sys/prctl.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/own_core.h"
#include "common/bench/context_switches.h"
#include "common/bench/twin.h"
#include "common/cli/app.h"
#include "common/cli/guarded_main.h"
#include "common/tensor/mixing.h"

// Open MPI's own collectives on float32: each rank is the twin of one of bench_collectives, which has mpirun start it.
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

/// What a call returns, in memory of its own, as with the others that are measured.
class Result {
 public:
  explicit Result(int count) : floats_(new float[static_cast<std::size_t>(count)]), count_(count) {}
  float* data() { return floats_.get(); }
  int count() const { return count_; }

 private:
  std::unique_ptr<float[]> floats_;
  int count_;
};

/// One collective on P ranks, of P parts of `part` elements each.
struct Collective {
  std::string name;
  bool whole_input;   ///< all parts; else one
  bool whole_result;  ///< all parts; else one
  bool in_place;      ///< the input becomes the result
  void (*call)(Floats& input, float* result, int part);
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
       [](Floats& input, float*, int) { MPI_Bcast(input.data(), count(input), MPI_FLOAT, 0, MPI_COMM_WORLD); },
       [](const World&, int, int position) { return value(0, position); }},
      {"allreduce", true, true, true,
       [](Floats& input, float*, int) {
         MPI_Allreduce(MPI_IN_PLACE, input.data(), count(input), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
       },
       [](const World& world, int, int position) { return sum(world, position); }},
      {"allgather", false, true, false,
       [](Floats& input, float* result, int part) {
         MPI_Allgather(input.data(), part, MPI_FLOAT, result, part, MPI_FLOAT, MPI_COMM_WORLD);
       },
       [](const World&, int part, int position) { return value(position / part, position % part); }},
      {"reduce_scatter", true, false, false,
       [](Floats& input, float* result, int part) {
         MPI_Reduce_scatter_block(input.data(), result, part, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
       },
       [](const World& world, int part, int position) { return sum(world, world.rank * part + position); }},
      {"all_to_all", true, true, false,
       [](Floats& input, float* result, int part) {
         MPI_Alltoall(input.data(), part, MPI_FLOAT, result, part, MPI_FLOAT, MPI_COMM_WORLD);
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

/// One collective at one size.
class Measured {
 public:
  Measured(const World& world, const TwinBlock& block)
      : world_(world),
        collective_(collective_named(block.collective)),
        bytes_(block.bytes),
        part_(static_cast<int>(block.bytes / 4) / world.size),
        whole_(part_ * world.size),
        // Zeros, as in the timing of our own calls: an in-place sum that is repeated stays 0.
        input_(static_cast<std::size_t>(collective_.whole_input ? whole_ : part_)) {}

  bool is_operator(const TwinBlock& block) const {
    return collective_.name == block.collective && bytes_ == block.bytes;
  }

  TwinAnswer timed(int calls) {
    MPI_Barrier(MPI_COMM_WORLD);
    const std::int64_t switches = context_switches();
    const double start = MPI_Wtime();
    for (int call = 0; call < calls; ++call) {
      Result result(num_results());
      collective_.call(input_, result.data(), part_);
    }
    const double seconds = (MPI_Wtime() - start) / calls;
    return {seconds, 0, static_cast<double>(context_switches() - switches) / calls};
  }

  TwinAnswer checked() {
    for (int i = 0; i < count(input_); ++i) input_[static_cast<std::size_t>(i)] = value(world_.rank, i);
    Result result(num_results());
    std::fill(result.data(), result.data() + result.count(), std::nanf(""));
    collective_.call(input_, result.data(), part_);
    const float* const got = collective_.in_place ? input_.data() : result.data();
    const int num_elements = collective_.in_place ? count(input_) : result.count();
    long wrong = 0;
    for (int i = 0; i < num_elements; ++i) wrong += got[i] == collective_.expected(world_, part_, i) ? 0 : 1;
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    std::fill(input_.begin(), input_.end(), 0.0f);
    return {0, wrong};
  }

 private:
  int num_results() const { return collective_.in_place ? 0 : collective_.whole_result ? whole_ : part_; }

  const World& world_;
  const Collective& collective_;
  std::int64_t bytes_;
  int part_, whole_;
  Floats input_;
};

std::string library_name() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(text, &length);
  const std::string version(text, static_cast<std::size_t>(length));
  return version.substr(0, version.find(','));
}

ExitCode run(int argc, char** argv) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // not to outlive a killed mpirun
  cli::App app("bench_mpi", "Open MPI's collectives, for bench_collectives, which starts it: mpirun -n P bench_mpi");
  std::string folder, name;
  app.add_text("--folder", folder, "DIR", "where its ranks listen");
  app.add_text("--name", name, "NAME", "what they call this peer");
  if (const auto done = app.parse(argc, argv)) return *done;

  const World world;
  const CoreScope core(own_core(world.rank, world.size));
  std::optional<Measured> measured;
  serve_as_twin(folder, name, world.rank, library_name(), [&](const TwinBlock& block) {
    if (!measured || !measured->is_operator(block)) measured.emplace(world, block);
    return block.calls > 0 ? measured->timed(block.calls) : measured->checked();
  });
  return ExitCode::kAllMatch;
}

}  // namespace
}  // namespace lab

int main(int argc, char** argv) {
  return lab::cli::guarded_main(argc, argv, lab::run);
}
