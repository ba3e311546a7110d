#include "common/comm/trace/trace.h"

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "common/plot/plot.h"
#include "common/testing/get_message.h"
#include "common/testing/lost_in_viewers.h"
#include "common/testing/temporary_folder.h"
#include "common/testing/test.h"

namespace lab::comm {
namespace {

using testing::contains;

std::vector<TraceEvent> two_ends() {
  TraceEvent sent;
  sent.rank = 0;
  sent.direction = Direction::kSend;
  sent.peer = 3;
  sent.tag = 7;
  sent.round = 5;
  sent.bytes = 1024;
  sent.operation = "send";
  sent.where = "ring.cpp:12";
  sent.start_seconds = 100.5;
  sent.end_seconds = 100.75;
  TraceEvent received = sent;
  received.rank = 3;
  received.direction = Direction::kRecv;
  received.peer = 0;
  received.operation = "recv";
  received.start_seconds = 100.25;
  sent.model_start = 1'000'000;
  sent.model_end = sent.model_arrived = 2'000'000'000'000;
  received.model_end = 7;
  received.model_arrived = 6;
  return {sent, received};
}

TEST_CASE("the Chrome trace has a process per rank, a slice per end and one arrow per message") {
  const auto events = nlohmann::json::parse(chrome_trace_json(two_ends())).at("traceEvents");
  int slices = 0;
  std::vector<int> arrow_ids;
  std::vector<std::string> processes;
  for (const auto& event : events) {
    const std::string phase = event.at("ph");
    if (event.at("pid") > 4) continue;  // in model time
    if (phase == "X") {
      ++slices;
      CHECK(event.at("args").at("bytes") == 1024);
      CHECK(event.at("args").at("round") == 5);
      CHECK_FALSE(event.at("args").contains("label"));
      if (event.at("pid") == 1) {
        CHECK(event.at("name") == "send to 3");
        CHECK(event.at("ts").get<double>() == doctest::Approx(250000));  // from the first event on, in microseconds
        CHECK(event.at("dur").get<double>() == doctest::Approx(250000));
        CHECK(event.at("args").at("model_start_ps") == 1'000'000);
        CHECK(event.at("args").at("model_end_ps") == 2'000'000'000'000);
        CHECK(event.at("args").at("model_arrived_ps") == 2'000'000'000'000);
      }
    }
    if (phase == "s" || phase == "f") arrow_ids.push_back(event.at("id"));
    if (phase == "M" && event.at("name") == "process_name") processes.push_back(event.at("args").at("name"));
  }
  CHECK(slices == 2);
  REQUIRE(arrow_ids.size() == 2);
  CHECK(arrow_ids[0] == arrow_ids[1]);
  CHECK(processes == std::vector<std::string>{"rank 0", "rank 3"});
}

TEST_CASE("the Chrome trace has everything again in model time, and the critical path") {
  const auto events = nlohmann::json::parse(chrome_trace_json(two_ends())).at("traceEvents");
  std::vector<std::string> processes, slices;
  for (const auto& event : events) {
    if (event.at("pid") <= 4) continue;
    if (event.at("ph") == "X") slices.push_back(event.at("name"));
    if (event.at("name") == "process_name") processes.push_back(event.at("args").at("name"));
    if (event.at("name") != "send to 3") continue;
    CHECK(event.at("ts").get<double>() == doctest::Approx(1));
    CHECK(event.at("dur").get<double>() == doctest::Approx(2'000'000 - 1));
  }
  CHECK(processes == std::vector<std::string>{"rank 0, model time", "rank 3, model time", "critical path, model time"});
  CHECK(slices == std::vector<std::string>{"send to 3", "recv from 0", "rank 0"});
}

TEST_CASE("arrows of different messages have different ids") {
  std::vector<TraceEvent> events = two_ends();
  events[1].sequence = 1;
  const auto parsed = nlohmann::json::parse(chrome_trace_json(events)).at("traceEvents");
  std::vector<int> ids;
  for (const auto& event : parsed) {
    if (event.contains("id") && event.at("pid") <= 4) ids.push_back(event.at("id"));
  }
  REQUIRE(ids.size() == 2);
  CHECK(ids[0] != ids[1]);
}

TEST_CASE("a collective is a slice of its own row, without an arrow") {
  TraceEvent event;
  event.rank = 1;
  event.kind = TraceKind::kCollective;
  event.peer = -1;
  event.bytes = 8;
  event.operation = "all_reduce";
  event.where = "a.cpp:1";
  event.end_seconds = 0.5;
  const auto list = nlohmann::json::parse(chrome_trace_json({event})).at("traceEvents");
  int slices = 0;
  for (const auto& each : list) {
    CHECK_FALSE(each.contains("id"));
    if (each.at("ph") != "X") continue;
    ++slices;
    CHECK(each.at("name") == "all_reduce");
    CHECK_FALSE(each.at("args").contains("model_arrived_ps"));
    CHECK(each.at("cat") == "collective");
  }
  CHECK(slices == 1);
  CHECK(contains(trace_csv({event}), "\n1,all,-1,0,0,0,0,8,all_reduce,a.cpp:1,"));
}

TEST_CASE("a computation is a slice of its own row, too, with its operation as its name") {
  TraceEvent event;
  event.rank = 2;
  event.kind = TraceKind::kComputation;
  event.peer = -1;
  event.sequence = 6;
  event.operation = "F6";
  event.start_seconds = 7;
  event.end_seconds = 7.5;
  int slices = 0;
  int row = -1;
  const auto parsed = nlohmann::json::parse(chrome_trace_json({event})).at("traceEvents");
  for (const auto& each : parsed) {
    CHECK_FALSE(each.contains("id"));
    if (each.at("ph") != "X") continue;
    ++slices;
    row = each.at("tid");
    CHECK(each.at("name") == "F6");
    CHECK(each.at("cat") == "computation");
    CHECK(each.at("dur").get<double>() == doctest::Approx(500000));
  }
  CHECK(slices == 1);
  std::vector<std::string> names;
  for (const auto& each : parsed) {
    if (each.at("name") == "thread_name" && each.at("tid") == row) names.push_back(each.at("args").at("name"));
  }
  CHECK(names == std::vector<std::string>{"rank 2 computations"});
  CHECK(contains(trace_csv({event}), "\n2,compute,-1,0,0,6,0,0,F6,,0.000000000,0.500000000,0,0,-1\n"));
}

/// A send of rank 1 from one microsecond to another, the n-th.
TraceEvent make_send(std::uint64_t n, double start_us, double end_us) {
  TraceEvent event;
  event.rank = 1;
  event.direction = Direction::kSend;
  event.operation = "isend";
  event.sequence = n;
  event.start_seconds = start_us * 1e-6;
  event.end_seconds = end_us * 1e-6;
  return event;
}

TEST_CASE("what overlaps is in rows of its own, with names; what only touches is in one") {
  const auto trace = nlohmann::json::parse(
      chrome_trace_json({make_send(0, 0, 10), make_send(1, 2, 6), make_send(2, 5, 12), make_send(3, 10, 10.3),
                         make_send(4, 10.3, 11), make_send(5, 10.3, 10.3)}));
  CHECK(testing::lost_in_viewers(trace) == "");
  std::vector<std::string> rows;
  std::map<int, double> ends;
  for (const auto& event : trace.at("traceEvents")) {
    if (event.at("name") == "thread_name") rows.push_back(event.at("args").at("name"));
    CHECK(event.at("pid") > 0);
    if (event.at("ph") != "X") continue;
    CHECK(event.at("tid") > 0);
    double& end = ends.emplace(event.at("tid"), -1).first->second;
    CHECK(end < event.at("ts"));  // the sum of doubles, too
    end = event.at("ts").get<double>() + event.at("dur").get<double>();
  }
  CHECK(rows == std::vector<std::string>{"rank 1 sends", "rank 1 sends (2)", "rank 1 sends (3)"});
}

TEST_CASE("an arrow ends in its receive, even if the message was there before") {
  for (const double arrived : {0.5, 2.5, 4.0, -1e6}) {
    CAPTURE(arrived);
    TraceEvent received = make_send(0, 1, 3), next = make_send(1, 3, 4);
    for (TraceEvent* event : {&received, &next}) {
      event->rank = 0;
      event->peer = 1;
      event->direction = Direction::kRecv;
      event->arrived_seconds = arrived * 1e-6;
    }
    const auto trace =
        nlohmann::json::parse(chrome_trace_json({make_send(0, 0, 1), make_send(1, 0, 2), received, next}));
    CHECK(testing::lost_in_viewers(trace) == "");
  }
}

TEST_CASE("slices that cross are lost in viewers, and arrows without a slice, a number or a beginning") {
  const auto lost = [](const std::string& others) {
    return testing::lost_in_viewers(nlohmann::json::parse(
        R"({"traceEvents": [{"ph": "X", "pid": 1, "tid": 1, "ts": 0, "dur": 10}, )" + others + "]}"));
  };
  const std::string here = R"("pid": 1, "tid": 1, )", elsewhere = R"("pid": 1, "tid": 2, )";
  CHECK(lost("{" + here + R"("ph": "X", "ts": 10, "dur": 5})") == "");
  CHECK(lost("{" + here + R"("ph": "X", "ts": 5, "dur": 5})") == "");
  CHECK(contains(lost("{" + here + R"("ph": "X", "ts": 5, "dur": 5.001})"), "1 of 2 slices and 0 of 0 ends"));
  CHECK(lost("{" + elsewhere + R"("ph": "X", "ts": 5, "dur": 5.001})") == "");
  const std::string begin = "{" + here + R"("ph": "s", "id": 1, "ts": 5})",
                    end = "{" + here + R"("ph": "f", "id": 1, "ts": 5})";
  CHECK(lost(begin + ", " + end) == "");
  CHECK(contains(lost(end + ", " + begin), "0 of 1 slices and 1 of 2 ends"));
  for (const char* wrong : {R"("id": 1, "ts": 10.001})", R"("id": "0>1", "ts": 5})"})
    CHECK(contains(lost("{" + here + R"("ph": "s", )" + wrong), "1 of 1 ends"));
  CHECK(contains(lost("{" + elsewhere + R"("ph": "s", "id": 1, "ts": 5})"), "1 of 1 ends"));
}

TEST_CASE("the table has a header and a line per end") {
  CHECK(trace_csv(two_ends()) ==
        "rank,direction,peer,group,tag,sequence,round,bytes,operation,where,start_seconds,end_seconds,"
        "model_start_ps,model_end_ps,model_arrived_ps\n"
        "0,send,3,0,7,0,5,1024,send,ring.cpp:12,0.250000000,0.500000000,1000000,2000000000000,2000000000000\n"
        "3,recv,0,0,7,0,5,1024,recv,ring.cpp:12,0.000000000,0.500000000,0,7,6\n");
  CHECK(trace_csv({}).find('\n') + 1 == trace_csv({}).size());
}

TEST_CASE("a label is written where there is one") {
  std::vector<TraceEvent> events = two_ends();
  events[0].label = "chunks 1, \"2\"";
  CHECK(trace_csv(events) ==
        "rank,direction,peer,group,tag,sequence,round,bytes,operation,where,start_seconds,end_seconds,"
        "model_start_ps,model_end_ps,model_arrived_ps,label\n"
        "0,send,3,0,7,0,5,1024,send,ring.cpp:12,0.250000000,0.500000000,1000000,2000000000000,2000000000000,\"chunks "
        "1, \"\"2\"\"\"\n"
        "3,recv,0,0,7,0,5,1024,recv,ring.cpp:12,0.000000000,0.500000000,0,7,6,\"\"\n");
  int labels = 0;
  const auto parsed = nlohmann::json::parse(chrome_trace_json(events));
  for (const auto& event : parsed.at("traceEvents")) {
    if (event.at("ph") == "X" && event.contains("args")) labels += event.at("args").contains("label") ? 1 : 0;
  }
  CHECK(labels == 2);  // in seconds and in model time
}

std::string refusal(const std::string& path) {
  return testing::get_message<UsageError>([&] { check_trace_name(path); });
}

TEST_CASE("the file's ending chooses the form; another ending is refused") {
  const testing::TemporaryFolder folder;
  for (const auto& [name, text] :
       {std::pair("trace.csv", trace_csv(two_ends())), {"trace.json", chrome_trace_json(two_ends())}}) {
    check_trace_name(folder.file(name));
    write_trace(folder.file(name), two_ends());
    CHECK(testing::read_bytes(folder.file(name)) == text);
  }
  CHECK(contains(refusal("trace.txt"), "expected a file that ends in .json"));
  CHECK_THROWS_AS(write_trace("trace.txt", two_ends()), UsageError);
  CHECK_THROWS_AS(write_trace("/nowhere/at/all/trace.json", two_ends()), UsageError);
}

TEST_CASE("a picture is drawn, of a trace of nothing, too") {
  if (!plot::missing_program().empty()) {
    MESSAGE("skipped: " << plot::missing_program());
    return;
  }
  for (const auto& [name, magic] : {std::pair("trace.png", "\x89PNG"), {"trace.svg", "<svg"}, {"trace.pdf", "%PDF"}}) {
    CAPTURE(name);
    for (const auto& events : {two_ends(), {}}) {
      const testing::TemporaryFolder folder;
      check_trace_name(folder.file(name));
      CHECK(folder.num_files() == 0);
      write_trace(folder.file(name), events);
      CHECK(testing::read_bytes(folder.file(name)).rfind(magic, 0) == 0);
    }
  }
}

TEST_CASE("a picture that cannot be drawn or written is refused before there is anything to draw") {
  CHECK(refusal("/nowhere/at/all/trace.png") != "nothing was thrown");
  const char* before = std::getenv("PATH");
  const std::string path = before != nullptr ? before : "";
  setenv("PATH", "/nowhere", 1);
  CHECK(contains(refusal("trace.png"), "drawing 'trace.png' needs rsvg-convert"));
  for (const char* name : {"trace.csv", "trace.svg"}) CHECK(refusal(name) == "nothing was thrown");
  setenv("PATH", path.c_str(), 1);
}

}  // namespace
}  // namespace lab::comm
