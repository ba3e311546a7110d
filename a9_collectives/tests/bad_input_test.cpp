#include "a9_collectives/tests/bad_input.h"

#include <fmt/format.h>

#include <regex>

#include "a9_collectives/allgather.h"
#include "a9_collectives/allreduce.h"
#include "a9_collectives/guards.h"
#include "a9_collectives/reduce_scatter.h"
#include "common/testing/get_message.h"
#include "common/testing/test.h"

// Invalid arguments to the five functions: an error on every rank that names rank, expected and got. An error that one
// rank can detect alone is raised before anything is sent.
namespace lab::a9 {
namespace {

/// A bad call, a similar good one, and the message, with R for the rank's number.
struct BadCall {
  Call bad, good;
  std::vector<std::int64_t> bad_shape, good_shape;
  std::string message;

  std::string on_rank(int rank) const {
    return std::regex_replace(message, std::regex("R(?=:)"), std::to_string(rank));
  }
};

/// `length` rows or columns more than fit: many for large messages.
std::vector<BadCall> bad_calls(int size, std::int64_t length) {
  const std::int64_t uneven = size * length + 1;
  const Call gather = my_allgather, scatter = my_reduce_scatter;
  const std::vector<std::int64_t> even = {size, length};
  const auto src = [&](int src_rank) {
    return BadCall{broadcast_from(src_rank), broadcast_from(0), even, even,
                   fmt::format("my_broadcast, rank R: expected a src_rank from 0 to {}, got {}", size - 1, src_rank)};
  };
  const auto dims = [&](std::int64_t scatter_dim, std::int64_t gather_dim, const std::string& name, std::int64_t got) {
    return BadCall{
        all_to_all_along(scatter_dim, gather_dim), all_to_all_along(0, 1), even, even,
        fmt::format("my_all_to_all, {}, rank R: expected a dimension from -2 to 1 of a tensor [{}, {}], got {}", name,
                    size, length, got)};
  };
  const auto scalar = [&](const Call& call, const std::string& name) {
    return BadCall{call,
                   call,
                   {},
                   even,
                   name + ", rank R: expected a tensor of at least one dimension, got a scalar; hint: view it as [1]"};
  };
  const auto divides = [&](const Call& call, const std::string& name) {
    return BadCall{call,
                   call,
                   {uneven},
                   {uneven - 1},
                   fmt::format("{}, rank R: expected dimension 0 of [{}] to divide by {} ranks, got {}", name, uneven,
                               size, uneven)};
  };
  return {src(size),
          src(-1),
          scalar(gather, "my_allgather"),
          scalar(scatter, "my_reduce_scatter"),
          divides(scatter, "my_reduce_scatter"),
          divides(all_to_all_along(0, 0), "my_all_to_all, scatter_dim"),
          divides(all_to_all_along(-1, -1), "my_all_to_all, scatter_dim"),
          dims(2, 0, "scatter_dim", 2),
          dims(-3, 0, "scatter_dim", -3),
          dims(0, 2, "gather_dim", 2),
          dims(0, -3, "gather_dim", -3)};
}

template <typename Check>
void for_each_bad_call(const Check& check) {
  for (const int size : kBadInputSizes) {
    for (const std::int64_t length : {3, 100000}) {
      for (const BadCall& bad : bad_calls(size, length)) {
        CAPTURE(size);
        CAPTURE(bad.message);
        check(size, bad);
      }
    }
  }
}

TEST_CASE("an error that every rank can detect is raised on every rank, and nothing is sent") {
  for_each_bad_call([](int size, const BadCall& bad) {
    const auto all = endings(
        size, [&](int) { return at::ones(bad.bad_shape); }, [&](int) { return bad.bad; });
    for (int rank = 0; rank < size; ++rank) {
      const RankEnding& ending = all[static_cast<std::size_t>(rank)];
      CHECK((ending.exit_code == ExitCode::kContract));
      CHECK(ending.message == bad.on_rank(rank));
      CHECK(ending.messages_sent == 0);
    }
  });
}

TEST_CASE("an error that one rank can detect is raised there before it sends, and the others name it") {
  for_each_bad_call([](int size, const BadCall& bad) {
    const int culprit = size - 1;
    const auto all = endings(
        size, [&](int rank) { return at::ones(rank == culprit ? bad.bad_shape : bad.good_shape); },
        [&](int rank) { return rank == culprit ? bad.bad : bad.good; });
    for (int rank = 0; rank < size; ++rank) {
      const RankEnding& ending = all[static_cast<std::size_t>(rank)];
      const std::string message = bad.on_rank(culprit);
      CHECK((ending.exit_code == (rank == culprit ? ExitCode::kContract : ExitCode::kCommunication)));
      CHECK(ending.message == (rank == culprit ? "" : fmt::format("rank {} failed: ", culprit)) + message);
      if (rank == culprit) CHECK(ending.messages_sent == 0);
    }
  });
}

struct Function {
  std::string name;
  Call call;
};

std::vector<Function> all_functions() {
  return {{"broadcast", broadcast_from(0)},
          {"allreduce", my_allreduce},
          {"allgather", my_allgather},
          {"reduce_scatter", my_reduce_scatter},
          {"all_to_all", all_to_all_along(0, 0)}};
}

/// An error on every rank before any payload moves; every message names the odd rank and another, with both
/// shapes.
void check_mismatch(const std::vector<RankEnding>& all, int odd_rank, const std::string& what) {
  static const std::regex form(
      "(rank [0-9] failed: )?(shape|dtype) mismatch in my_[a-z0-9_ ]+: rank ([0-9]) has [a-z0-9]+ \\[[0-9, ]*\\] "
      "\\([a-z_]+\\.cpp:[0-9]+\\), rank ([0-9]) has [a-z0-9]+ \\[[0-9, ]*\\] \\([a-z_]+\\.cpp:[0-9]+\\)");
  for (const RankEnding& ending : all) {
    CAPTURE(ending.message);
    std::smatch part;
    REQUIRE(std::regex_match(ending.message, part, form));
    CHECK((ending.exit_code == (part[1].matched ? ExitCode::kCommunication : ExitCode::kContract)));
    CHECK(part[2] == what);
    CHECK((part[3] == std::to_string(odd_rank) || part[4] == std::to_string(odd_rank)));
    CHECK(ending.messages_sent == 0);
  }
}

TEST_CASE("another shape or dtype on one rank is an error on every rank, and lands in no argument") {
  for (const int size : kBadInputSizes) {
    for (const std::int64_t length : {3, 50000}) {
      for (const Function& function : all_functions()) {
        for (const int odd_rank : {0, size - 1}) {
          for (const bool wrong_dtype : {false, true}) {
            INFO(function.name << " on " << size << " ranks, rank " << odd_rank << " is odd, length " << length);
            const std::int64_t odd_length = wrong_dtype ? length : 2 * length;
            const at::Tensor odd =
                at::full({2 * size, odd_length}, 7, at::TensorOptions(wrong_dtype ? at::kInt : at::kFloat));
            const auto all = endings(
                size,
                [&](int rank) {
                  return rank == odd_rank ? odd : at::ones({2 * size, length});
                },
                [&](int) { return function.call; });
            check_mismatch(all, odd_rank, wrong_dtype ? "dtype" : "shape");
            CHECK(odd.eq(7).all().item().toBool());
          }
        }
      }
    }
  }
}

TEST_CASE("one more or fewer rows on one rank is an error on every rank") {
  for (const int size : kBadInputSizes) {
    for (const Function& function : all_functions()) {
      for (const std::int64_t odd_rows : {0, size, 3 * size}) {
        INFO(function.name << " on " << size << " ranks, rows " << odd_rows);
        const auto all = endings(
            size,
            [&](int rank) {
              return at::ones({rank == 1 ? odd_rows : 2 * size, 3});
            },
            [&](int) { return function.call; });
        check_mismatch(all, 1, "shape");
      }
    }
  }
}

TEST_CASE("a name that choose_...() misspells is refused, with the known ones and the likely one") {
  CHECK(testing::get_message([] {
          refuse_algorithm("choose_broadcast", "binomal", {"flat", "binomial", "chain"});
        }) == "choose_broadcast returned 'binomal': expected one of flat, binomial, chain; did you mean 'binomial'?");
  CHECK(testing::get_message([] {
          refuse_algorithm("choose_all_to_all", "", {"direct", "pairwise"});
        }) == "choose_all_to_all returned '': expected one of direct, pairwise");
}

}  // namespace
}  // namespace lab::a9
