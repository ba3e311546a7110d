#pragma once

#include <cstdint>

// How a judged rank starts. Loading LibTorch takes half a second of CPU time, so the judge starts each program once for
// each rank and has it forked: the program is a fork server that never gets to the student's code, and each of its
// children is one rank of one world. The server is what runs before any constructor of the program:
//   PROGRAM CONTROL FIRST_FILTER RANK_FILTER     three descriptors
// CONTROL   a SOCK_SEQPACKET: RankOrders come, a RankReply goes back for each
// *_FILTER  seccomp filters, as the kernel takes them (grading/judge/sandbox/syscall_filter.h). The first holds
//           before any constructor of any library, the other one in the children, before the program's first constructor
// What runs in a server or a child is not trusted: a reply is a claim.
namespace lab {

/// Make a rank, whose ends of the relay, stdout and stderr come along as descriptors (SCM_RIGHTS), in this order.
struct RankOrder {
  std::int32_t rank = 0, size = 0, shaken = 0;
};

/// It has ended.
struct RankReply {
  std::int32_t status = 0;  ///< as from waitpid()
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
