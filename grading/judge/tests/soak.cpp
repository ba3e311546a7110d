#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>

#include "common/base/option_value.h"
#include "grading/judge/check_runs.h"
#include "grading/judge/judging_place.h"

// soak LAB PROGRAM RANKS COUNT: the checks of a lab's reference, COUNT times, each time with messages delayed by another
// seed. A right solution must pass each time; the first failure is printed with its seed. Costly checks are left out:
// their time goes into bytes, and they see no other orders.
int main(int argc, char** argv) {
  using namespace lab;
  const auto number = [&](int i) { return option::integer<int>(argv[i]).value_or(0); };
  if (argc != 5 || number(3) < 1 || number(4) < 1) {
    std::fputs("usage: soak LAB PROGRAM RANKS COUNT\n", stderr);
    return 2;
  }
  try {
    const grading::Sandbox sandbox = grading::Sandbox::detect();
    grading::CheckRunner runner{std::make_shared<grading::RankServer>(sandbox, argv[2])};
    std::vector<Case> cases = grading::judged_lab(argv[1]).cases();
    cases.erase(std::remove_if(cases.begin(), cases.end(), [](const Case& one) { return one.costly; }), cases.end());
    const int num_ranks = number(3), count = number(4);
    for (int i = 0; i < count; ++i) {
      runner.seed = static_cast<std::uint64_t>(i);
      for (const CaseVerdict& run : runner.run(num_ranks, cases, true)) {
        if (run.is_fine()) continue;
        fmt::print("{} fails with seed {}: {}\n", run.name, i, run.failure.empty() ? run.message() : run.failure);
        return 1;
      }
    }
    fmt::print("{} checks on {} ranks, {} times: no failure\n", cases.size(), num_ranks, count);
    return 0;
  } catch (const std::exception& failure) {
    fmt::print(stderr, "soak: {}\n", failure.what());
    return 1;
  }
}
