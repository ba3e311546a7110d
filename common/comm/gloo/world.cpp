#include <fmt/format.h>
#include <gloo/common/error.h>
#include <gloo/rendezvous/context.h>

#include <csignal>
#include <cstring>
#include <vector>

#include "common/base/take_turns.h"
#include "common/comm/gloo/collectives.h"
#include "common/comm/gloo/connector.h"
#include "common/comm/gloo/lane.h"
#include "common/comm/gloo/lifeline.h"
#include "common/comm/process/transport.h"
#include "common/comm/process_world.h"
#include "common/comm/shm/lane.h"
#include "common/comm/shm/neighbours.h"

namespace lab::comm {
namespace {

/// One process's part of its world. Never destroyed: see ProcessWorld.
struct WorldParts {
  std::unique_ptr<EventFile> event_file;
  std::unique_ptr<RankEvents> events;
  std::unique_ptr<Connector> connector;
  std::shared_ptr<gloo::rendezvous::Context> context;
  std::unique_ptr<Lifeline> lifeline;
  std::unique_ptr<Lane> to_all;
  std::unique_ptr<NearLane> to_neighbours;  ///< null: there are none, or they are not to share memory
  std::shared_ptr<ProcessTransport> transport;
  std::shared_ptr<CollectiveBackend> collectives;
};

/// Every rank's bytes, in the order of ranks.
std::vector<std::string> gather_bytes(Transport& transport, const std::string& own) {
  const auto num_bytes = static_cast<std::int64_t>(own.size());
  const at::Tensor in = at::empty({num_bytes}, at::kByte), out = at::empty({transport.size(), num_bytes}, at::kByte);
  std::memcpy(in.data_ptr(), own.data(), own.size());
  MessageCollectives(transport).all_gather(in, out, whole_world(transport.rank(), transport.size()));
  std::vector<std::string> all;
  for (const at::Tensor& one : out.unbind(0)) all.emplace_back(static_cast<const char*>(one.data_ptr()), own.size());
  return all;
}

class JoinedWorld final : public ProcessWorld {
 public:
  explicit JoinedWorld(const ProcessWorldOptions& options) : parts_(*new WorldParts) {
    if (!options.event_file.empty()) {
      parts_.event_file = EventFile::open(options.event_file);
      parts_.events = parts_.event_file->rank(options.rank);
      parts_.events->set_timeout(options.timeout_seconds);
    }
    parts_.connector = Connector::open(options);
    parts_.context = parts_.connector->connect("world", options.rank, options.size);
    try {
      parts_.lifeline = std::make_unique<Lifeline>(*parts_.context, options.timeout_seconds, parts_.event_file.get(),
                                                   *parts_.connector);
    } catch (const gloo::Exception&) {
      parts_.connector->connection_lost();
    }
    parts_.to_all = lane_over_gloo(*parts_.context, *parts_.lifeline);
    parts_.transport = std::make_shared<ProcessTransport>(options.rank, options.size, *parts_.to_all, *parts_.lifeline,
                                                          parts_.events.get());
    if (parts_.events) parts_.events->set_activity(RankActivity::kRunning);
    // A rank that leaves right after the rendezvous would break a peer that is still in it.
    try {
      const std::vector<int> hosts = number_hosts(options.host.empty() ? this_host() : options.host,
                                                  [this](const std::string& own) { return gather(own); });
      parts_.transport->set_hosts(hosts);
      if (options.transport == TransportKind::kGloo) {
        parts_.collectives = std::make_shared<GlooCollectives>(*parts_.transport, *parts_.lifeline, *parts_.connector,
                                                               options.timeout_seconds, parts_.events.get());
        parts_.collectives->barrier(whole_world(options.rank, options.size));
      } else {
        share_memory(options, hosts);
        parts_.collectives = std::make_shared<MessageCollectives>(*parts_.transport);
      }
    } catch (const Error& error) {
      parts_.transport->fail(error.exit_code(), error.what());
      throw;
    }
  }

  StudentPlace* student_place() override { return parts_.events ? &parts_.events->place() : nullptr; }
  std::shared_ptr<Transport> transport() override { return parts_.transport; }
  std::shared_ptr<CollectiveBackend> collectives() override { return parts_.collectives; }

 private:
  std::vector<std::string> gather(const std::string& own) { return gather_bytes(*parts_.transport, own); }

  /// Returns when all ranks know whom they share memory with.
  void share_memory(const ProcessWorldOptions& options, const std::vector<int>& hosts) {
    const Neighbourhood found =
        find_neighbours(options.rank, hosts, [this](const std::string& own) { return gather(own); });
    const auto num_near = static_cast<int>(found.neighbours.members.size());
    if (options.transport == TransportKind::kShm && num_near < options.size) {
      if (!found.obstacle.empty()) throw UsageError(fmt::format("{}; hint: --transport gloo", found.obstacle));
      throw UsageError(
          fmt::format("--transport shm: expected all {} ranks on one host, got {} on that of rank {}; hint: "
                      "--transport auto",
                      options.size, num_near, options.rank));
    }
    if (num_near < 2) return;
    parts_.to_neighbours = lane_over_memory(found.neighbours, *parts_.lifeline, options.usable_cores >= num_near);
    std::vector<int> ranks;
    for (const Neighbours::Member& member : found.neighbours.members) ranks.push_back(member.rank);
    parts_.transport->use_for(ranks, *parts_.to_neighbours);
  }

  WorldParts& parts_;
};

}  // namespace

TransportKind transport_named(const std::string& name) {
  return name == "shm" ? TransportKind::kShm : name == "auto" ? TransportKind::kAuto : TransportKind::kGloo;
}

std::unique_ptr<ProcessWorld> ProcessWorld::join(const ProcessWorldOptions& options) {
  take_turns();
  std::signal(SIGPIPE, SIG_IGN);  // Gloo writes to sockets without MSG_NOSIGNAL
  return std::make_unique<JoinedWorld>(options);
}

}  // namespace lab::comm
