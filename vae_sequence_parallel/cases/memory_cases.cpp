#include "vae_sequence_parallel/cases/cases.h"
#include "vae_sequence_parallel/peak_bytes.h"

namespace lab::vae {
namespace {

constexpr std::int64_t kMiB = 1 << 20;

at::Tensor make(std::int64_t mib, at::Device device) {
  return at::empty({mib * kMiB}, at::TensorOptions(at::kByte).device(device));
}

/// Holds first + second MiB at once, later `third` alone.
void hold(std::int64_t first, std::int64_t second, std::int64_t third, at::Device device) {
  { const at::Tensor one = make(first, device), other = make(second, device); }
  make(third, device);
}

}  // namespace

TensorMap memory_call(Communicator& comm, const CaseInputs& inputs) {
  const at::Device device = inputs.device;
  const std::int64_t more = comm.rank();
  std::vector<std::int64_t> bytes;
  bytes.push_back(peak_bytes_of([&] { hold(5, 3, 4, device); }, device));
  bytes.push_back(peak_bytes_of([&] { hold(1, 1, 3 + more, device); }, device));
  const at::Tensor held_before = make(6, device);
  bytes.push_back(peak_bytes_of([&] { hold(2, 1, 1, device); }, device));
  bytes.push_back(peak_bytes_of([] {}, device));
  return {{"bytes", at::tensor(bytes, at::kLong)}};
}

std::vector<Case> memory_cases() {
  Case result;
  result.task = "vae.memory";
  result.name = result.prefix = "PeakBytes";
  result.tolerance.rtol = result.tolerance.atol = 0;
  result.inputs = [](const CasePlace&) { return CaseInputs(); };
  result.expected = [](const CasePlace& place) {
    return TensorMap{{"bytes", at::tensor({8 * kMiB, (3 + place.rank) * kMiB, 3 * kMiB, std::int64_t{0}}, at::kLong)}};
  };
  return {result};
}

}  // namespace lab::vae
