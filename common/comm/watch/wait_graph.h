#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/api/errors.h"
#include "common/api/source_line.h"
#include "common/base/numbers.h"

// Who waits for whom, and what that means. Independent of tensors and transports: the threads world, the simulated
// world and the launcher (from the event file) all describe their ranks with these types and get the same messages.
namespace lab::comm {

enum class Direction : std::uint8_t { kSend, kRecv };

inline Direction opposite(Direction direction) {
  return direction == Direction::kSend ? Direction::kRecv : Direction::kSend;
}

/// A rank's messages of one channel are matched in the order in which they were posted.
struct Channel {
  Direction direction = Direction::kSend;
  int peer = 0;             ///< world rank of the other side
  std::uint32_t group = 0;  ///< sub-group the message belongs to; 0 is the world
  int tag = 0;

  bool operator==(const Channel& other) const {
    return direction == other.direction && peer == other.peer && group == other.group && tag == other.tag;
  }
  /// The same channel as its peer sees it.
  Channel of_peer(int rank) const { return {opposite(direction), rank, group, tag}; }
};

struct ChannelHash {
  std::size_t operator()(const Channel& channel) const {
    std::uint64_t mix =
        (std::uint64_t{static_cast<std::uint32_t>(channel.peer)} << 32) | static_cast<std::uint32_t>(channel.tag);
    mix = (mix ^ (std::uint64_t{channel.group} << 1) ^ static_cast<std::uint64_t>(channel.direction)) *
          0x9e3779b97f4a7c15;
    return static_cast<std::size_t>(mix ^ (mix >> 29));
  }
};

/// One message that a rank has posted and that has not completed.
struct PostedOp : Channel {
  std::uint64_t sequence = 0;  ///< n-th message of its channel, from 0
  std::uint64_t bytes = 0;
  std::string operation;  ///< "send", "recv", or the collective it belongs to ("all_reduce")
  std::string contract;   ///< "float32 [2, 3]"
  std::string where;      ///< "collectives.cpp:41"
};

/// The same message as its rank posts it: facts that cost little to write down. Whoever reads them makes the text.
struct PostedOpView : Channel {
  std::uint64_t bytes = 0;
  std::string_view operation, dtype;
  const std::int64_t* shape = nullptr;
  std::size_t num_dims = 0;
  SourceLine where;

  PostedOp op(std::uint64_t sequence) const;
};

/// How many messages a rank has posted so far on one channel: message n is matched once the peer's count exceeds n.
struct ChannelCount : Channel {
  std::uint64_t posted = 0;
};

enum class RankActivity : std::uint8_t { kStarting, kRunning, kWaiting, kCollective, kFinished, kFailed };

/// A consistent snapshot of one rank.
struct RankState {
  RankActivity activity = RankActivity::kStarting;
  std::optional<std::size_t> waiting_for;  ///< index into posted, while activity is kWaiting
  std::vector<PostedOp> posted;
  std::vector<ChannelCount> channels;
  /// False when the channels overflowed or were read torn: a channel's absence then proves nothing.
  bool complete = true;
  std::uint64_t unlisted = 0;  ///< posted messages that did not fit into the table; their channels still count them
  std::string detail;          ///< reason of a failure, or name of the built-in collective it is inside
  std::string task;            ///< what it works on: "a9.allreduce, AllReduceLarge"; empty: unknown
  std::string where;           ///< "student/ring.cpp:41": what it is in the middle of; empty: unknown
  int stopped_by = 0;          ///< the signal that has stopped its process; 0: none
};

/// What is wrong, in one message, and what each rank was doing, one line per rank.
struct Diagnosis {
  ExitCode exit_code = ExitCode::kDeadlock;
  std::string message;
  std::vector<std::string> rank_lines;
  /// The ranks in the proof: those of the cycle, or the waiting rank and the one that returned.
  std::vector<int> ranks;
};

/// Finds proof that some rank can never go on: waits that form a cycle, or end at a rank that has returned. A chain
/// that ends at a rank that still computes proves nothing, so the result is then empty. A tag mismatch between two
/// stuck ranks (a posted message each way that differs only in its tag, at least one of them waited for) is reported in
/// preference to a deadlock, as ExitCode::kContract.
/// Example   rank 0 waits to send to 1, rank 1 waits to send to 0:
///           "deadlock: rank 0 waits to send 4 KiB to rank 1 (a.cpp:41), rank 1 waits to send 4 KiB to rank 0
///           (a.cpp:41)"
std::optional<Diagnosis> diagnose(const std::vector<RankState>& ranks);

/// The rank that keeps others waiting: the end of the chain of waits that begins at `first`, which may be `first`
/// itself, or a stopped rank on the way. Empty if the chain is a cycle.
std::optional<int> find_late_rank(const std::vector<RankState>& ranks, int first);

/// "waits to send 4 KiB to rank 1 (a.cpp:41)": the wording shared by all reports, time-outs included.
std::string describe_wait(const PostedOp& op);

/// "computes", "has already returned", "waits to send ...; also posted: recv of 4 B from rank 2, tag 3 (b.cpp:7)": the
/// line of a rank in a report, without its number.
std::string describe_rank(const RankState& state);

}  // namespace lab::comm
