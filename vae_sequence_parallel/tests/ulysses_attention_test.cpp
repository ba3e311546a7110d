#include "common/comm/messages/get_endpoint.h"
#include "common/testing/test.h"
#include "common/testing/worlds.h"
#include "vae_sequence_parallel/sequence_attention.h"
#include "vae_sequence_parallel/tests/attention_world.h"

namespace lab::vae {
namespace {

at::Tensor ulysses(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                   const std::vector<std::int64_t>& lengths, Communicator& comm) {
  return ulysses_attention(q, k, v, lengths, comm.collectives());
}

TEST_CASE("Ulysses attention: output and gradients of one process, for any lengths") {
  for (const int size : {1, 2, 3, 4, 5, 8}) {
    for (const std::vector<std::int64_t>& lengths : length_patterns(size)) {
      for (const std::int64_t heads : {1, 2, 4, 8, 3, 5, 10}) {
        if (heads % size != 0) continue;
        for (const std::int64_t channels : {1, 3, 16}) {
          for (const at::ScalarType dtype : {at::kFloat, at::kDouble})
            check_same(ulysses, random_data({1 + heads % 2, heads, total(lengths), channels}, dtype), lengths);
        }
      }
    }
  }
}

TEST_CASE("Ulysses attention: scores of thousands") {
  for (const int size : {1, 2, 3, 4, 5, 8}) {
    for (const std::vector<std::int64_t>& lengths : length_patterns(size)) check_large_scores(ulysses, size, lengths);
  }
}

TEST_CASE("Ulysses attention: in groups, and between processes") {
  check_groups(ulysses);
  check_processes(ulysses);
}

TEST_CASE("Ulysses attention: what does not fit is refused, what differs between ranks is reported") {
  check_refusals(ulysses);
  check_disagreement(ulysses);
}

TEST_CASE("Ulysses attention: heads that do not divide by the ranks are refused before anything is sent") {
  for (const std::int64_t heads : {1, 2, 4, 8}) {
    check_refused(3, std::to_string(heads) + " heads do not divide by 3 ranks", [&](Communicator& comm) {
      const at::Tensor x = at::ones({1, heads, 2, 4});
      ulysses(x, x, x, {2, 2, 2}, comm);
    });
  }
}

TEST_CASE("Ulysses attention: cost, to the byte") {
  for (const int size : {1, 2, 3, 4, 5, 8}) {
    for (const std::vector<std::int64_t>& lengths : length_patterns(size)) {
      const auto outcome = launch::run_ranks(threads(size), [&](Communicator& comm) {
        const auto spent = [&] {
          const LedgerEntry cost = get_endpoint(comm).ledger().of("all_to_all");
          return at::tensor({static_cast<std::int64_t>(cost.calls), static_cast<std::int64_t>(cost.bytes_sent)});
        };
        const std::int64_t length = lengths[static_cast<std::size_t>(comm.rank())];
        const at::Tensor x = at::ones({2, 3 * size, length, 4}).requires_grad_();
        const at::Tensor out = ulysses(x, x, x, lengths, comm);
        const at::Tensor forward = spent();
        out.sum().backward();
        return TensorMap{
            {"forward", forward},
            {"backward", spent() - forward},
            {"messages", at::tensor(static_cast<std::int64_t>(get_endpoint(comm).ledger().total().messages))}};
      });
      if (outcome.failure) FAIL(outcome.failure->message);
      for (int rank = 0; rank < size; ++rank) {
        CAPTURE(size);
        CAPTURE(rank);
        const std::int64_t bytes = (2 * 3 * 4) * 4;  // per position, for the heads of one rank
        const std::int64_t own = lengths[static_cast<std::size_t>(rank)];
        const std::int64_t own_to_all = own * (size - 1) * bytes, all_but_own = (total(lengths) - own) * bytes;
        const TensorMap& counted = outcome.ranks[static_cast<std::size_t>(rank)].tensors;
        CHECK(at::equal(counted.at("forward"), at::tensor({std::int64_t{2}, 3 * own_to_all + all_but_own})));
        CHECK(at::equal(counted.at("backward"), at::tensor({std::int64_t{2}, own_to_all + 3 * all_but_own})));
        CHECK(counted.at("messages").item<std::int64_t>() == 0);
      }
    }
  }
}

}  // namespace
}  // namespace lab::vae
