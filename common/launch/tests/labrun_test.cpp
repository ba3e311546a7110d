#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "common/base/subprocess.h"
#include "common/launch/supervise/launch_options.h"
#include "common/launch/supervise/run_directory.h"
#include "common/testing/get_message.h"
#include "common/testing/plain_test.h"
#include "common/testing/processes.h"

using namespace lab;
using namespace lab::launch;
using lab::testing::contains;

namespace {

using Strings = std::vector<std::string>;

std::string labrun_path() {
  if (const auto folder = process_variable("LAB_BIN_DIR")) return *folder + "/labrun";
  return std::filesystem::read_symlink("/proc/self/exe").parent_path().string() + "/labrun";
}

// One start of labrun, with its output in files and its own TMPDIR, so that leftovers can be found.
class Run {
 public:
  explicit Run(const Strings& arguments, const std::map<std::string, std::string>& environment = {}) {
    RankOutput output({directory_.path() + "/own", false, false});
    const RankOutput::Fds fds = output.open(0);
    Strings argv = {labrun_path()};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    std::map<std::string, std::string> variables = environment;
    variables.insert({{"LAB_TEST_MARK", mark_}, {"TMPDIR", temporary()}, {"OMP_NUM_THREADS", ""}});
    std::filesystem::create_directory(temporary());
    pid_ = exec_process(argv, variables, {false, fds.out, fds.err});
  }
  ~Run() {
    if (!ended_) {
      ::kill(pid_, SIGKILL);
      choose_exit_code(pid_);
    }
  }

  int exit_code() {
    ended_ = true;
    return choose_exit_code(pid_);
  }
  pid_t pid() const { return pid_; }
  std::string out() const { return file_text(directory_.path() + "/own/rank0.log"); }
  std::string err() const { return file_text(directory_.path() + "/own/rank0.err"); }
  std::string path(const std::string& name) const { return directory_.path() + "/" + name; }
  bool left_nothing() const { return processes().empty() && std::filesystem::is_empty(temporary()); }

  // labrun and all its descendants, wherever they are.
  std::vector<pid_t> processes() const { return processes_with_variable("LAB_TEST_MARK=" + mark_); }

 private:
  std::string temporary() const { return directory_.path() + "/tmp"; }

