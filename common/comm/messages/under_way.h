#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "common/comm/messages/message.h"

namespace lab::comm {

class Pending;

/// A rank's messages that are posted and not yet waited for, and that nobody touches their memory meanwhile.
class UnderWay {
 public:
  /// Errors    ContractError, nothing added: the message's memory overlaps that of another one under way and either of
  ///           them is a receive
  void require_apart(const Message& message, int rank) const;

  /// `watched`: ended() finds out whether a send's memory has changed meanwhile.
  void add(const Pending* pending, const Message& message, bool watched);

  /// Forgets the message. Whether it was watched, and its memory is not as it was when it was added.
  bool ended(const Pending* pending);

  /// "isend to rank 2 (student/ring.cpp:41)": the first that was posted; empty: there is none.
  std::string first() const;

 private:
  struct Bytes {
    std::uintptr_t begin = 0, end = 0;
  };
  struct Entry {
    std::uint64_t number = 0;
    Message message;
    Bytes bytes;
    bool watched = false;
    std::uint64_t checksum = 0;
  };
  using ByBegin = std::multimap<std::uintptr_t, const Entry*>;

  static Bytes bytes_of(const Message& message);
  static const Entry* overlapping(const ByBegin& some, std::uint64_t longest, const Bytes& bytes);

  std::map<const Pending*, Entry> entries_;
  ByBegin sends_, receives_;
  std::uint64_t longest_ = 0;  ///< bytes of any message so far
  std::uint64_t num_added_ = 0;
};

}  // namespace lab::comm
