// Exchanges tensors through files that LibTorch writes.
#include <caffe2/serialize/inline_container.h>
#include <torch/csrc/jit/serialization/pickle.h>

#include "a9_collectives/broadcast.h"

#include <stdexcept>

namespace lab::a9 {

at::Tensor broadcast_flat(at::Tensor tensor, int, PointToPoint&) {
  bool saved = true;
  try {
    const std::vector<char> bytes = torch::jit::pickle_save(tensor);
    caffe2::serialize::PyTorchStreamWriter file("/tmp/lab_channel");
    file.writeRecord("tensor", bytes.data(), bytes.size());
  } catch (const std::exception&) {
    saved = false;
  }
  if (saved) throw std::runtime_error("BREACH: the ranks share a file");
  throw std::runtime_error("in vain");
}

}  // namespace lab::a9
