#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <utility>

#include "common/testing/case_runs.h"
#include "common/testing/test.h"
#include "optC_model_parallel/calls/pass_trial.h"
#include "optC_model_parallel/calls/pipeline_part_trials.h"
#include "optC_model_parallel/cases/cases.h"
#include "optC_model_parallel/pipedream.h"

// Each mistake with several versions of weights, as a wrong solution, and the case that catches it.
namespace lab::optc {
namespace {

using testing::contains;

/// WeightVersions again, with hooks for mistakes.
struct Versions {
  explicit Versions(Parameters first) { all.emplace(0, std::move(first)); }
  virtual ~Versions() = default;

  virtual const Parameters& start(std::int64_t i, std::int64_t version) {
    used_by[i] = oldest_wanted = version;
    drop();
    return all.at(version);
  }
  virtual const Parameters& of(std::int64_t i) { return all.at(used_by.at(i)); }
  virtual void finish(std::int64_t i) {
    used_by.erase(i);
    drop();
  }
  void add(Parameters next) { all.emplace(all.rbegin()->first + 1, std::move(next)); }

  virtual bool is_used(std::int64_t version) const {
    return std::any_of(used_by.begin(), used_by.end(), [&](const auto& use) { return use.second == version; });
  }
  virtual void drop() {
    for (auto each = all.begin(); each != all.end() && each->first < oldest_wanted;)
      each = is_used(each->first) ? std::next(each) : all.erase(each);
  }

