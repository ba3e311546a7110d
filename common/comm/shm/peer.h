#pragma once

#include <cstdint>
#include <deque>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/comm/process/lane.h"
#include "common/comm/shm/neighbours.h"

// The messages between this rank and one neighbour, which travel as records on two rings. Internal to comm/shm.
namespace lab::comm {

struct ShmPending final : ProcessPending {
  using ProcessPending::ProcessPending;

  bool expects_posted = false;                ///< of a send
  bool expects_taken = false;                 ///< of a send
  std::uint64_t num_arrived = 0;              ///< of a receive: bytes of pieces
  bool has_arrived = false;                   ///< of a receive
  bool is_lost = false;                       ///< of a receive: the sender's memory is gone
  std::unique_ptr<FrameHeader> disagreement;  ///< of a receive: what was sent in its place
};

/// What this rank has in hand with one neighbour. Not thread-safe: the caller serialises the calls. Messages stay where
/// they are until they are complete, also those that are abandoned.
class Peer {
 public:
  Peer(const Neighbours& neighbours, int index);
  ~Peer();
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  void post_send(ShmPending& pending);
  void post_receive(ShmPending& pending);

  /// Reads all records, and writes those that did not fit before.
  void progress();
  /// Whether progress() would find something to do.
  bool has_work() const;
  /// Whether the neighbour may wait for a record that is not written yet.
  bool owes_records() const { return !unsent_.empty(); }

 private:
  struct RecordHead;
  struct Push;
  using Parts = std::initializer_list<std::string_view>;  ///< of a record; they follow each other

  bool try_to_write(Parts parts);
  void write(Parts parts);
  bool push_piece();
  void take_records();
  void take(std::string_view record);
  void match(ShmPending& pending, std::string_view frame);

  Neighbours::Member member_;
  ShmRing& in_;
  ShmRing& out_;
  Doorbell& bell_;
  std::uint64_t num_sends_ = 0;
  std::deque<std::string> unsent_;  ///< records that did not fit into the ring
  std::deque<Push> pushes_;
  std::unordered_map<std::uint64_t, ShmPending*> long_sends_;  ///< by id, until taken
  std::unordered_map<std::uint64_t, ShmPending*> in_pieces_;   ///< receives, by the sender's id
  // In the order of posting: few, of which most often the first is the one that is looked for.
  std::deque<ShmPending*> sends_;     ///< their receives are not posted
  std::deque<RecordHead> posted_;     ///< receives whose sends are not
  std::deque<ShmPending*> receives_;  ///< their frames are not here
  std::deque<std::string> frames_;    ///< records whose receives are not posted
};

}  // namespace lab::comm
