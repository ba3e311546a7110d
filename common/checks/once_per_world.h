#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include "common/checks/case.h"

namespace lab {

/// A result that the expected results of all ranks are parts of: computed once for all that ask for it in turn, not
/// once per rank.
/// Call      from several threads
template <typename Result>
class OncePerWorld {
 public:
  explicit OncePerWorld(std::function<Result(int size, std::uint64_t seed)> compute)
      : state_(std::make_shared<State>()) {
    state_->compute = std::move(compute);
  }

  std::shared_ptr<const Result> at(const CasePlace& place) const {
    State& state = *state_;
    const std::lock_guard<std::mutex> lock(state.mutex);
    if (state.last == nullptr || state.size != place.size || state.seed != place.seed) {
      state.last = std::make_shared<const Result>(state.compute(place.size, place.seed));
      state.size = place.size;
      state.seed = place.seed;
    }
    return state.last;
  }

 private:
  struct State {
    std::function<Result(int size, std::uint64_t seed)> compute;
    std::mutex mutex;
    std::shared_ptr<const Result> last;
    int size = 0;
    std::uint64_t seed = 0;
  };
  std::shared_ptr<State> state_;  // copies of a case share it
};

}  // namespace lab
