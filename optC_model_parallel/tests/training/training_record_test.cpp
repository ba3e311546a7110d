#include "optC_model_parallel/model/training_record.h"

#include <filesystem>

#include "common/api/errors.h"
#include "common/tensor/files/safetensors.h"
#include "common/testing/get_message.h"
#include "common/testing/temporary_folder.h"
#include "common/testing/test.h"

// A training's record, written to a file and read back.
namespace lab::optc {
namespace {

using lab::testing::contains;
using lab::testing::get_message;
using lab::testing::TemporaryFolder;

TrainingRecord some_record() {
  TrainingRecord record;
  record.losses = {2.5, 0.1, 1.0 / 3};
  record.test_losses = {2.25};
  record.accuracies = {0.5};
  for (int epoch = 1; epoch <= 11; ++epoch) record.parameters.push_back({{"fc.weight", at::full({2}, epoch)}});
  record.predictions = at::tensor({3, 1, 4}, at::kLong);
  return record;
}

TEST_CASE("a record comes back from its file bit for bit, epochs in their order") {
  const TemporaryFolder folder;
  const std::string path = folder.file("record.safetensors");
  save_record(path, some_record());
  const TrainingRecord record = load_record(path);
  std::filesystem::resize_file(path, 0);  // the record no longer depends on the file
  CHECK(record.losses == some_record().losses);
  CHECK(record.test_losses == some_record().test_losses);
  CHECK(record.accuracies == some_record().accuracies);
  CHECK(record.predictions.equal(some_record().predictions));
  REQUIRE(record.parameters.size() == 11);
  for (int epoch = 1; epoch <= 11; ++epoch)
    CHECK(record.parameters[static_cast<std::size_t>(epoch - 1)].at("fc.weight").equal(at::full({2}, epoch)));
}

TEST_CASE("a rank that knows nothing has a record, too") {
  const TemporaryFolder folder;
  save_record(folder.file("f"), {});
  const TrainingRecord record = load_record(folder.file("f"));
  CHECK(record.losses.empty());
  CHECK(record.parameters.empty());
  CHECK_FALSE(record.predictions.defined());
}

TEST_CASE("tensors that are not a record are refused") {
  const TemporaryFolder folder;
  const auto refusal = [&](const std::string& name, const at::Tensor& tensor) {
    TensorMap tensors = list_tensors(some_record());
    tensors[name] = tensor;
    return get_message([&] { make_record(tensors); });
  };
  const at::Tensor one = at::ones({1}, at::kDouble);
  CHECK(refusal("epoch2.fc.bias", one) == "nothing was thrown");
  for (const char* name : {"fc.weight", "epoch.fc", "epoch0.fc", "epoch-1.fc", "epoch2x.fc", "epoch2", "epoch.2",
                           "epoch13.fc", "epoch99999999999999999999.fc"}) {
    CAPTURE(name);
    CHECK(refusal(name, one) == "expected the record of a training, got tensors that do not belong in one");
  }
  const std::string without = "expected the record of a training, got one without the numbers '";
  CHECK(refusal("losses", at::ones({1})) == without + "losses'");
  CHECK(refusal("accuracies", at::ones({1, 1}, at::kDouble)) == without + "accuracies'");
  CHECK(get_message([] { make_record({}); }) == without + "losses'");
  const std::string path = folder.file("f");
  save_safetensors(path, {{"fc.weight", one}});
  CHECK(contains(get_message([&] { load_record(path); }), "'" + path + "': expected the record of a training"));
}

}  // namespace
}  // namespace lab::optc
