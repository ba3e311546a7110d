#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "a5_pipeline/calls/pipelined_model.h"
#include "a5_pipeline/data_loader.h"
#include "a5_pipeline/pipeline_stage.h"
#include "common/course/starter/markers.h"
#include "common/pipeline/generators.h"
#include "common/pipeline/timeline.h"
#include "common/testing/test.h"
#include "common/testing/worlds.h"

// The numbers in the reference answers are those that the code gives, and the code in them is the reference solution.
namespace lab::a5 {
namespace {

constexpr int kNumRanks = 4;

std::string folder() {
  const char* source_dir = std::getenv("LAB_SOURCE_DIR");
  REQUIRE_MESSAGE(source_dir != nullptr, "LAB_SOURCE_DIR: where the sources are");
  return std::string(source_dir) + "/a5_pipeline";
}

std::string get_text(const std::string& path) {
  std::ifstream file(path);
  REQUIRE_MESSAGE(file, path);
  std::ostringstream whole;
  whole << file.rdbuf();
  return whole.str();
}

/// The reference answers between this heading and the next, of whatever level.
std::string answer_to(const std::string& heading) {
  const std::string text = get_text(folder() + "/answers/a5_answers.md");
  const std::size_t begin = text.find("# " + heading);
  REQUIRE_MESSAGE(begin != std::string::npos, heading);
  return text.substr(begin, text.find("\n##", begin) - begin);
}

/// The cells of the table row that begins with `first`, trimmed; empty cells are included.
std::vector<std::string> make_row(const std::string& answer, const std::string& first) {
  std::istringstream lines(answer);
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> cells;
    std::istringstream parts(line);
    std::string cell;
    std::getline(parts, cell, '|');  // before the first cell
    while (std::getline(parts, cell, '|')) {
      const std::size_t begin = cell.find_first_not_of(' ');
      cells.push_back(begin == std::string::npos ? "" : cell.substr(begin, cell.find_last_not_of(' ') - begin + 1));
    }
    if (!cells.empty() && cells.front() == first) return cells;
  }
  return {};
}

/// The lines of the answer's code.
std::string code_in(const std::string& answer) {
  const std::string fence = "```cpp\n";
  const std::size_t begin = answer.find(fence);
  REQUIRE(begin != std::string::npos);
  const std::size_t code = begin + fence.size();
  return answer.substr(code, answer.find("```", code) - code);
}

/// The task's reference solution, from student/.
std::string find_solution(const std::string& task) {
  for (const auto& file : std::filesystem::directory_iterator(folder() + "/student")) {
    for (const SourcePart& part : parse_solution_markers(get_text(file.path()))) {
      if (part.task == task) return fmt::format("{}", fmt::join(part.lines, ""));
    }
  }
  return "there is no task " + task;
}

/// The handout's sizes.
PipelineArguments original() {
  PipelineArguments arguments;
  arguments.sequence_length = 8192;
  arguments.hidden_size = 4096;
  arguments.intermediate_size = 14336;
  arguments.number_of_layers = 12;
  arguments.dtype = at::kBFloat16;
  return arguments;
}

std::int64_t message_bytes(const PipelineArguments& arguments) {
  std::int64_t bytes = static_cast<std::int64_t>(c10::elementSize(arguments.dtype));
  for (const std::int64_t size : arguments.activation_shape()) bytes *= size;
  return bytes;
}

/// The picture of Q7: each message waited for where it is posted, forward 1, backward 2, messages free.
pipeline::Timeline sketch() {
  pipeline::ScheduleOptions options;
  options.num_ranks = kNumRanks;
  options.waiting = pipeline::Waiting::kBlocking;
  const pipeline::Schedule schedule = pipeline::make_schedule(options);
  return pipeline::make_timeline(schedule, pipeline::even_costs(schedule, 1, 1, 1));
}

/// A message or a computation of one rank.
struct Deed {
  std::string operation;  ///< "recv_forward", or "F" and "B" of a computation
  int peer = -1;
};

/// What each rank of the handout's pipeline did at the default sizes, in order.
std::vector<std::vector<Deed>> deeds_of_ranks() {
  launch::WorldSpec spec = threads(kNumRanks);
  spec.traced = true;
  const launch::WorldOutcome outcome = launch::run_ranks(spec, [](Communicator& comm) {
    run_handout_pipeline(PipelineArguments(), comm);
    return TensorMap{};
  });
  REQUIRE_FALSE(outcome.failure);
  std::vector<std::vector<Deed>> deeds;
  for (const launch::RankOutcome& rank : outcome.ranks) {
    std::vector<comm::TraceEvent> events = rank.trace;
    std::stable_sort(events.begin(), events.end(), [](const comm::TraceEvent& a, const comm::TraceEvent& b) {
      return a.end_seconds < b.end_seconds;
    });
    auto& own = deeds.emplace_back();
    for (const comm::TraceEvent& event : events) {
      if (event.kind == comm::TraceKind::kComputation) own.push_back({event.operation.substr(0, 1)});
      if (event.kind != comm::TraceKind::kMessage) continue;
      const bool sends = event.direction == comm::Direction::kSend, down = event.peer > event.rank;
      own.push_back(
          {fmt::format("{}_{}", sends ? "send" : "recv", sends == down ? "forward" : "backward"), event.peer});
    }
  }
  return deeds;
}

/// "8 to rank 1", "8 from rank 0" or "nothing".
std::string list_messages(const std::vector<Deed>& deeds, const std::string& operation) {
  const auto is_it = [&](const Deed& deed) { return deed.operation == operation; };
  const auto first = std::find_if(deeds.begin(), deeds.end(), is_it);
  if (first == deeds.end()) return "nothing";
  return fmt::format("{} {} rank {}", std::count_if(deeds.begin(), deeds.end(), is_it),
                     operation.substr(0, 4) == "send" ? "to" : "from", first->peer);
}

const std::vector<std::string>& message_names() {
  static const std::vector<std::string> names = {"recv_forward", "send_forward", "recv_backward", "send_backward"};
  return names;
}

TEST_CASE("the answers' code is the reference solution's") {
  for (const auto& [question, task] :
       std::vector<std::pair<std::string, std::string>>{{"Q2.", "a5.check_arguments"},
                                                        {"Q4.", "a5.baseline"},
                                                        {"Q5.", "a5.distribute_layers"},
                                                        {"Q6.", "a5.requires_dataloader"},
                                                        {"In time", "a5.pipeline_communicate"},
                                                        {"Q8.", "a5.all_forward_all_backward"},
                                                        {"Q9.", "a5.compare_outputs"},
                                                        {"Q10.", "a5.compare_gradients"}}) {
    CAPTURE(task);
    CHECK(code_in(answer_to(question)) == find_solution(task));
  }
}

TEST_CASE("Q3: shape, bytes and number of messages") {
  const std::string answer = answer_to("Q3.");
  for (const auto& [name, dtype, arguments] : std::vector<std::tuple<std::string, std::string, PipelineArguments>>{
           {"the original's", "bfloat16", original()}, {"the defaults", "float32", PipelineArguments()}}) {
    const std::int64_t num_messages = 2 * arguments.number_of_micro_batches() * (kNumRanks - 1);
    const std::vector<std::string> expected = {name,
                                               fmt::format("[{}]", fmt::join(arguments.activation_shape(), ", ")),
                                               dtype,
                                               fmt::format("{}", message_bytes(arguments)),
                                               fmt::format("{}", num_messages),
                                               fmt::format("{}", num_messages * message_bytes(arguments))};
    CHECK(make_row(answer, name) == expected);
  }
  std::size_t num_sends = 0;
  for (const auto& deeds : deeds_of_ranks()) {
    for (const Deed& deed : deeds) num_sends += deed.operation.substr(0, 4) == "send";
  }
  CHECK(make_row(answer, "the defaults")[4] == fmt::format("{}", num_sends));
}

TEST_CASE("Q5, Q6: the layers of each rank, and who needs the data") {
  const std::int64_t num_layers = PipelineArguments().number_of_layers;
  std::vector<std::string> needs = {"needs training data"};
  for (int rank = 0; rank < kNumRanks; ++rank) {
    const std::vector<std::string> expected = {
        fmt::format("{}", rank), fmt::format("{}", fmt::join(distribute_layers(num_layers, rank, kNumRanks), " "))};
    CHECK(make_row(answer_to("Q5."), expected.front()) == expected);
    needs.emplace_back(requires_dataloader(rank, kNumRanks) ? "yes" : "no");
  }
  CHECK(make_row(answer_to("Q5."), "rank")[1] == fmt::format("layers of {}", num_layers));
  CHECK(make_row(answer_to("Q6."), needs.front()) == needs);
}

TEST_CASE("Q7: which rank does which operation, with whom, how often") {
  const auto deeds = deeds_of_ranks();
  for (const std::string& name : message_names()) {
    std::vector<std::string> expected = {"`" + name + "`"};
    for (const auto& of_rank : deeds) expected.push_back(list_messages(of_rank, name));
    std::vector<std::string> row = make_row(answer_to("Q7."), expected.front());
    REQUIRE(row.size() == expected.size() + 1);
    row.pop_back();  // when: checked by the next test
    CHECK(row == expected);
  }
}

TEST_CASE("Q7: receives stand before a computation, sends after it; all forward, then all backward") {
  const auto deeds = deeds_of_ranks();
  for (int rank = 0; rank < kNumRanks; ++rank) {
    std::vector<std::string> expected, found;
    for (const auto& [letter, name, from, to] : {std::tuple("F", "forward", rank > 0, rank < kNumRanks - 1),
                                                 std::tuple("B", "backward", rank<kNumRanks - 1, rank> 0)}) {
      for (std::int64_t i = 0; i < PipelineArguments().number_of_micro_batches(); ++i) {
        if (from) expected.push_back(std::string("recv_") + name);
        expected.emplace_back(letter);
        if (to) expected.push_back(std::string("send_") + name);
      }
    }
    for (const Deed& deed : deeds[static_cast<std::size_t>(rank)]) found.push_back(deed.operation);
    CAPTURE(rank);
    CHECK(found == expected);
  }
}

TEST_CASE("Q7: when the messages of the sketch are sent, and when the batch ends") {
  const pipeline::Timeline timeline = sketch();
  std::map<std::string, std::vector<std::vector<double>>> times;  // of each operation, on each rank
  for (const std::string& name : message_names()) times[name].resize(kNumRanks);
  for (const pipeline::Span& span : timeline.messages) {
    const bool forward = span.action.operation == pipeline::Operation::kSendForward;
    const int dst_rank = span.rank + (forward ? 1 : -1);
    times[forward ? "send_forward" : "send_backward"][static_cast<std::size_t>(span.rank)].push_back(
        span.start_seconds);
    times[forward ? "recv_forward" : "recv_backward"][static_cast<std::size_t>(dst_rank)].push_back(span.end_seconds);
  }
  const std::string answer = answer_to("In time");
  for (auto& [name, of_ranks] : times) {
    std::vector<std::string> expected = {"`" + name + "`"};
    for (auto& at : of_ranks) {
      std::sort(at.begin(), at.end());
      expected.push_back(at.empty() ? "" : fmt::format("{}, {} ... {}", at[0], at[1], at.back()));
    }
    CHECK(make_row(answer, expected.front()) == expected);
  }
  const double makespan = timeline.makespan_seconds, busy = timeline.busy_seconds[0];
  const std::string message = fmt::format("The batch ends at {} ms: {} ms of work on each rank and {} ms of bubble.",
                                          makespan, busy, makespan - busy);
  CHECK(answer.find(message) != std::string::npos);
}

}  // namespace
}  // namespace lab::a5
