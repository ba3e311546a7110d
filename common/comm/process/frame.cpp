#include "common/comm/process/frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "common/comm/group.h"

namespace lab::comm {
namespace {

constexpr std::uint32_t kMagic = 0x4C414231;  // "LAB1"

template <std::size_t N>
void copy_text(char (&target)[N], std::string_view text) {
  const std::size_t length = std::min(N - 1, text.size());
  std::memcpy(target, text.data(), length);
  target[length] = '\0';
}

}  // namespace

void require_few_dims(const Message& message) {
  if (message.tensor.dim() <= 8) return;
  throw ContractError(fmt::format("{}: a message of {} dimensions: expected at most 8; hint: view() it with fewer",
                                  message.where.text(), message.tensor.dim()));
}

FrameHeader make_header(const Message& message) {
  require_few_dims(message);
  FrameHeader header{};
  header.magic = kMagic;
  header.line = message.where.line;
  header.num_bytes = message.num_bytes();
  header.step = message.step;
  header.model_posted = message.model_posted;
  header.tag = message.tag;
  header.dtype = static_cast<std::int8_t>(message.tensor.scalar_type());
  const auto sizes = message.tensor.sizes();
  header.num_dims = static_cast<std::uint8_t>(sizes.size());
  std::copy(sizes.begin(), sizes.end(), header.shape);
  header.contract_only = message.contract_only ? 1 : 0;
  copy_text(header.operation, message.operation);
  copy_text(header.file, message.where.file_name());
  return header;
}

bool same_contract(const FrameHeader& header, const Message& expected) {
  const auto sizes = expected.tensor.sizes();
  return header.magic == kMagic && header.dtype == static_cast<std::int8_t>(expected.tensor.scalar_type()) &&
         header.num_dims == sizes.size() && std::equal(sizes.begin(), sizes.end(), header.shape) &&
         std::strncmp(header.operation, expected.operation.c_str(), sizeof(header.operation) - 1) == 0;
}

Contract read_contract(const FrameHeader& header) {
  if (header.magic != kMagic || header.num_dims > std::size(header.shape)) {
    throw CommError(
        "a peer sent something that is not a message of this suite; hint: all ranks must run the same build");
  }
  Contract contract;
  contract.operation = header.operation;
  contract.dtype = static_cast<at::ScalarType>(header.dtype);
  contract.shape.assign(header.shape, header.shape + header.num_dims);
  contract.tag = header.tag;
  contract.where = fmt::format("{}:{}", header.file, header.line);
  return contract;
}

void require_same_contract(const FrameHeader& header, const Message& expected, int rank) {
  if (same_contract(header, expected)) return;
  throw ContractError(contract_violation(expected.peer, read_contract(header), rank, expected.contract()));
}

bool is_acknowledged(const Message& message) {
  return (message.group & kCollectiveChannel) == 0;
}

}  // namespace lab::comm
