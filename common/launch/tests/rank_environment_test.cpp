#include "common/launch/supervise/rank_environment.h"

#include <map>
#include <utility>
#include <vector>

#include "common/testing/get_message.h"
#include "common/testing/plain_test.h"

using namespace lab;
using namespace lab::launch;

namespace {

using lab::testing::contains;

using Variables = std::map<std::string, std::string>;

std::optional<RankEnvironment> found(const Variables& variables) {
  return rank_environment([&](const char* name) -> std::optional<std::string> {
    const auto entry = variables.find(name);
    return entry == variables.end() ? std::nullopt : std::optional(entry->second);
  });
}

std::string environment_refusal(const Variables& variables) {
  return lab::testing::get_message<UsageError>([&] { found(variables); });
}

Variables with(Variables variables, const Variables& more) {
  for (const auto& [name, value] : more) variables[name] = value;
  return variables;
}

Variables without(Variables variables, const std::string& name) {
  variables.erase(name);
  return variables;
}

const Variables kTorchrun = {{"RANK", "5"},
                             {"WORLD_SIZE", "8"},
                             {"LOCAL_RANK", "1"},
                             {"LOCAL_WORLD_SIZE", "4"},
                             {"MASTER_ADDR", "node1"},
                             {"MASTER_PORT", "29500"},
                             {"TORCHELASTIC_RUN_ID", "none"},
                             {"TORCHELASTIC_USE_AGENT_STORE", "True"}};

const Variables kOpenMpi = {
    {"OMPI_COMM_WORLD_RANK", "3"},
    {"OMPI_COMM_WORLD_SIZE", "4"},
    {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
    {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
    {"OMPI_MCA_ess_base_jobid", "242679809"},
    {"OMPI_MCA_orte_hnp_uri", "242679808.0;tcp://192.0.2.2,10.0.0.1:38487;tcp6://[fd00::2]:37617"}};

const Variables kSrun = {{"SLURM_PROCID", "6"},
                         {"SLURM_NTASKS", "7"},
                         {"SLURM_LOCALID", "0"},
                         {"SLURM_NODEID", "3"},
                         {"SLURM_JOB_ID", "42"},
                         {"SLURM_STEP_ID", "0"},
                         {"SLURM_NNODES", "4"},
                         {"SLURM_STEP_NUM_TASKS", "7"},
                         {"SLURM_STEP_TASKS_PER_NODE", "2(x3),1"},
                         {"SLURM_STEP_NODELIST", "node[03-06]"},
                         {"SLURM_JOB_NODELIST", "node[01-06]"},
                         {"SLURM_LAUNCH_NODE_IPADDR", "10.0.0.99"}};

}  // namespace

TEST_CASE("a plain start is not a rank") {
  CHECK_FALSE(found({}));
  CHECK_FALSE(found({{"MASTER_ADDR", "node1"}, {"MASTER_PORT", "1"}, {"HOME", "/root"}}));
  CHECK_FALSE(found({{"RANK", ""}, {"WORLD_SIZE", ""}}));
}

TEST_CASE("torchrun") {
  const auto world = found(kTorchrun);
  REQUIRE(world);
  CHECK(world->rank == 5);
  CHECK(world->size == 8);
  CHECK(world->local_rank == 1);
  CHECK(world->local_size == 4);
  CHECK(world->source == "torchrun");
  CHECK(world->node == "N/A");
  CHECK(world->master_addr == "node1");
  CHECK(world->master_port == 29500);
  CHECK(world->agent_store);
  CHECK(world->rendezvous_socket.empty());
  CHECK(found(with(kTorchrun, {{"SLURM_NODEID", "2"}}))->node == "2");
  CHECK_FALSE(found(with(kTorchrun, {{"TORCHELASTIC_USE_AGENT_STORE", "False"}}))->agent_store);
}

TEST_CASE("labrun") {
  const auto world = found({{"RANK", "1"},
                            {"WORLD_SIZE", "2"},
                            {"LAB_LAUNCHER", "labrun"},
                            {"LAB_EVENT_FILE", "/t/e"},
                            {"LAB_RENDEZVOUS_SOCKET", "/t/s"},
                            {"LAB_JOB_TOKEN", "secret"}});
  REQUIRE(world);
  CHECK(world->source == "labrun");
  CHECK(world->event_file == "/t/e");
  CHECK(world->rendezvous_socket == "/t/s");
  CHECK_FALSE(world->agent_store);
  CHECK(world->token == "secret");
}

TEST_CASE("a job's token is the same on all its ranks, different in another job, and overridden by labrun's") {
  const auto token = [](const Variables& variables) { return found(variables)->token; };
  const Variables by_hand = {{"RANK", "1"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "localhost"}, {"MASTER_PORT", "1234"}};
  for (const auto& [variables, job] : std::vector<std::pair<Variables, std::string>>{
           {kTorchrun, "TORCHELASTIC_RUN_ID"},
           {kTorchrun, "TORCHELASTIC_RESTART_COUNT"},
           {kOpenMpi, "OMPI_MCA_ess_base_jobid"},
           {with(kOpenMpi, {{"OMPI_MCA_ess_base_jobid", ""}}), "PMIX_NAMESPACE"},
           {kSrun, "SLURM_JOB_ID"},
           {by_hand, "SLURM_JOB_ID"}}) {
    CAPTURE(job);
    CHECK(token(with(variables, {{job, "7"}})) == token(with(variables, {{job, "7"}, {"SLURM_NODEID", "1"}})));
    CHECK(token(with(variables, {{job, "7"}})) != token(with(variables, {{job, "8"}})));
    CHECK(token(with(variables, {{job, "7"}, {"LAB_JOB_TOKEN", "secret"}})) == "secret");
  }
  CHECK(found(with(kTorchrun, {{"TORCHELASTIC_RESTART_COUNT", "3"}}))->attempt == 3);
  CHECK(found(kTorchrun)->attempt == 0);
}

TEST_CASE("LOCAL_RANK alone is not a launch, and errors about it name only variables that are set") {
  CHECK_FALSE(found({{"LOCAL_RANK", "1"}}));
  const Variables by_hand = {
      {"RANK", "1"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "localhost"}, {"MASTER_PORT", "1234"}, {"LOCAL_RANK", "0"}};
  CHECK(found(by_hand)->local_rank == 0);
  CHECK(environment_refusal(with(by_hand, {{"LOCAL_RANK", "2"}})) ==
        "LOCAL_RANK is 2: expected a rank from 0 to 1, since WORLD_SIZE is 2");
}

TEST_CASE("RANK and WORLD_SIZE set by hand") {
  const auto world = found({{"RANK", "1"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "localhost"}, {"MASTER_PORT", "1234"}});
  REQUIRE(world);
  CHECK(world->source == "RANK and WORLD_SIZE");
  CHECK(world->local_rank == 1);
  CHECK(world->local_size == 2);
  CHECK(found({{"RANK", "0"}, {"WORLD_SIZE", "1"}})->size == 1);
}

TEST_CASE("mpirun") {
  const auto world = found(kOpenMpi);
  REQUIRE(world);
  CHECK(world->rank == 3);
  CHECK(world->size == 4);
  CHECK(world->local_rank == 1);
  CHECK(world->local_size == 2);
  CHECK(world->source == "Open MPI");
  CHECK(world->master_addr == "192.0.2.2");
  CHECK(world->master_port >= 20000);
  CHECK(world->master_port < 30000);
  CHECK(found(with(kOpenMpi, {{"OMPI_MCA_ess_base_jobid", "242679810"}}))->master_port != world->master_port);
  CHECK(found(with(kOpenMpi, {{"OMPI_COMM_WORLD_RANK", "0"}, {"SLURM_STEP_ID", "7"}, {"SLURM_JOB_ID", "9"}}))
            ->master_port == world->master_port);
  CHECK(
      found(with(kOpenMpi, {{"OMPI_COMM_WORLD_LOCAL_RANK", "3"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"}}))->master_addr ==
      "127.0.0.1");
  const auto by_hand = found(with(kOpenMpi, {{"MASTER_ADDR", "head"}, {"MASTER_PORT", "777"}}));
  CHECK(by_hand->master_addr == "head");
  CHECK(by_hand->master_port == 777);
  CHECK(contains(environment_refusal(without(kOpenMpi, "OMPI_MCA_orte_hnp_uri")), "set MASTER_ADDR"));
}

TEST_CASE("PMI, as MPICH and Intel MPI set it") {
  const Variables variables = {
      {"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"MPI_LOCALRANKID", "1"}, {"MPI_LOCALNRANKS", "2"}};
  const auto world = found(variables);
  REQUIRE(world);
  CHECK(world->source == "PMI");
  CHECK(world->rank == 1);
  CHECK(world->local_size == 2);
  CHECK(world->master_addr == "127.0.0.1");
  CHECK(found({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"SLURM_JOB_NODELIST", "n[7-8]"}})->master_addr == "n7");
  CHECK(found(with(kSrun, variables))->source == "PMI");
  CHECK(found(with(variables, kOpenMpi))->source == "Open MPI");
}

TEST_CASE("srun") {
  const auto world = found(kSrun);
  REQUIRE(world);
  CHECK(world->rank == 6);
  CHECK(world->size == 7);
  CHECK(world->local_rank == 0);
  CHECK(world->local_size == 1);
  CHECK(world->source == "Slurm");
  CHECK(world->node == "3");
  CHECK(world->master_addr == "node03");
  CHECK(found(with(kSrun, {{"SLURM_NODEID", "1"}}))->local_size == 2);
  CHECK(found(with(kSrun, {{"SLURM_NODEID", "1"}}))->master_port == world->master_port);
  CHECK(found(without(kSrun, "SLURM_STEP_NODELIST"))->master_addr == "node01");
  CHECK(found(with(kSrun, {{"MASTER_ADDR", "head"}}))->master_addr == "head");
  CHECK_FALSE(world->allotted_cores);
  CHECK(found(with(kSrun, {{"SLURM_CPUS_ON_NODE", "6"}}))->allotted_cores == 6);
  CHECK(found(with(kSrun, {{"SLURM_NNODES", "1"}, {"SLURM_STEP_TASKS_PER_NODE", "7"}, {"SLURM_NODEID", "0"}}))
            ->master_addr == "127.0.0.1");
  CHECK(found(with(kSrun, {{"ENVIRONMENT", "BATCH"}})));
  CHECK(found({{"SLURM_PROCID", "1"}, {"SLURM_NTASKS", "2"}, {"SLURM_LOCALID", "1"}, {"MASTER_ADDR", "localhost"}})
            ->size == 2);
}

TEST_CASE("a Slurm allocation is not a rank") {
  CHECK_FALSE(found({{"SLURM_JOB_ID", "42"}, {"SLURM_NTASKS", "4"}, {"SLURM_JOB_NODELIST", "n[1-4]"}}));
  const Variables batch = {{"SLURM_JOB_ID", "42"},
                           {"SLURM_PROCID", "0"},
                           {"SLURM_NTASKS", "4"},
                           {"SLURM_LOCALID", "0"},
                           {"ENVIRONMENT", "BATCH"}};
  CHECK_FALSE(found(batch));
  CHECK_FALSE(found(with(kSrun, {{"SLURM_STEP_ID", "4294967290"}, {"SLURM_PROCID", "0"}})));
  const Variables one_task = with(kSrun, {{"SLURM_STEP_NUM_TASKS", "1"}, {"SLURM_NTASKS", "1"}, {"SLURM_PROCID", "0"}});
  CHECK_FALSE(found(one_task));
  // srun -n1 --mpi=pmi2
  CHECK_FALSE(found(with(one_task, {{"PMI_RANK", "0"}, {"PMI_SIZE", "1"}, {"PMI_JOBID", "42.0"}})));
  // mpirun -n 1 of MPICH, and -n 2 of another, in such a step
  CHECK(
      found(with(one_task, {{"PMI_RANK", "0"}, {"PMI_SIZE", "1"}, {"MPI_LOCALRANKID", "0"}, {"MPI_LOCALNRANKS", "1"}}))
          ->source == "PMI");
  CHECK(found(with(one_task, {{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}}))->size == 2);
}

TEST_CASE("MASTER_ADDR may have an IPv6 address in brackets") {
  CHECK(found(with(kTorchrun, {{"MASTER_ADDR", "[fd00::7]"}}))->master_addr == "fd00::7");
  CHECK(found(with(kOpenMpi, {{"MASTER_ADDR", "[::1]"}}))->master_addr == "::1");
}

TEST_CASE("WORLD_SIZE alone may be set next to another launcher's variables") {
  CHECK(found(with(kSrun, {{"WORLD_SIZE", "7"}}))->source == "Slurm");
  CHECK(environment_refusal(with(kSrun, {{"WORLD_SIZE", "8"}})) == "WORLD_SIZE is 8, but Slurm launched 7 ranks");
}

TEST_CASE("half-set environments are refused, naming both variables") {
  const auto names = [](const std::string& message, const std::string& set, const std::string& missing) {
    return message.find("half-set: " + set + " is set but " + missing + " is not") != std::string::npos;
  };
  CHECK(names(environment_refusal(without(kTorchrun, "WORLD_SIZE")), "RANK", "WORLD_SIZE"));
  CHECK(names(environment_refusal(without(kTorchrun, "RANK")), "WORLD_SIZE", "RANK"));
  CHECK(names(environment_refusal(without(kTorchrun, "MASTER_ADDR")), "MASTER_PORT", "MASTER_ADDR"));
  CHECK(names(environment_refusal(without(kTorchrun, "MASTER_PORT")), "MASTER_ADDR", "MASTER_PORT"));
  CHECK(contains(environment_refusal({{"RANK", "0"}, {"WORLD_SIZE", "2"}}), "no address for the rendezvous"));
  CHECK(names(environment_refusal(without(kOpenMpi, "OMPI_COMM_WORLD_SIZE")), "OMPI_COMM_WORLD_RANK",
              "OMPI_COMM_WORLD_SIZE"));
  CHECK(names(environment_refusal(without(kOpenMpi, "OMPI_COMM_WORLD_RANK")), "OMPI_COMM_WORLD_SIZE",
              "OMPI_COMM_WORLD_RANK"));
  CHECK(names(environment_refusal({{"PMI_RANK", "0"}}), "PMI_RANK", "PMI_SIZE"));
  CHECK(names(environment_refusal({{"PMI_SIZE", "2"}}), "PMI_SIZE", "PMI_RANK"));
  CHECK(names(environment_refusal({{"SLURM_PROCID", "0"}}), "SLURM_PROCID", "SLURM_NTASKS"));
}

TEST_CASE("values out of range are refused, naming variable and value") {
  CHECK(environment_refusal(with(kTorchrun, {{"RANK", "8"}})) ==
        "RANK is 8, but WORLD_SIZE is 8: expected a rank from 0 to 7");
  CHECK(environment_refusal(with(kTorchrun, {{"RANK", "-1"}})).find("RANK is -1") == 0);
  CHECK(environment_refusal(with(kTorchrun, {{"WORLD_SIZE", "0"}})) ==
        "WORLD_SIZE is 0: a world has at least one rank");
  CHECK(environment_refusal(with(kTorchrun, {{"WORLD_SIZE", "four"}})) ==
        "environment variable WORLD_SIZE: expected an integer, got \"four\"");
  CHECK(contains(environment_refusal(with(kTorchrun, {{"RANK", "1 "}})), "expected an integer"));
  CHECK(contains(environment_refusal(with(kTorchrun, {{"RANK", "99999999999"}})), "expected an integer"));
  CHECK(environment_refusal(with(kTorchrun, {{"MASTER_PORT", "70000"}})) ==
        "MASTER_PORT is 70000: expected a port from 1 to 65535");
  CHECK(contains(environment_refusal(with(kTorchrun, {{"LOCAL_RANK", "4"}})), "do not fit"));
  CHECK(contains(environment_refusal(with(kTorchrun, {{"LOCAL_WORLD_SIZE", "9"}})), "do not fit"));
  CHECK(environment_refusal(with(kSrun, {{"SLURM_PROCID", "7"}}))
            .find("SLURM_PROCID is 7, but SLURM_STEP_NUM_TASKS is 7") == 0);
}

TEST_CASE("Slurm's lists") {
  CHECK(first_host("n1") == "n1");
  CHECK(first_host("n1,n2") == "n1");
  CHECK(first_host("node[03-05,09],login1") == "node03");
  CHECK(first_host("node[7]") == "node7");
  CHECK(first_host("rack[1-2]n[01-04]x") == "rack1n01x");
  CHECK(first_host("").empty());
  CHECK(first_host("bad[1-") == "bad1");
  CHECK(tasks_on_node("2(x3),1", 0) == 2);
  CHECK(tasks_on_node("2(x3),1", 2) == 2);
  CHECK(tasks_on_node("2(x3),1", 3) == 1);
  CHECK(tasks_on_node("4", 0) == 4);
  CHECK_FALSE(tasks_on_node("2(x3),1", 4));
  CHECK_FALSE(tasks_on_node("", 0));
  CHECK_FALSE(tasks_on_node("2(xQ)", 0));
}
