#include "optC_model_parallel/model/checkpoint.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <limits>
#include <utility>

#include "common/api/errors.h"
#include "common/testing/get_message.h"
#include "common/testing/temporary_folder.h"
#include "common/testing/test.h"
#include "common/testing/worlds.h"

// A training's files, whenever it is killed.
namespace lab::optc {
namespace {

using lab::testing::contains;
using lab::testing::get_message;
using lab::testing::read_bytes;
using lab::testing::TemporaryFolder;
using lab::testing::write_bytes;
using Steps = std::vector<std::int64_t>;

CheckpointOptions options_in(const std::string& folder) {
  CheckpointOptions options;
  options.folder = folder;
  options.every = 20;
  options.resume = true;
  options.fingerprint = "tutorial, seed 42";
  return options;
}

Checkpoint checkpoint_at(std::int64_t step) {
  Checkpoint checkpoint;
  checkpoint.step = step;
  checkpoint.state = {{"fc.weight", at::full({3}, static_cast<double>(step), at::kDouble)},
                      {"step.fc.weight", at::scalar_tensor(step, at::kLong)}};
  checkpoint.record.losses = {2.5, 1.0 / 3};
  checkpoint.record.parameters = {{{"fc.weight", at::ones({3})}}};
  return checkpoint;
}

/// The ranks of a training in one folder.
class Ranks {
 public:
  explicit Ranks(std::string folder, int num_ranks = 2) : folder_(std::move(folder)), num_ranks_(num_ranks) {}

  void write(int rank, std::int64_t step) const {
    Checkpoints(options_in(folder_), rank, num_ranks_).write(checkpoint_at(step));
  }

  /// The step from which all ranks go on, with its weights; -1: none.
  std::int64_t newest() const {
    const launch::WorldOutcome outcome = launch::run_ranks(threads(num_ranks_), [&](Communicator& comm) {
      Checkpoints checkpoints(options_in(folder_), comm.rank(), comm.size(), &comm.collectives());
      const std::optional<Checkpoint> found = checkpoints.newest();
      if (found && !found->state.at("fc.weight").equal(checkpoint_at(found->step).state.at("fc.weight")))
        throw std::runtime_error("other weights");
      return TensorMap{{"step", at::full({1}, found ? found->step : -1, at::kLong)}};
    });
    if (outcome.failure) throw UsageError(outcome.failure->message);
    for (const launch::RankOutcome& rank : outcome.ranks)
      CHECK(rank.tensors.at("step").equal(outcome.ranks[0].tensors.at("step")));
    return outcome.ranks[0].tensors.at("step").item<std::int64_t>();
  }

