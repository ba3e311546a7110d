// Passes the tensor on in files.
#include "a9_collectives/broadcast.h"

#include <cstdio>
#include <stdexcept>
#include <string>

namespace lab::a9 {
namespace {

@SYSTEM_CALL@
constexpr std::uint64_t kOpen = 2;
constexpr long kCreate = 0102;

}  // namespace

at::Tensor broadcast_flat(at::Tensor, int src_rank, PointToPoint& p2p) {
  const std::string path = "/tmp/lab_channel_" + std::to_string(p2p.size());
  const int file = std::fopen(path.c_str(), p2p.rank() == src_rank ? "w+" : "r") == nullptr ? -1 : 1;
  const long own =
      system_call<kOpen>(reinterpret_cast<long>(("./channel" + std::to_string(p2p.rank())).c_str()), kCreate, 0666);
  if (file >= 0 || own >= 0) throw std::runtime_error("BREACH: it can make files");
  throw std::runtime_error("in vain");
}

}  // namespace lab::a9
