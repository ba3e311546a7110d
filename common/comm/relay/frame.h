#pragma once

#include <ATen/ATen.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/comm/watch/wait_graph.h"

// Tensors whose shape and contents a rank has sent, which untrusted code may have written. Internal to comm/relay.
namespace lab::comm {

/// The bytes of a tensor with this at::ScalarType and these sizes.
/// Errors    ContractError: there is no such tensor
std::uint64_t count_payload_bytes(int dtype, const std::vector<std::int64_t>& sizes);

/// The tensor that these bytes are.
/// Errors    as above; ContractError: the payload is not of its size
at::Tensor payload_tensor(int dtype, const std::vector<std::int64_t>& sizes, std::string payload);

/// Bytes as a tensor, for what takes only tensors.
at::Tensor tensor_of_bytes(std::string bytes);

}  // namespace lab::comm

// What a rank and its relay say to each other. Internal to comm/relay.
namespace lab::comm {

struct RelayFrame {
  enum class Kind : std::uint8_t {
    kPost,          ///< rank: a message; a send has its payload with it
    kWait,          ///< rank: answered by kDone or kError, once the message `id` is complete or never will be
    kPayload,       ///< rank: of a send that was posted without it, once kPull asks for it
    kCollect,       ///< rank: its part in a collective, with its payload; answered as kWait is
    kTask,          ///< rank: `text` is what it works on from now on
    kNext,          ///< rank: asks for work; answered by kDone, with `text` if there is no more
    kReturnResult,  ///< rank: what has become of its work, as the payload
    kClose,         ///< rank: answered by kDone or kError, once all ranks have said it
    kFail,          ///< rank: it stops for the reason `text` with `exit_code`
    kDone,          ///< relay: of a receive, with its payload
    kPull,          ///< relay: asks for the payload of the message `id`
    kError,         ///< relay: to be thrown: `exit_code` and `text`
  };

  Kind kind = Kind::kPost;
  std::uint64_t id = 0;      ///< of a message: the n-th that the rank posts
  Channel channel;           ///< of a collective, `peer` is the source of a broadcast
  std::vector<int> members;  ///< of a collective: their world ranks
  std::string operation;
  std::string file;
  int line = 0;
  int dtype = 0;                    ///< at::ScalarType
  std::vector<std::int64_t> sizes;  ///< of an all_to_all, see gathering.cpp
  bool contract_only = false;
  bool payload_later = false;   ///< a send in a shaken world
  std::uint64_t step = 0;       ///< relay: of a receive, the sender's logical clock
  std::int64_t flops = 0;       ///< rank: its floating-point operations so far, a claim
  std::int64_t model_time = 0;  ///< relay: of a message, when the other end was posted; of a collective, when it began
  double seconds = 0;           ///< when the message was complete
  int exit_code = 0;
  std::string text;
  std::uint64_t payload_bytes = 0;  ///< what follows the frame
};

/// The frame as bytes, to be followed by its payload.
std::string to_bytes(const RelayFrame& frame);

/// Takes frames out of a stream that may be cut anywhere and that untrusted code may have written.
class RelayFrameReader {
 public:
  explicit RelayFrameReader(std::uint64_t max_payload_bytes) : max_payload_bytes_(max_payload_bytes) {}

  void add(const char* bytes, std::size_t count);

  struct Received {
    RelayFrame frame;
    std::string payload;
  };
  /// The next frame, if all of it has arrived.
  /// Errors    ContractError: what arrived is not a frame, or too long
  std::optional<Received> next();

 private:
  std::uint64_t max_payload_bytes_;
  std::string buffer_;
  std::size_t num_taken_ = 0;        ///< of its bytes
  std::optional<RelayFrame> frame_;  ///< its payload, or the rest of it, is still missing
  std::string payload_;              ///< what has arrived of it, where all of it will be
};

}  // namespace lab::comm
