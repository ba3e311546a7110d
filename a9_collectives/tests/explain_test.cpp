#include "a9_collectives/commands/commands.h"
#include "a9_collectives/commands/explanation.h"
#include "common/plot/plot.h"
#include "common/testing/get_message.h"
#include "common/testing/temporary_folder.h"
#include "common/testing/test.h"

namespace lab::a9 {
namespace {

using testing::contains;

template <typename Check>
void for_every_algorithm(const Check& check) {
  for (const Collective& collective : catalogue()) {
    for (const Algorithm& algorithm : collective.algorithms) {
      for (const int num_ranks : {2, 3, 4, 5, 8}) {
        INFO(collective.name << " " << algorithm.name << " on " << num_ranks << " ranks");
        check(collective, algorithm, num_ranks);
      }
    }
  }
}

std::string get_text(const char* collective, const char* algorithm, int num_ranks) {
  const Collective& found = collective_named(collective);
  return explanation_text(explain(found, algorithm_named(found, algorithm), num_ranks));
}

ExitCode run(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "explain");
  std::vector<const char*> argv;
  for (const std::string& argument : arguments) argv.push_back(argument.data());
  cli::App app("explain", "");
  explain_command(app);
  return app.run(static_cast<int>(argv.size()), argv.data());
}

std::string refusal(const std::vector<std::string>& arguments) {
  return testing::get_message<UsageError>([&] { run(arguments); });
}

TEST_CASE("the all-to-all on 4 ranks: three steps of four chunks") {
  const std::string steps =
      "rank 0 starts with a0 a1 a2 a3\n"
      "rank 1 starts with b0 b1 b2 b3\n"
      "rank 2 starts with c0 c1 c2 c3\n"
      "rank 3 starts with d0 d1 d2 d3\n"
      "step 1: 0->1 a1, 1->2 b2, 2->3 c3, 3->0 d0\n"
      "step 2: 0->2 a2, 1->3 b3, 2->0 c0, 3->1 d1\n"
      "step 3: 0->3 a3, 1->0 b0, 2->1 c1, 3->2 d2\n"
      "rank 0 ends with a0 b0 c0 d0\n"
      "rank 1 ends with a1 b1 c1 d1\n"
      "rank 2 ends with a2 b2 c2 d2\n"
      "rank 3 ends with a3 b3 c3 d3\n";
  CHECK(get_text("all_to_all", "direct", 4) ==
        "all_to_all direct on 4 ranks: 1 step with all its messages at once, shown as 3 steps, 12 messages\n" + steps);
  CHECK(get_text("all_to_all", "pairwise", 4) == "all_to_all pairwise on 4 ranks: 3 steps, 12 messages\n" + steps);
}

TEST_CASE("sums say over which ranks they go, and the tensor is cut where the algorithm cuts it") {
  CHECK(get_text("allreduce", "ring", 3) ==
        "allreduce ring on 3 ranks: 4 steps, 12 messages\n"
        "rank 0 starts with a0 a1 a2\n"
        "rank 1 starts with b0 b1 b2\n"
        "rank 2 starts with c0 c1 c2\n"
        "step 1: 0->1 a0, 1->2 b1, 2->0 c2\n"
        "step 2: 0->1 2:c+a, 1->2 0:a+b, 2->0 1:b+c\n"
        "step 3: 0->1 1:Σ, 1->2 2:Σ, 2->0 0:Σ\n"
        "step 4: 0->1 0:Σ, 1->2 1:Σ, 2->0 2:Σ\n"
        "rank 0 ends with 0:Σ 1:Σ 2:Σ\n"
        "rank 1 ends with 0:Σ 1:Σ 2:Σ\n"
        "rank 2 ends with 0:Σ 1:Σ 2:Σ\n");
  CHECK(get_text("allreduce", "recursive_doubling", 3) ==
        "allreduce recursive_doubling on 3 ranks: 3 steps, 4 messages\n"
        "rank 0 starts with a\n"
        "rank 1 starts with b\n"
        "rank 2 starts with c\n"
        "step 1: 0->1 a\n"
        "step 2: 1->2 a+b, 2->1 c\n"
        "step 3: 1->0 Σ\n"
        "rank 0 ends with Σ\n"
        "rank 1 ends with Σ\n"
        "rank 2 ends with Σ\n");
}

TEST_CASE("a chain shows its pieces, an all-gather whose parts are joined") {
  const std::string chain = get_text("broadcast", "chain", 3);
  CHECK(contains(chain, "step 2: 0->1 a1, 1->2 a0\n"));
  CHECK(contains(chain, "rank 2 ends with a0 a1 a2 a3\n"));
  const std::string bruck = get_text("allgather", "bruck", 4);
  CHECK(contains(bruck, "step 2: 0->2 a b, 1->3 b c, 2->0 c d, 3->1 d a\n"));
}

TEST_CASE("nothing of unknown origin travels, and every rank ends with what the collective promises") {
  for_every_algorithm([](const Collective& collective, const Algorithm& algorithm, int num_ranks) {
    const Explanation explanation = explain(collective, algorithm, num_ranks);
    for (const StepMessage& message : explanation.messages) CHECK(message.label.find('?') == std::string::npos);
    const RankSet everyone = (RankSet{1} << num_ranks) - 1;
    for (int rank = 0; rank < num_ranks; ++rank) {
      const auto& result = explanation.results[static_cast<std::size_t>(rank)];
      for (std::size_t i = 0; i < result.size(); ++i) {
        const bool sums = collective.name == "allreduce" || collective.name == "reduce_scatter";
        const RankSet source = collective.name == "broadcast" ? 1 : RankSet{1} << i;
        CHECK(result[i].ranks == (sums ? everyone : source));
      }
      if (collective.name == "all_to_all" || collective.name == "reduce_scatter") {
        const std::string number = std::to_string(rank);
        const std::string name = explanation.names.name(result.front());
        CHECK(name == (collective.name == "all_to_all" ? "a" + number : number + ":Σ"));
      }
    }
  });
}

TEST_CASE("the same picture every time") {
  for_every_algorithm([](const Collective& collective, const Algorithm& algorithm, int num_ranks) {
    const auto svg = [&] { return plot::to_svg(explain_diagram(explain(collective, algorithm, num_ranks))); };
    CHECK(svg() == svg());
  });
}

TEST_CASE("a picture has an arrow per message and a box per chunk") {
  const Collective& collective = collective_named("all_to_all");
  const plot::Timeline diagram = explain_diagram(explain(collective, algorithm_named(collective, "direct"), 4));
  CHECK(diagram.num_ranks == 4);
  const plot::Clock& clock = diagram.clocks.at(0);
  CHECK(clock.arrows.size() == 12);
  REQUIRE(clock.boxes.size() == 32);
  CHECK(clock.boxes[5].name == "b1");
  CHECK(clock.boxes[5].rank == 1);
  CHECK(clock.boxes.back().name == "d3");
  CHECK(clock.arrows.front().label == "a1");
  REQUIRE(clock.labels.size() == 5);
  CHECK(clock.labels[3].text == "step 3");
  CHECK(diagram.legend.size() == 4);
  CHECK(clock.title ==
        "a1: chunk 1 of rank 0. In one step, a rank sends at most one message and receives at most one.");
}

TEST_CASE("however many the steps, the picture can be drawn") {
  const Algorithm chatty = {"chatty",
                            [](const at::Tensor& input, PointToPoint& p2p) {
                              for (int turn = 0; turn < 200; ++turn) {
                                if (p2p.rank() == 0) p2p.send(input, 1);
                                if (p2p.rank() == 1) p2p.recv(input, 0);
                              }
                              return input;
                            },
                            {}};
  const Explanation explanation = explain(collective_named("broadcast"), chatty, 2);
  CHECK(num_steps(explanation.messages) == 200);
  CHECK(explain_diagram(explanation).width_px < 10000);
  CHECK_NOTHROW(plot::to_svg(explain_diagram(explanation)));
}

TEST_CASE("a wrong algorithm shows: what was never sent is '?'") {
  const Algorithm wrong = {"wrong",
                           [](const at::Tensor& input, PointToPoint& p2p) {
                             if (p2p.rank() == 0) {
                               p2p.send(input + input, 1);  // its own twice
                               return at::zeros_like(input);
                             }
                             const at::Tensor received = at::empty_like(input);
                             if (p2p.rank() == 1) p2p.recv(received, 0);
                             return p2p.rank() == 1 ? received : input;
                           },
                           {}};
  CHECK(explanation_text(explain(collective_named("allreduce"), wrong, 3)) ==
        "allreduce wrong on 3 ranks: 1 step, 1 message\n"
        "rank 0 starts with a\n"
        "rank 1 starts with b\n"
        "rank 2 starts with c\n"
        "step 1: 0->1 ?\n"
        "rank 0 ends with ?\n"
        "rank 1 ends with ?\n"
        "rank 2 ends with c\n");
}

TEST_CASE("a failure of the run is passed on") {
  const Algorithm stub = {
      "stub", [](const at::Tensor&, PointToPoint&) -> at::Tensor { not_implemented("a9.allreduce"); }, {}};
  try {
    explain(collective_named("allreduce"), stub, 2);
    FAIL("expected an error");
  } catch (const Error& error) {
    CHECK(error.exit_code() == ExitCode::kNotImplemented);
  }
}

TEST_CASE("wrong names and options are refused before anything runs") {
  CHECK(contains(refusal({}), "expected NAME (broadcast, allreduce"));
  CHECK(contains(refusal({"--nproc", "4"}), "expected NAME"));
  CHECK(contains(refusal({"allredcue"}), "unknown collective 'allredcue'"));
  CHECK(contains(refusal({"allreduce", "--algorithm", "rign"}), "unknown allreduce algorithm 'rign'"));
  CHECK(contains(refusal({"allreduce", "--nproc", "17"}), "--nproc"));
  CHECK(contains(refusal({"allreduce", "--nproc", "1"}), "--nproc"));
  CHECK(contains(refusal({"allreduce", "--format", "gif"}), "--format"));
  CHECK(contains(refusal({"allreduce", "--text", "--out", "x"}), "--text"));
  CHECK(contains(refusal({"allreduce", "--file", "x.png", "--out", "x"}), "--file"));
  CHECK(contains(refusal({"allreduce", "--file", "x.png", "--algorithm", "all"}), "--file"));
}

TEST_CASE("the schematic is exactly two files, by either name") {
  if (!plot::missing_program().empty()) {
    MESSAGE("skipped: " << plot::missing_program());
    return;
  }
  for (const char* name : {"schematic", "all_to_all"}) {
    const testing::TemporaryFolder folder;
    CHECK(run({name, "--out", folder.file("new")}) == ExitCode::kAllMatch);
    CHECK(testing::read_bytes(folder.file("new/all_to_all_schematic.png")).substr(1, 3) == "PNG");
    CHECK(testing::read_bytes(folder.file("new/all_to_all_schematic.pdf")).substr(0, 4) == "%PDF");
    const std::filesystem::directory_iterator files(folder.file("new"));
    CHECK(std::distance(begin(files), end(files)) == 2);
  }
}

TEST_CASE("all algorithms in one go, and one file by its name") {
  if (!plot::missing_program().empty()) {
    MESSAGE("skipped: " << plot::missing_program());
    return;
  }
  const testing::TemporaryFolder folder;
  run({"reduce_scatter", "--algorithm", "all", "--nproc", "3", "--format", "svg", "--out", folder.file(".")});
  const std::size_t num_algorithms = collective_named("reduce_scatter").algorithms.size();
  CHECK(folder.num_files() == num_algorithms);
  CHECK(contains(testing::read_bytes(folder.file("reduce_scatter_ring.svg")), "<svg"));
  run({"broadcast", "--algorithm", "flat", "--file", folder.file("mine.pdf")});
  CHECK(folder.num_files() == num_algorithms + 1);
}

}  // namespace
}  // namespace lab::a9
