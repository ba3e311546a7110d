#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <string>

#include "common/comm/messages/message.h"

namespace lab::comm {

/// A rank's messages that are posted and not yet waited for, and that nobody touches their memory meanwhile.
class UnderWay {
  struct Bytes {
    std::uintptr_t begin = 0, end = 0;
  };
  struct Entry {
    const Message* message = nullptr;
    Bytes bytes;  ///< none, unless its place is watched
    bool is_summed = false;
    std::uint64_t checksum = 0;
  };

 public:
  enum class Watch {
    kListed,  ///< only first() knows of it
    kPlace,   ///< require_apart() compares others' memory with its own
    kBytes    ///< and ended() finds out whether a send's memory has changed meanwhile
  };

  /// Errors    ContractError: the message's memory overlaps that of another one whose place is watched, and either of
  ///           them is a receive
  void require_apart(const Message& message, int rank) const;

  using Place = std::list<Entry>::iterator;

  /// The message stays where it is until it has ended.
  Place add(const Message& message, Watch watch);
  Place add(Message&& message, Watch watch) = delete;

  /// Forgets the message, if that was not done before, and its place. Whether its bytes were watched and are not as they
  /// were when it was added.
  bool ended(std::optional<Place>& place);

  /// "isend to rank 2 (student/ring.cpp:41)": the first that was posted; empty: there is none.
  std::string first() const;

 private:
  using ByBegin = std::multimap<std::uintptr_t, const Entry*>;

  static Bytes bytes_of(const Message& message);
  static std::uint64_t checksum_of(const Bytes& bytes);
  static const Entry* overlapping(const ByBegin& some, std::uint64_t longest, const Bytes& bytes);

  std::list<Entry> entries_;  ///< in the order of posting
  ByBegin sends_, receives_;
  std::uint64_t longest_ = 0;  ///< bytes of any message so far
};

}  // namespace lab::comm
