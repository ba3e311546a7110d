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
  bool expects_posted = false;                ///< of a send
  bool expects_taken = false;                 ///< of a send
  std::uint64_t num_arrived = 0;              ///< of a receive: bytes of pieces
  bool has_arrived = false;                   ///< of a receive
  bool is_lost = false;                       ///< of a receive: the sender's memory is gone
  std::unique_ptr<FrameHeader> disagreement;  ///< of a receive: what was sent in its place
};

/// What this rank has in hand with one neighbour. Not thread-safe: the caller serialises the calls.
class Peer {
 public:
  Peer(const Neighbours& neighbours, int index);
  ~Peer();
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  void post_send(const std::shared_ptr<ShmPending>& pending, const FrameHeader& header);
  void post_receive(const std::shared_ptr<ShmPending>& pending);

  /// Reads all records, and writes those that did not fit before.
  void progress();
  /// Whether progress() would find something to do.
  bool has_work() const;
  /// Whether the neighbour may wait for a record that is not written yet.
  bool owes_records() const { return !unsent_.empty(); }

 private:
  struct RecordHead;
  struct EarlyFrame;
  struct Push;
  using Parts = std::initializer_list<std::string_view>;  ///< of a record; they follow each other
  template <typename Value>
  using ByChannel = std::unordered_map<Channel, std::deque<Value>, ChannelHash>;
  template <typename Value>
  static std::optional<Value> take_first(ByChannel<Value>& queues, const Channel& channel);

  bool try_to_write(Parts parts);
  void write(Parts parts);
  bool push_piece();
  void take_records();
  void take(std::string_view record);
  void match(const std::shared_ptr<ShmPending>& pending, const RecordHead& head, const FrameHeader& header,
             std::string_view payload);

  Neighbours::Member member_;
  ShmRing& in_;
  ShmRing& out_;
  Doorbell& bell_;
  std::uint64_t num_sends_ = 0;
  std::deque<std::string> unsent_;  ///< records that did not fit into the ring
  std::deque<Push> pushes_;
  std::unordered_map<std::uint64_t, std::shared_ptr<ShmPending>> long_sends_;  ///< by id, until taken
  std::unordered_map<std::uint64_t, std::shared_ptr<ShmPending>> in_pieces_;   ///< receives, by the sender's id
  ByChannel<std::shared_ptr<ShmPending>> sends_;                               ///< their receives are not posted
  ByChannel<std::int64_t> posted_;                                             ///< receives whose sends are not
  ByChannel<std::shared_ptr<ShmPending>> receives_;                            ///< their frames are not here
  ByChannel<EarlyFrame> frames_;
};

}  // namespace lab::comm