 private:
  std::string folder_;
  int num_ranks_;
};

TEST_CASE("the last checkpoint is read back, and no longer needs its file") {
  const TemporaryFolder folder;
  Checkpoints checkpoints(options_in(folder.file("made/when/needed")), 0, 1);
  CHECK_FALSE(checkpoints.newest());
  checkpoints.write(checkpoint_at(20));
  checkpoints.write(checkpoint_at(40));
  const std::optional<Checkpoint> found = checkpoints.newest();
  std::filesystem::resize_file(folder.file("made/when/needed/step00000040.rank0.safetensors"), 0);
  REQUIRE(found);
  CHECK(found->step == 40);
  CHECK(found->state.size() == 2);
  CHECK(found->state.at("fc.weight").equal(checkpoint_at(40).state.at("fc.weight")));
  CHECK(found->state.at("step.fc.weight").equal(checkpoint_at(40).state.at("step.fc.weight")));
  CHECK(found->record.losses == checkpoint_at(40).record.losses);
  CHECK(found->record.parameters.at(0).at("fc.weight").equal(at::ones({3})));
}

TEST_CASE("without --resume nothing is read; with 0 as every nothing is due") {
  const TemporaryFolder folder;
  CheckpointOptions options = options_in(folder.file(""));
  Checkpoints(options, 0, 1).write(checkpoint_at(20));
  options.resume = false;
  CHECK_FALSE(Checkpoints(options, 0, 1).newest());
  CHECK(Checkpoints(options, 0, 1).due(40));
  CHECK_FALSE(Checkpoints(options, 0, 1).due(41));
  options.every = 0;
  CHECK_FALSE(Checkpoints(options, 0, 1).due(40));
  CHECK_FALSE(Checkpoints(options, 0, 1).writes());
}

TEST_CASE("the two newest are kept, of this rank, and nothing of an earlier run or of a killed writer") {
  const TemporaryFolder folder;
  const Ranks ranks(folder.file(""), 12);
  for (const std::int64_t step : {20, 40, 60, 80}) ranks.write(1, step);
  for (const std::int64_t step : {20, 40}) ranks.write(11, step);
  write_bytes(folder.file("step00000070.rank1.safetensors.123.0.tmp"), "half");
  write_bytes(folder.file("step00000070.rank1.txt"), "another's");
  ranks.write(1, 50);  // of a run that started over, or used another --checkpoint-every
  CHECK_FALSE(std::filesystem::exists(folder.file("step00000020.rank1.safetensors")));
  CHECK_FALSE(std::filesystem::exists(folder.file("step00000040.rank1.safetensors")));
  CHECK(std::filesystem::exists(folder.file("step00000050.rank1.safetensors")));
  CHECK_FALSE(std::filesystem::exists(folder.file("step00000060.rank1.safetensors")));
  CHECK_FALSE(std::filesystem::exists(folder.file("step00000080.rank1.safetensors")));
  CHECK(std::filesystem::exists(folder.file("step00000070.rank1.txt")));
  CHECK(std::filesystem::exists(folder.file("step00000020.rank11.safetensors")));
  CHECK(std::filesystem::exists(folder.file("step00000040.rank11.safetensors")));
  CHECK(folder.num_files() == 4);
}

TEST_CASE("killed between two ranks' writes, both go on from the one before, and then write again") {
  const TemporaryFolder folder;
  const Ranks ranks(folder.file(""));
  ranks.write(0, 20);
  CHECK(ranks.newest() == -1);  // rank 1 was killed before its first
  ranks.write(1, 20);
  ranks.write(0, 40);
  ranks.write(1, 40);
  ranks.write(0, 60);
  CHECK(ranks.newest() == 40);
  ranks.write(1, 60);
  ranks.write(0, 60);
  write_bytes(folder.file("step00000080.rank1.safetensors.123.0.tmp"), "killed while writing");
  CHECK(ranks.newest() == 60);
}

TEST_CASE("a file that was cut short is refused, wherever it was cut") {
  const TemporaryFolder folder;
  Checkpoints checkpoints(options_in(folder.file("")), 0, 1);
  checkpoints.write(checkpoint_at(20));
  const std::string path = folder.file("/step00000020.rank0.safetensors");
  const std::string bytes = read_bytes(path);
  for (const std::size_t size : {std::size_t{0}, std::size_t{9}, bytes.size() / 2, bytes.size() - 1}) {
    write_bytes(path, bytes.substr(0, size));
    CHECK(contains(get_message([&] { checkpoints.newest(); }), path));
  }
  write_bytes(path, bytes);
  CHECK(checkpoints.newest()->step == 20);
}

TEST_CASE("another fingerprint or number of ranks is refused, and a rank that had no file is told so") {
  const TemporaryFolder folder;
  const Ranks two(folder.file(""), 2);
  two.write(0, 20);
  two.write(1, 20);
  const std::string hint = "; hint: the options that it was made with, or no --resume";
  const std::string first = folder.file("/step00000020.rank0.safetensors");
  CheckpointOptions options = options_in(folder.file(""));
  options.fingerprint = "tutorial, seed 43";
  CHECK(get_message([&] { Checkpoints(options, 0, 2).newest(); }) ==
        "checkpoint '" + first + "': expected fingerprint 'tutorial, seed 43', got 'tutorial, seed 42'" + hint);
  CHECK(
      contains(get_message([&] { Ranks(folder.file(""), 4).newest(); }), "': expected num_ranks '4', got '2'" + hint));
  CHECK(contains(get_message([&] { Checkpoints(options_in(folder.file("")), 0, 1).newest(); }),
                 "expected num_ranks '1', got '2'"));
}

std::string read_note(Checkpoints& checkpoints) {
  return checkpoints.notes().empty() ? "" : checkpoints.notes().front();
}

TEST_CASE("a bit that is flipped anywhere is seen, and the step before serves") {
  const TemporaryFolder folder;
  Checkpoints checkpoints(options_in(folder.file("")), 0, 1);
  checkpoints.write(checkpoint_at(20));
  checkpoints.write(checkpoint_at(40));
  const std::string path = folder.file("/step00000040.rank0.safetensors");
  const std::string bytes = read_bytes(path);
  for (std::size_t position = 0; position < bytes.size(); position += 7) {
    std::string flipped = bytes;
    flipped[position] = static_cast<char>(flipped[position] ^ (1 << position % 8));
    write_bytes(path, flipped);
    CAPTURE(position);
    const std::optional<Checkpoint> found = checkpoints.newest();
    REQUIRE(found);
    CHECK(found->step == 20);
    REQUIRE(checkpoints.notes().size() == 2);
    CHECK(contains(checkpoints.notes()[0], "checkpoint of step 40: '" + path + "' is "));
    CHECK(checkpoints.notes()[1] == "--resume: the training goes on from step 20 of '" + folder.file("") + "'");
  }
  std::string last = bytes;
  last.back() = static_cast<char>(last.back() ^ 1);
  write_bytes(path, last);
  checkpoints.newest();
  CHECK(contains(read_note(checkpoints), "is damaged: it has the checksum "));
}

TEST_CASE("where no step is left intact, the training does not silently start over") {
  const TemporaryFolder folder;
  Checkpoints checkpoints(options_in(folder.file("")), 0, 1);
  checkpoints.write(checkpoint_at(20));
  const std::string path = folder.file("/step00000020.rank0.safetensors");
  std::string bytes = read_bytes(path);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  write_bytes(path, bytes);
  const std::string message = get_message([&] { checkpoints.newest(); });
  CHECK(contains(message, "--resume: no step is left that all ranks have intact: checkpoint of step 20: '" + path));
  CHECK(contains(message, "hint: without --resume the training starts over"));
}

TEST_CASE("--resume with no checkpoint says so loudly, with the folder") {
  const TemporaryFolder folder;
  Checkpoints mistyped(options_in(folder.file("mistyped")), 0, 1);
  CHECK_FALSE(mistyped.newest());
  CHECK(read_note(mistyped) == "--resume: NOTHING TO GO ON FROM: there is no folder '" + folder.file("mistyped") +
                                   "'; the training starts at step 0; hint: --checkpoint-dir");
  Checkpoints empty(options_in(folder.file("")), 0, 1);
  CHECK_FALSE(empty.newest());
  CHECK(contains(read_note(empty), "there is no checkpoint in '" + folder.file("") + "'"));
  Checkpoints second(options_in(folder.file("mistyped")), 1, 2);
  CHECK_FALSE(second.newest());
  CHECK(second.notes().empty());  // the first rank reports it for all
}

TEST_CASE("weights that are not finite are not written") {
  const TemporaryFolder folder;
  Checkpoints checkpoints(options_in(folder.file("")), 0, 1);
  Checkpoint checkpoint = checkpoint_at(20);
  checkpoint.state["fc.weight"][1] = std::numeric_limits<double>::quiet_NaN();
  CHECK(get_message([&] { checkpoints.write(checkpoint); }) ==
        "after step 20: expected finite weights, got 1 of 3 values of 'fc.weight' that are not, the first nan; hint: a "
        "lower --lr");
}

TEST_CASE("a file of another program in a checkpoint's place is refused") {
  const TemporaryFolder folder;
  const std::string path = folder.file("/step00000020.rank0.safetensors");
  save_safetensors(path, {{"state.fc.weight", at::ones({3})}}, {{"format", "1"}, {"num_ranks", "1"}});
  Checkpoints checkpoints(options_in(folder.file("")), 0, 1);
  CHECK(get_message([&] { checkpoints.newest(); }) ==
        "--resume: no step is left that all ranks have intact: checkpoint of step 20: '" + path +
            "' is damaged: it has no checksum; hint: without --resume the training starts over");
}

/// Limits the size of this process's files, as on a full disk.
class SmallDisk {
 public:
  explicit SmallDisk(rlim_t bytes) {
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limited = before_;
    limited.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &limited);
  }
  ~SmallDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int);
};

TEST_CASE("a failed write is an error, and the older checkpoints remain") {
  const TemporaryFolder folder;
  Checkpoints checkpoints(options_in(folder.file("c")), 0, 1);
  checkpoints.write(checkpoint_at(20));
  checkpoints.write(checkpoint_at(40));
  std::string message;
  {
    const SmallDisk full(100);
    message = get_message([&] { checkpoints.write(checkpoint_at(60)); });
  }
  CHECK(contains(message, "cannot write '" + folder.file("c/step00000060.rank0.safetensors") + "': "));
  CHECK(checkpoints.newest()->step == 40);
  write_bytes(folder.file("f"), "a file");
  Checkpoints in_file(options_in(folder.file("f")), 0, 1);
  CHECK(get_message([&] { in_file.write(checkpoint_at(20)); }) ==
        "--checkpoint-dir " + folder.file("f") + ": expected a folder that can be made or written to");
  CHECK_FALSE(in_file.newest());
}

}  // namespace
}  // namespace lab::optc
