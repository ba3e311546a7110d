#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "common/api/errors.h"
#include "common/testing/get_message.h"
#include "common/testing/temporary_folder.h"
#include "common/testing/test.h"
#include "optC_model_parallel/model/images.h"

// CIFAR-10's files: found by name, read whole, and refused when they are something else.
namespace lab::optc {
namespace {

constexpr std::size_t kPixels = 3 * 32 * 32;

/// One image whose pixels count up from `first_pixel`.
std::string record(int label, int first_pixel) {
  std::string bytes(1, static_cast<char>(label));
  for (std::size_t i = 0; i < kPixels; ++i)
    bytes += static_cast<char>((static_cast<std::size_t>(first_pixel) + i) % 256);
  return bytes;
}

std::vector<std::string> list_names(const std::vector<std::string>& paths) {
  std::vector<std::string> names;
  for (const std::string& path : paths) names.push_back(std::filesystem::path(path).filename().string());
  return names;
}

/// The message about a file with these bytes.
std::string message_about(const std::string& bytes) {
  const testing::TemporaryFolder folder;
  testing::write_bytes(folder.file("train.bin"), bytes);
  return testing::get_message([&] { read_cifar({folder.file("train.bin")}); });
}

CifarFiles find_among(const std::vector<std::string>& names) {
  const testing::TemporaryFolder folder;
  for (const std::string& name : names) testing::write_bytes(folder.file(name), record(0, 0));
  return CifarFiles(folder.file(""));
}

using Names = std::vector<std::string>;

TEST_CASE("labels and pixels are read as they lie in the files, one file after the other") {
  const testing::TemporaryFolder folder;
  testing::write_bytes(folder.file("a"), record(9, 0) + record(0, 7));
  testing::write_bytes(folder.file("b"), record(3, 200));
  const Images images = read_cifar({folder.file("a"), folder.file("b")});
  REQUIRE(images.size() == 3);
  CHECK((images.pixels.scalar_type() == at::kByte));
  CHECK(images.pixels.sizes() == at::IntArrayRef({3, 3, 32, 32}));
  CHECK(at::equal(images.labels, at::tensor({9, 0, 3}, at::kLong)));
  const at::Tensor places = at::arange(static_cast<std::int64_t>(kPixels));
  CHECK(at::equal(images.pixels[1].view(-1), (places + 7).remainder(256).to(at::kByte)));
  CHECK(at::equal(images.pixels[2].view(-1), (places + 200).remainder(256).to(at::kByte)));
}

TEST_CASE("a single image outlives its file") {
  const testing::TemporaryFolder folder;
  testing::write_bytes(folder.file("a"), record(5, 1));
  const Images images = read_cifar({folder.file("a")});
  std::filesystem::remove(folder.file("a"));
  CHECK(images.pixels[0][0][0][0].item<int>() == 1);
  CHECK(images.labels[0].item<int>() == 5);
}

TEST_CASE("CIFAR-10's own names, in order") {
  const CifarFiles files = find_among({"data_batch_2.bin", "test_batch.bin", "data_batch_1.bin", "readme.html"});
  CHECK(list_names(files.train) == Names{"data_batch_1.bin", "data_batch_2.bin"});
  CHECK(list_names(files.test) == Names{"test_batch.bin"});
}

TEST_CASE("a browser's second download, or an old copy, counts no image twice") {
  const CifarFiles files = find_among({"data_batch_1.bin", "data_batch_1 (1).bin", "data_batch_1_old.bin",
                                       "data_batch_.bin", "data_batch_10.bin", "test_batch.bin", "test_batch (1).bin"});
  CHECK(list_names(files.train) == Names{"data_batch_1.bin", "data_batch_10.bin"});
  CHECK(list_names(files.test) == Names{"test_batch.bin"});
}

TEST_CASE("the Python version, and the folder above, are told which folder is wanted") {
  const testing::TemporaryFolder folder;
  testing::write_bytes(folder.file("data_batch_1"), "pickle");
  const auto message = [&] { return testing::get_message([&] { CifarFiles(folder.file("")); }); };
  CHECK(
      testing::contains(message(), "hint: these are the files of the Python version; download cifar-10-binary.tar.gz"));
  std::filesystem::create_directory(folder.file("cifar-10-batches-bin"));
  CHECK(testing::contains(message(), "hint: name the folder in it, '" + folder.file("cifar-10-batches-bin") + "'"));
}

TEST_CASE("other names with train and test in them") {
  const CifarFiles files = find_among({"my_test_b.bin", "my_train.bin", "my_test_a.bin", "train.txt", "batches.bin"});
  CHECK(list_names(files.train) == Names{"my_train.bin"});
  CHECK(list_names(files.test) == Names{"my_test_a.bin", "my_test_b.bin"});
}

TEST_CASE("CIFAR-10's own names come before others") {
  const CifarFiles files = find_among({"data_batch_1.bin", "test_batch.bin", "train.bin", "test.bin"});
  CHECK(list_names(files.train) == Names{"data_batch_1.bin"});
  CHECK(list_names(files.test) == Names{"test_batch.bin"});
}

TEST_CASE("no file is for training and for testing") {
  const CifarFiles files = find_among({"latest_train.bin", "test.bin"});
  CHECK(list_names(files.train) == Names{"latest_train.bin"});
  CHECK(list_names(files.test) == Names{"test.bin"});
  CHECK(testing::contains(testing::get_message([] { find_among({"latest_train.bin"}); }), "got none for testing"));
}

TEST_CASE("a folder that is not there, is a file, or lacks one kind of file") {
  const testing::TemporaryFolder folder;
  CHECK(testing::contains(testing::get_message([&] { CifarFiles(folder.file("absent")); }), "absent': expected"));
  testing::write_bytes(folder.file("train.bin"), record(0, 0));
  CHECK(testing::contains(testing::get_message([&] { CifarFiles(folder.file("train.bin")); }), "train.bin'"));
  CHECK(testing::contains(testing::get_message([&] { load_cifar(folder.file("")); }), "got none for testing"));
  CHECK(testing::contains(testing::get_message([] { find_among({"test_batch.bin"}); }), "got none for training"));
  CHECK_THROWS_AS(CifarFiles(folder.file("absent")), UsageError);
}

TEST_CASE("a file that is empty, cut short, or has a byte too many") {
  const std::string whole = record(1, 0) + record(2, 0);
  CHECK(testing::contains(message_about(""), "got 0 bytes; hint: the file is empty"));
  CHECK(testing::contains(message_about(whole.substr(0, 6145)), "train.bin': expected a multiple"));
  CHECK(testing::contains(message_about(whole.substr(0, 6145)), "got 6145 bytes; hint: the file has been cut short"));
  CHECK(testing::contains(message_about(whole + '\0'), "got 6147 bytes"));
}

TEST_CASE("CIFAR-100 is recognized by its size") {
  CHECK(testing::contains(message_about(std::string(5 * 3074, '\0')), "CIFAR-100"));
}

TEST_CASE("a label above 9 is named with its record") {
  const std::string message = message_about(record(1, 0) + record(9, 0) + record(10, 0) + record(255, 0));
  CHECK(testing::contains(message, "expected labels from 0 to 9, got 10 in record 2 (counted from 0, at byte 6146)"));
  CHECK(testing::contains(message_about(record(255, 0)), "got 255 in record 0"));
}

TEST_CASE("a file that is not there, and no file at all") {
  CHECK_THROWS_AS(read_cifar({"/nowhere/train.bin"}), UsageError);
  CHECK_THROWS_AS(read_cifar({}), ContractError);
}

TEST_CASE("real images") {
  const char* source_folder = std::getenv("LAB_SOURCE_DIR");
  const std::string folder = std::string(source_folder == nullptr ? "." : source_folder) + "/../shared/data";
  if (!std::filesystem::exists(folder)) {
    MESSAGE("skipped: there are no real images in " << folder);
    return;
  }
  const Dataset data = load_cifar(folder);
  CHECK(data.train.size() == 5085);
  CHECK(data.test.size() == 1017);
  for (const Images& images : {data.train, data.test}) {
    const at::Tensor counts = at::bincount(images.labels, {}, 10);
    CHECK(counts.numel() == 10);
    CHECK(counts.min().item<double>() > 0.05 * static_cast<double>(images.size()));
    // A photograph's neighbouring pixels are similar; a wrong layout would put different ones next to each other.
    const at::Tensor pixels = images.pixels.to(at::kFloat);
    const double spread = pixels.std().item<double>();
    CHECK((pixels.slice(3, 1) - pixels.slice(3, 0, -1)).std().item<double>() < 0.5 * spread);
    CHECK((pixels.slice(2, 1) - pixels.slice(2, 0, -1)).std().item<double>() < 0.5 * spread);
  }
}

}  // namespace
}  // namespace lab::optc
