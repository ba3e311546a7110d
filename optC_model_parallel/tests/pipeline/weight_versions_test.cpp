#include "optC_model_parallel/weight_versions.h"

#include "common/testing/get_message.h"
#include "common/testing/test.h"
#include "optC_model_parallel/pipedream.h"

namespace lab::optc {
namespace {

Parameters number(std::int64_t value) {
  return {{{at::full({1}, value, at::kLong)}}};
}

std::int64_t number_in(const Parameters& parameters) {
  return parameters.layers[0][0].item<std::int64_t>();
}

TEST_CASE("WeightVersions: a micro-batch gets the weights of its forward pass again, whatever was added meanwhile") {
  WeightVersions versions(number(0));
  CHECK(number_in(versions.start(0, 0)) == 0);
  CHECK(number_in(versions.start(1, 0)) == 0);
  versions.finish(0);
  versions.add(number(1));
  CHECK(versions.newest() == 1);
  CHECK(number_in(versions.start(2, 1)) == 1);
  CHECK(number_in(versions.of(1)) == 0);
  CHECK(versions.of(1).layers[0][0].is_same(versions.of(1).layers[0][0]));
  CHECK(versions.num_kept() == 2);
  versions.finish(1);
  CHECK(versions.num_kept() == 1);  // version 0 cannot be requested again
  CHECK(number_in(versions.of(2)) == 1);
}

TEST_CASE("WeightVersions: what may still be asked for stays, and so does the newest") {
  WeightVersions versions(number(0));
  versions.start(0, 0);
  versions.finish(0);
  versions.add(number(1));
  versions.add(number(2));
  CHECK(versions.num_kept() == 3);
  CHECK(number_in(versions.start(1, 2)) == 2);
  CHECK(versions.num_kept() == 1);
  versions.finish(1);
  CHECK(versions.num_kept() == 1);
}

TEST_CASE("WeightVersions: what is not there is refused") {
  WeightVersions versions(number(0));
  CHECK(testing::get_message([&] { versions.start(5, 1); }) ==
        "WeightVersions::start: micro-batch 5 asks for version 1, which is not there; kept are versions 0 to 0");
  CHECK(testing::get_message([&] { versions.of(5); }) ==
        "WeightVersions::of: micro-batch 5 is not under way; hint: start() first");
  versions.start(5, 0);
  versions.finish(5);
  CHECK(testing::get_message([&] { versions.of(5); }) ==
        "WeightVersions::of: micro-batch 5 is not under way; hint: start() first");
}

TEST_CASE("the versions of PipeDream, of vertical sync and of PipeDream-2BW, by the examples of their papers") {
  CHECK(pipedream_version(2, 1, 4) == 0);
  CHECK(pipedream_version(3, 1, 4) == 1);
  CHECK(pipedream_version(7, 3, 4) == 7);
  CHECK(vertical_sync_version(3, 4) == 0);
  CHECK(vertical_sync_version(7, 4) == 4);
  for (std::int64_t i = 0; i < 9; ++i) CHECK(pipedream_version(i, 0, 1) == i);
  for (std::int64_t i = 0; i < 8; ++i) CHECK(pipedream_2bw_version(i, 4) == 0);
  for (std::int64_t i = 8; i < 12; ++i) CHECK(pipedream_2bw_version(i, 4) == 1);
}

}  // namespace
}  // namespace lab::optc
