#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "common/comm/group.h"
#include "common/comm/transport.h"

namespace lab::comm {

/// The messages of one step of one collective: all posted at once, then waited for. They use separate channels, so they
/// never match a user's message. Messages not waited for, because a wait threw, are abandoned.
class BatchIsendIrecv {
 public:
  /// Errors name `operation` and `where`.
  BatchIsendIrecv(Transport& transport, const Group& group, std::string operation, SourceLine where)
      : transport_(transport), group_(group), operation_(std::move(operation)), where_(where) {}
  ~BatchIsendIrecv();
  BatchIsendIrecv(const BatchIsendIrecv&) = delete;
  BatchIsendIrecv& operator=(const BatchIsendIrecv&) = delete;

  /// Posts a message to, or from, a member of the group. The tensor is contiguous and on the CPU, or meta.
  void send(const at::Tensor& tensor, int member) { post(Direction::kSend, tensor, member, {}); }
  void recv(const at::Tensor& tensor, int member) { post(Direction::kRecv, tensor, member, {}); }

  /// The same for the tensor's dtype and shape only: the two ends compare them and no payload moves. What is sent tells
  /// the receiver a model time.
  void send_contract(const at::Tensor& tensor, int member, std::int64_t model_time = 0) {
    post(Direction::kSend, tensor, member, model_time);
  }
  void recv_contract(const at::Tensor& tensor, int member) { post(Direction::kRecv, tensor, member, 0); }

  /// Returns when everything posted is complete. Errors: those of Transport::wait.
  void wait();
  /// The latest model time that contracts have told this rank in wait().
  std::int64_t latest_model_time() const { return latest_model_time_; }

 private:
  /// With a model time, a contract only.
  void post(Direction direction, const at::Tensor& tensor, int member, std::optional<std::int64_t> model_time);

  Transport& transport_;
  const Group& group_;
  std::string operation_;
  SourceLine where_;
  std::vector<std::shared_ptr<Pending>> pending_;
  std::int64_t latest_model_time_ = 0;
};

}  // namespace lab::comm

namespace lab {
using comm::BatchIsendIrecv;
}  // namespace lab
