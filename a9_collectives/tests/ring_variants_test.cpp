#include "a9_collectives/allgather.h"
#include "a9_collectives/allreduce.h"
#include "a9_collectives/chunks.h"
#include "a9_collectives/reduce_scatter.h"
#include "a9_collectives/tests/algorithm_verdict.h"
#include "common/testing/test.h"

// Rings as in textbooks and libraries: all of them must stay within the bounds of the ring's cases, and algorithms that
// are not rings must not.
namespace lab::a9 {
namespace {

using Function = at::Tensor (*)(at::Tensor, PointToPoint&);

std::string ring_verdict(const std::string& name, const std::function<at::Tensor(at::Tensor, PointToPoint&)>& function,
                         int size) {
  return algorithm_verdict(
      name, [&](const at::Tensor& x, const CaseInputs&, PointToPoint& p2p) { return function(x, p2p); }, size);
}

/// Where each chunk of a row of n elements begins, and the end of the last.
using Cut = std::vector<std::int64_t> (*)(std::int64_t n, int num_chunks);

std::vector<std::int64_t> longer_first(std::int64_t n, int num_chunks) {
  std::vector<std::int64_t> begins;
  for (int i = 0; i <= num_chunks; ++i)
    begins.push_back(i * (n / num_chunks) + std::min<std::int64_t>(i, n % num_chunks));
  return begins;
}
std::vector<std::int64_t> rest_in_the_last(std::int64_t n, int num_chunks) {
  std::vector<std::int64_t> begins;
  for (int i = 0; i < num_chunks; ++i) begins.push_back(i * (n / num_chunks));
  begins.push_back(n);
  return begins;
}
std::vector<std::int64_t> rounded_up(std::int64_t n, int num_chunks) {
  const std::int64_t length = (n + num_chunks - 1) / num_chunks;
  std::vector<std::int64_t> begins;
  for (int i = 0; i <= num_chunks; ++i) begins.push_back(std::min(n, i * length));
  return begins;
}

struct Ring {
  const char* name;
  Cut cut = longer_first;
  int to = 1;               ///< the neighbour that is sent to
  int first = 0;            ///< the chunk that rank r sends first: r + first
  int reduce_segments = 1;  ///< messages for each chunk on its way to the sum
  int gather_segments = 1;  ///< and on its way round afterwards
};

/// The last segments may be empty and are then not sent.
void exchange_segments(PointToPoint& p2p, const at::Tensor& out, int dst, const at::Tensor& in, int src, int segments) {
  std::vector<Request> requests;
  const auto post = [&](const at::Tensor& chunk, const auto& message) {
    const std::int64_t length = (chunk.numel() + segments - 1) / segments;
    for (std::int64_t begin = 0; begin < chunk.numel(); begin += length)
      requests.push_back(message(chunk.narrow(0, begin, std::min(length, chunk.numel() - begin))));
  };
  post(in, [&](const at::Tensor& part) { return p2p.irecv(part, src); });
  post(out, [&](const at::Tensor& part) { return p2p.isend(part, dst); });
  for (Request& request : requests) request.wait();
}

at::Tensor allreduce_by(const Ring& ring, const at::Tensor& tensor, PointToPoint& p2p) {
  const int size = p2p.size(), dst = (p2p.rank() + ring.to + size) % size, src = (p2p.rank() - ring.to + size) % size;
  const std::vector<std::int64_t> begins = ring.cut(tensor.numel(), size);
  const auto chunk = [&](int index) {
    const auto at = static_cast<std::size_t>(((index % size) + size) % size);
    return tensor.narrow(0, begins[at], begins[at + 1] - begins[at]);
  };
  const int own = p2p.rank() + ring.first;
  for (int step = 0; step < size - 1; ++step) {
    const at::Tensor target = chunk(own - ring.to * (step + 1)), received = at::empty_like(target);
    exchange_segments(p2p, chunk(own - ring.to * step), dst, received, src, ring.reduce_segments);
    target.add_(received);
  }
  const int whole = own + ring.to;  // the sum that is complete here
  for (int step = 0; step < size - 1; ++step)
    exchange_segments(p2p, chunk(whole - ring.to * step), dst, chunk(whole - ring.to * (step + 1)), src,
                      ring.gather_segments);
  return tensor;
}

TEST_CASE("every textbook ring all-reduce comes within the bounds") {
  const Ring rings[] = {{"to the right"},
                        {"as NCCL has it: chunk r - 1 first", longer_first, 1, -1},
                        {"to the left", longer_first, -1},
                        {"to the left, chunk r + 1 first", longer_first, -1, 1},
                        {"to the left, in segments", longer_first, -1, 0, 4, 4},
                        {"the rest in the last chunk", rest_in_the_last},
                        {"the rest in the last chunk, to the left", rest_in_the_last, -1},
                        {"chunk lengths rounded up", rounded_up},
                        {"in segments", longer_first, 1, 0, 4, 4},
                        {"in segments up to the sum, as Open MPI has it", longer_first, 1, 0, 2, 1}};
  for (const Ring& ring : rings) {
    for (const int size : {1, 2, 3, 4, 5, 8}) {
      CAPTURE(ring.name);
      CAPTURE(size);
      CHECK(ring_verdict(
                "AllReduceRing", [&](at::Tensor x, PointToPoint& p2p) { return allreduce_by(ring, x, p2p); }, size) ==
            "passed");
    }
  }
}

TEST_CASE("a ring all-reduce of a padded row comes within the bounds") {
  for (const int size : {2, 3, 4, 8}) {
    CAPTURE(size);
    const auto padded = [](at::Tensor x, PointToPoint& p2p) {
      const std::int64_t rest = (p2p.size() - x.numel() % p2p.size()) % p2p.size();
      const at::Tensor row = at::constant_pad_nd(x, {0, rest});
      return x.copy_(allreduce_by({"padded"}, row, p2p).narrow(0, 0, x.numel()));
    };
    CHECK(ring_verdict("AllReduceRing", padded, size) == "passed");
  }
}

TEST_CASE("an algorithm that is not a ring exceeds the bounds") {
  for (const int size : {4, 5, 8}) {
    CAPTURE(size);
    for (const Function other :
         {allreduce_gather_broadcast, allreduce_recursive_doubling, allreduce_rabenseifner, allreduce_direct}) {
      const std::string said = ring_verdict("AllReduceRing", other, size);
      CAPTURE(said);
      CHECK((testing::contains(said, " rounds of ") || testing::contains(said, " bytes sent of ")));
    }
    for (const Function other : {allgather_through_root, allgather_bruck, allgather_direct})
      CHECK(ring_verdict("AllGatherRing", other, size) != "passed");
    CHECK(ring_verdict("ReduceScatterRing", reduce_scatter_recursive_halving, size) != "passed");
  }
}

at::Tensor allgather_to_the_left(at::Tensor tensor, PointToPoint& p2p) {
  const int size = p2p.size(), left = (p2p.rank() - 1 + size) % size, right = (p2p.rank() + 1) % size;
  std::vector<at::Tensor> parts(static_cast<std::size_t>(size), tensor.clone());
  for (int step = 1; step < size; ++step) {
    const auto held = static_cast<std::size_t>((p2p.rank() + step - 1) % size);
    const auto next = static_cast<std::size_t>((p2p.rank() + step) % size);
    parts[next] = at::empty_like(tensor);
    exchange_segments(p2p, parts[held], left, parts[next], right, 3);
  }
  return at::cat(parts);
}

TEST_CASE("a ring all-gather may go to the left, and in segments") {
  for (const int size : {1, 2, 3, 4, 8}) {
    CAPTURE(size);
    CHECK(ring_verdict("AllGatherRing", allgather_to_the_left, size) == "passed");
  }
}

}  // namespace
}  // namespace lab::a9