  RunDirectory directory_;
  std::string mark_ = directory_.path();
  pid_t pid_ = 0;
  bool ended_ = false;
};

Strings shell(int num_ranks, const std::string& script) {
  return {"--standalone", "--nproc-per-node", std::to_string(num_ranks), "sh", "-c", script};
}

std::multiset<std::string> lines(const std::string& text) {
  std::multiset<std::string> found;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    found.insert(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return found;
}

}  // namespace

TEST_CASE("every rank gets torchrun's variables and the suite's own") {
  Run run(
      shell(3,
            "echo $RANK/$WORLD_SIZE $LOCAL_RANK/$LOCAL_WORLD_SIZE $GROUP_RANK $MASTER_ADDR $LAB_LAUNCHER; "
            "test -f \"$LAB_EVENT_FILE\" && test -n \"$LAB_RENDEZVOUS_SOCKET\" && test \"$MASTER_PORT\" -gt 0 && test "
            "\"$OMP_NUM_THREADS\" -ge 1"));
  CHECK(run.exit_code() == 0);
  CHECK(lines(run.out()) == std::multiset<std::string>{"0/3 0/3 0 127.0.0.1 labrun", "1/3 1/3 0 127.0.0.1 labrun",
                                                       "2/3 2/3 0 127.0.0.1 labrun"});
  CHECK(run.err().empty());
  CHECK(run.left_nothing());
}

TEST_CASE("one node of several starts its own ranks and meets over the port") {
  const std::string script =
      "echo $RANK/$WORLD_SIZE $LOCAL_RANK $GROUP_RANK $MASTER_ADDR:$MASTER_PORT "
      "[$LAB_RENDEZVOUS_SOCKET]; test -f \"$LAB_EVENT_FILE\"";
  Run run({"--nnodes", "3", "--node-rank", "2", "--nproc-per-node", "2", "--master-addr", "head", "--master-port",
           "1234", "sh", "-c", script});
  CHECK(run.exit_code() == 0);
  CHECK(lines(run.out()) == std::multiset<std::string>{"4/6 0 2 head:1234 []", "5/6 1 2 head:1234 []"});
}

TEST_CASE("ranks of one run share a token: random on one machine, the run's --rdzv-id on several") {
  std::set<std::string> tokens;
  for (int i = 0; i < 2; ++i) {
    Run run(shell(2, "echo $LAB_JOB_TOKEN"), {{"LAB_JOB_TOKEN", "of an outer run"}});
    CHECK(run.exit_code() == 0);
    const auto printed = lines(run.out());
    CHECK(printed.size() == 2);
    CHECK(*printed.begin() == *printed.rbegin());
    CHECK(printed.begin()->size() == 32);
    tokens.insert(*printed.begin());
  }
  CHECK(tokens.size() == 2);
  for (const std::string id : {"", "night-3"}) {
    Strings arguments = {"--nnodes", "2", "--node-rank", "1", "--master-addr", "head", "--master-port", "1234"};
    if (!id.empty()) arguments.insert(arguments.end(), {"--rdzv-id", id});
    arguments.insert(arguments.end(), {"sh", "-c", "echo [$LAB_JOB_TOKEN]"});
    Run run(arguments);
    CHECK(run.exit_code() == 0);
    CHECK(run.out() == "[" + id + "]\n");
  }
}

TEST_CASE("a user's OMP_NUM_THREADS stays") {
  Run run(shell(1, "echo $OMP_NUM_THREADS"), {{"OMP_NUM_THREADS", "7"}});
  CHECK(run.exit_code() == 0);
  CHECK(run.out() == "7\n");
}

TEST_CASE("the failing rank's code is labrun's, and it is named first") {
  Run run(shell(3, "test $RANK = 1 && exit 42; sleep 1000"));
  CHECK(run.exit_code() == 42);
  CHECK(run.err().rfind("labrun: rank 1 failed first: exited with code 42\n", 0) == 0);
  CHECK(contains(run.err(), "labrun:   rank 0 stopped by the launcher\n"));
  CHECK(run.left_nothing());
}

TEST_CASE("a rank that is killed is named with its signal") {
  Run run(shell(2, "test $RANK = 1 && kill -KILL $$; exit 5"));
  CHECK(run.exit_code() == 137);
  CHECK(contains(run.err(), "rank 1 failed first: killed by signal 9 (SIGKILL)"));
}

TEST_CASE("interrupting labrun leaves no process behind, wherever it hides") {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    CAPTURE(signal);
    // One rank that obeys signals, one that does not; background children, in the rank's group and outside its session.
    Run run(
        shell(2,
              "test $RANK = 1 && trap '' INT TERM HUP QUIT; sleep 1000 & setsid sleep 1000 & echo ready; while :; do "
              "sleep 1; done"));
    REQUIRE(becomes_true([&] { return lines(run.out()).count("ready") == 2 && run.processes().size() >= 7; }));
    ::kill(run.pid(), signal);
    CHECK(run.exit_code() == 128 + signal);
    CHECK(contains(run.err(), "labrun: interrupted by SIG"));
    CHECK(run.left_nothing());
  }
}

TEST_CASE(
    "a signal that is ignored at the start stays ignored, by labrun and its ranks, as nohup and a shell's trap want "
    "it") {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    CAPTURE(signal);
    const auto before = ::signal(signal, SIG_IGN);
    const RunDirectory directory;
    const std::string go = directory.path() + "/go";
    Run run(shell(2, "echo ready; until test -e " + go + "; do sleep 0.05; done; kill -" + std::to_string(signal) +
                         " $$; echo done"));
    ::signal(signal, before);
    REQUIRE(becomes_true([&] { return lines(run.out()).count("ready") == 2; }));
    ::kill(run.pid(), signal);
    std::ofstream(go).put('\n');
    CHECK(run.exit_code() == 0);
    CHECK(lines(run.out()).count("done") == 2);
  }
}

TEST_CASE("by session: labrun started by setsid, interrupted as a terminal does it") {
  RunDirectory directory;
  const std::string ready = directory.path() + "/ready";
  const pid_t session = fork_process(
      [&] {
        ::setsid();
        const Strings argv = {labrun_path(),
                              "--standalone",
                              "--nproc-per-node",
                              "2",
                              "sh",
                              "-c",
                              "sleep 1000 & echo >> " + ready + "; wait"};
        std::vector<char*> pointers;
        for (const std::string& argument : argv) pointers.push_back(const_cast<char*>(argument.c_str()));
        pointers.push_back(nullptr);
        ::execv(pointers[0], pointers.data());
        return 1;
      },
      {true, -1, null_output().get()});
  REQUIRE(becomes_true([&] { return file_text(ready).size() == 2 && processes_of_session(session).size() >= 5; }));
  ::kill(-session, SIGINT);  // the terminal's foreground group: only labrun, since its ranks lead their own groups
  CHECK(choose_exit_code(session) == 130);
  CHECK(processes_of_session(session).empty());
}

TEST_CASE("ranks die with a labrun that was killed") {
  Run run(shell(2, "echo ready; exec sleep 1000"));
  REQUIRE(becomes_true([&] { return lines(run.out()).count("ready") == 2; }));
  ::kill(run.pid(), SIGKILL);
  CHECK(run.exit_code() == 137);
  CHECK(becomes_true([&] { return run.processes().empty(); }));
}

