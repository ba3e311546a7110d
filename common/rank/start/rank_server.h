#pragma once

#include <cstdint>

// How judged ranks start. Loading LibTorch takes half a second of CPU time, so the judge starts each program once: it is a
// fork server that never gets to the student's code, and each of its children is one rank of one world. The server is
// what runs before any constructor of the program:
//   PROGRAM CONTROL FIRST_FILTER RANK_FILTER     three descriptors
// CONTROL   a SOCK_SEQPACKET: RankOrders come, and two RankReplies go back for each
// *_FILTER  seccomp filters, as the kernel takes them (grading/sandbox/syscall_filter.h). The first holds
//           before any constructor of any library, the other one in the children, before the program's first constructor
// What runs in a server or a child is not trusted: a reply is a claim, but for the process that it is from.
namespace lab {

/// Make a rank, whose ends of the relay, stdout and stderr come along as descriptors (SCM_RIGHTS), in this order.
struct RankOrder {
  std::int32_t rank = 0, size = 0, shaken = 0;
};

/// From the rank itself, before it runs anything of the program's: it has begun. From the server: it has ended.
struct RankReply {
  std::int32_t rank = 0, has_ended = 0;
  std::int32_t status = 0;  ///< as from waitpid(), of one that has ended
};

/// What a rank that was made this way knows of its world.
struct RankSeat {
  int rank = -1, size = 0;
  bool shaken = false;
  int relay = -1;  ///< descriptor of its end
};

/// Of this process.
const RankSeat& rank_seat();

}  // namespace lab