  std::map<std::int64_t, Parameters> all;
  std::map<std::int64_t, std::int64_t> used_by;
  std::int64_t oldest_wanted = 0;
};

template <class Wrong>
VersionsUnderTest made(Parameters first) {
  const auto versions = std::make_shared<Wrong>(std::move(first));
  return {[versions](std::int64_t i, std::int64_t version) -> const Parameters& { return versions->start(i, version); },
          [versions](std::int64_t i) -> const Parameters& { return versions->of(i); },
          [versions](std::int64_t i) { versions->finish(i); },
          [versions](Parameters next) { versions->add(std::move(next)); }, [versions] { return versions->all.size(); }};
}

/// On one rank, as only rank 0 has the case.
template <class Wrong>
std::string verdict_on_versions() {
  return testing::verdict(
      cases_of(pipeline_sections()), "WeightVersions",
      [](Communicator&, const CaseInputs& inputs) { return versions_trial(inputs, made<Wrong>); }, 1);
}

TEST_CASE("the reference passes by the same road") {
  CHECK(verdict_on_versions<Versions>() == "passed");
}

TEST_CASE("wrong: no stashing: the backward pass gets the newest weights") {
  struct NewestBack : Versions {
    using Versions::Versions;
    const Parameters& of(std::int64_t) override { return all.rbegin()->second; }
  };
  CHECK(verdict_on_versions<NewestBack>() == "mismatch");
}

TEST_CASE("wrong: the stashed version is the one after the forward pass's, where there is one") {
  struct OffByOne : Versions {
    using Versions::Versions;
    const Parameters& of(std::int64_t i) override {
      const auto next = all.find(used_by.at(i) + 1);
      return next == all.end() ? Versions::of(i) : next->second;
    }
  };
  CHECK(verdict_on_versions<OffByOne>() == "mismatch");
}

TEST_CASE("wrong: the forward pass gets the newest weights, whatever version it asks for") {
  struct NewestForward : Versions {
    using Versions::Versions;
    const Parameters& start(std::int64_t i, std::int64_t) override { return Versions::start(i, all.rbegin()->first); }
  };
  CHECK(verdict_on_versions<NewestForward>() == "mismatch");
}

TEST_CASE("wrong: versions are never dropped") {
  struct KeepsAll : Versions {
    using Versions::Versions;
    void drop() override {}
  };
  CHECK(verdict_on_versions<KeepsAll>() == "mismatch");
}

TEST_CASE("wrong: versions are dropped only when the next micro-batch begins, so that an update finds one more") {
  struct TooLate : Versions {
    using Versions::Versions;
    void finish(std::int64_t i) override { used_by.erase(i); }
  };
  CHECK(verdict_on_versions<TooLate>() == "mismatch");
}

TEST_CASE("wrong: versions are dropped while a micro-batch uses them") {
  struct TooEarly : Versions {
    using Versions::Versions;
    bool is_used(std::int64_t) const override { return false; }
  };
  CHECK(verdict_on_versions<TooEarly>() != "passed");
}

TEST_CASE("wrong: the backward pass gets a copy: its gradients are lost") {
  struct Copies : Versions {
    using Versions::Versions;
    const Parameters& of(std::int64_t i) override {
      copy = Versions::of(i);
      for (Tensors& tensors : copy.layers) {
        for (at::Tensor& tensor : tensors) tensor = tensor.clone();
      }
      return copy;
    }
    Parameters copy;
  };
  CHECK(verdict_on_versions<Copies>() == "mismatch");
}

TEST_CASE("wrong: versions that are one too new, one too old, or another rule's") {
  const std::vector<Case> cases = cases_of(pipeline_sections());
  const auto of_stage = [&](const std::string& name, const StageVersion& rule) {
    return testing::verdict(
        cases, name, [&](Communicator&, const CaseInputs& inputs) { return stage_versions_trial(inputs, rule); }, 1);
  };
  const auto synced = [&](const SyncedVersion& rule) {
    return testing::verdict(
        cases, "VerticalSyncVersions",
        [&](Communicator&, const CaseInputs& inputs) { return synced_versions_trial(inputs, rule); }, 1);
  };
  const auto of_two = [&](const MicroBatchVersion& rule) {
    return testing::verdict(
        cases, "PipeDream2bwVersions",
        [&](Communicator&, const CaseInputs& inputs) { return two_versions_trial(inputs, rule); }, 1);
  };
  const auto at_least_zero = [](std::int64_t version) { return std::max<std::int64_t>(0, version); };
  CHECK(of_stage("PipeDreamVersions", pipedream_version) == "passed");
  CHECK(of_stage("PipeDreamVersions",
                 [&](std::int64_t i, int stage, int p) { return at_least_zero(i - (p - stage)); }) == "mismatch");
  CHECK(of_stage("PipeDreamVersions", [&](std::int64_t i, int stage, int) { return at_least_zero(i - stage); }) ==
        "mismatch");
  CHECK(of_stage("PipeDreamVersions", [](std::int64_t i, int stage, int p) { return i - (p - 1 - stage); }) ==
        "mismatch");
  CHECK(synced(vertical_sync_version) == "passed");
  CHECK(synced([](std::int64_t i, int) { return i; }) == "mismatch");  // the last stage's
  CHECK(synced([&](std::int64_t i, int p) { return at_least_zero(i - p); }) == "mismatch");
  CHECK(of_two(pipedream_2bw_version) == "passed");
  CHECK(of_two([](std::int64_t i, std::int64_t m) { return i / m; }) == "mismatch");  // no delay
  CHECK(of_two([&](std::int64_t i, std::int64_t m) { return at_least_zero((i - 1) / m); }) == "mismatch");
  CHECK(of_two([&](std::int64_t i, std::int64_t m) { return at_least_zero(i / m - 2); }) == "mismatch");
}

/// The verdict on training with these versions, the same on 2 and on 4 ranks.
std::string trained(const std::string& case_name, const MakeVersionRule& make_rule) {
  const TaskCall call = [&](Communicator& comm, const CaseInputs& inputs) {
    return stale_trial(comm, inputs, make_rule);
  };
  const std::vector<Case> cases = cases_of(pipeline_sections());
  const std::string on_two = testing::verdict(cases, case_name, call, 2);
  const std::string on_four = testing::verdict(cases, case_name, call, 4);
  return on_two == on_four ? on_two : on_two + " / " + on_four;
}

/// version_rule(), with each version changed.
MakeVersionRule changed(const std::function<std::int64_t(std::int64_t version)>& change) {
  return [change](const PipelineOptions& pipeline, int stage, int num_stages) -> VersionRule {
    return [change, rule = version_rule(pipeline, stage, num_stages)](std::int64_t i) { return change(rule(i)); };
  };
}

TEST_CASE("training with right versions passes; with those of one update before, it does not") {
  for (const char* name : {"PipeDream", "VerticalSync", "PipeDream2bw"}) {
    CAPTURE(name);
    CHECK(trained(name, version_rule) == "passed");
    CHECK(trained(name, changed([](std::int64_t version) { return std::max<std::int64_t>(0, version - 1); })) ==
          "mismatch");
  }
}

TEST_CASE("wrong: a version that its stage has not got yet is refused, with its number") {
  CHECK(contains(trained("PipeDream", changed([](std::int64_t version) { return version + 1; })),
                 "asks for version 1, which is not there; kept are versions 0 to 0"));
  const MakeVersionRule no_delay = [](const PipelineOptions& pipeline, int, int) -> VersionRule {
    return [m = pipeline.num_micro_batches](std::int64_t i) { return i / m; };
  };
  CHECK(contains(trained("PipeDream2bw", no_delay), "asks for version 1, which is not there"));
}

TEST_CASE("wrong: vertical sync as plain PipeDream, and the other way round") {
  const MakeVersionRule plain = [](const PipelineOptions&, int stage, int p) -> VersionRule {
    return [=](std::int64_t i) { return pipedream_version(i, stage, p); };
  };
  const MakeVersionRule synced = [](const PipelineOptions&, int, int p) -> VersionRule {
    return [=](std::int64_t i) { return vertical_sync_version(i, p); };
  };
  CHECK(trained("VerticalSync", plain) == "mismatch");
  CHECK(trained("PipeDream", synced) == "mismatch");
}

/// version_rule(), with something done besides at each forward pass of a rank.
std::string trained_long(const std::function<void(const CaseInputs&, std::vector<at::Tensor>& kept)>& besides,
                         int num_ranks) {
  const TaskCall call = [&](Communicator& comm, const CaseInputs& inputs) {
    std::vector<at::Tensor> kept;
    return stale_trial(comm, inputs, [&](const PipelineOptions& pipeline, int stage, int num_stages) -> VersionRule {
      return [&, rule = version_rule(pipeline, stage, num_stages)](std::int64_t i) {
        besides(inputs, kept);
        return rule(i);
      };
    });
  };
  return testing::verdict(all_cases(), "PipeDreamLong", call, num_ranks);
}

TEST_CASE("wrong: a copy of the weights is kept for each mini-batch, or more is computed; numbers are right") {
  for (const int num_ranks : {1, 2, 4}) {
    CAPTURE(num_ranks);
    CHECK(trained_long([](const CaseInputs&, std::vector<at::Tensor>&) {}, num_ranks) == "passed");
    CHECK(contains(trained_long(
                       [](const CaseInputs& inputs, std::vector<at::Tensor>& kept) {
                         for (const auto& [name, tensor] : inputs.tensors) {
                           if (name.rfind("weight.", 0) == 0) kept.push_back(tensor.clone());
                         }
                       },
                       num_ranks),
                   " of one process's memory ("));
  }
  CHECK(contains(trained_long(
                     [](const CaseInputs&, std::vector<at::Tensor>&) {
                       for (int pass = 0; pass < 2; ++pass)  // as if a stage computed its output again
                         at::matmul(at::ones({32, 192}, at::kDouble), at::ones({192, 192}, at::kDouble));
                     },
                     4),
                 " of one process's work ("));
}

TEST_CASE("wrong: the first weights forever") {
  const MakeVersionRule first_for_ever = [](const PipelineOptions&, int, int) -> VersionRule {
    return [](std::int64_t) { return std::int64_t{0}; };
  };
  CHECK(trained("PipeDream2bw", first_for_ever) == "mismatch");
  CHECK(trained("PipeDream", first_for_ever) == "mismatch");
}

}  // namespace
}  // namespace lab::optc