TEST_CASE("--log-dir gives each rank its files; --tee passes whole lines on as well") {
  const std::string script =
      "i=0; while [ $i -lt 200 ]; do printf 'rank %s ' $RANK; printf 'line %s\\n' $i; i=$((i+1)); done; echo oops >&2; "
      "printf end";
  std::multiset<std::string> all;
  for (int rank = 0; rank < 3; ++rank) {
    for (int i = 0; i < 200; ++i) all.insert("rank " + std::to_string(rank) + " line " + std::to_string(i));
    all.insert("end");
  }
  for (const bool tee : {false, true}) {
    RunDirectory logs;
    Strings arguments = {"--log-dir", logs.path() + "/logs"};
    if (tee) arguments.push_back("--tee");
    for (const std::string& argument : shell(3, script)) arguments.push_back(argument);
    Run run(arguments);
    CHECK(run.exit_code() == 0);
    CHECK((tee ? lines(run.out()) == all : run.out().empty()));
    CHECK(lines(run.err()).size() == (tee ? 3 : 0));
    CHECK(lines(file_text(logs.path() + "/logs/rank2.log")).size() == 201);
    CHECK(file_text(logs.path() + "/logs/rank2.err") == "oops\n");
    CHECK(run.left_nothing());
  }
}

TEST_CASE("the time-out of a run") {
  Run run({"--nproc-per-node", "2", "--timeout", "0.2", "sh", "-c", "sleep 1000"});
  CHECK(run.exit_code() == 5);
  CHECK(run.err().rfind("labrun: the run took longer than its time-out of 0.2 s\n", 0) == 0);
  CHECK(run.left_nothing());
}

TEST_CASE("what cannot be started: one message, exit code 2, nothing left") {
  const auto refused = [](const Strings& arguments, const std::string& part) {
    Run run(arguments);
    CHECK(run.exit_code() == 2);
    CHECK(run.err().rfind("labrun: error: ", 0) == 0);
    CHECK(lines(run.err()).size() == 1);
    CHECK_MESSAGE(contains(run.err(), part), run.err());
    CHECK(run.left_nothing());
  };
  refused({"--nproc-per-node", "3", "/nonexistent/program"},
          "cannot run /nonexistent/program: No such file or directory");
  refused({"--nproc-per-node", "0", "true"}, "--nproc-per-node");
  refused({"--bogus", "true"}, "unknown option");
  refused({}, "expected a program");
  refused({"--log-dir", "/proc/no", "true"}, "/proc/no");
  refused({"--nnodes", "2", "true"}, "--node-rank");
}

TEST_CASE("a port in use is told before anything starts") {
  const UniqueFd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  REQUIRE(::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), length) == 0);
  REQUIRE(::listen(listener.get(), 1) == 0);
  REQUIRE(::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &length) == 0);
  const std::string port = std::to_string(ntohs(address.sin_port));
  Run run({"--master-port", port, "true"});
  CHECK(run.exit_code() == 2);
  CHECK(run.err() ==
        "labrun: error: port " + port + " cannot be used: Address already in use; choose another with --master-port\n");
  Run other_node({"--nnodes", "2", "--node-rank", "1", "--master-addr", "localhost", "--master-port", port, "true"});
  CHECK(other_node.exit_code() == 0);
}

TEST_CASE("--debug-rank starts that rank under gdb, in the terminal's group") {
  RunDirectory programs;  // with a fake gdb that prints its arguments and runs the program
  const std::string gdb = programs.path() + "/gdb";
  std::ofstream(gdb) << "#!/bin/sh\necho \"gdb $1 $2\"; shift; exec \"$@\"\n";
  std::filesystem::permissions(gdb, std::filesystem::perms::owner_all);
  const std::string path = programs.path() + ":" + process_variable("PATH").value_or("/bin");
  Strings arguments =
      shell(2, "read pid name state parent group rest < /proc/$$/stat; test $group = $$; echo $RANK leads $?");
  arguments.insert(arguments.begin(), {"--debug-rank", "1"});
  Run run(arguments, {{"PATH", path}});
  CHECK(run.exit_code() == 0);
  CHECK(lines(run.out()) == std::multiset<std::string>{"gdb --args sh", "0 leads 0", "1 leads 1"});
}

TEST_CASE("--help and --version") {
  Run help({"--help"});
  CHECK(help.exit_code() == 0);
  CHECK(contains(help.out(), "--nproc-per-node"));
  Run version({"--version"});
  CHECK(version.exit_code() == 0);
  CHECK(version.out().rfind("labrun ", 0) == 0);
}
