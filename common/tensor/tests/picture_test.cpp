#include "common/tensor/files/picture.h"

#include <filesystem>

#include "common/api/errors.h"
#include "common/tensor/files/crc32.h"
#include "common/tensor/tests/picture_files.h"
#include "common/testing/temporary_folder.h"
#include "common/testing/test.h"

namespace {

const std::vector<std::pair<int64_t, int64_t>> kSizes = {{1, 1}, {1, 7}, {7, 1}, {5, 3}, {16, 16}, {33, 50}};

/// The largest and the mean absolute difference.
std::pair<int64_t, double> differences(const at::Tensor& a, const at::Tensor& b) {
  const at::Tensor absolute = a.to(at::kLong).sub(b).abs();
  return {absolute.max().item<int64_t>(), absolute.to(at::kDouble).mean().item<double>()};
}

}  // namespace

TEST_CASE("crc32: the check value of its definition") {
  CHECK(lab::crc32("123456789") == 0xCBF43926u);
  CHECK(lab::crc32("") == 0u);
}

TEST_CASE("picture: a PNG keeps every sample") {
  const lab::testing::TemporaryFolder folder;
  const std::string path = folder.file("p.png");
  for (const auto& [height, width] : kSizes) {
    CAPTURE(height);
    CAPTURE(width);
    const at::Tensor picture = lab_test::noise_picture(height, width);
    lab::write_picture(path, picture);
    CHECK(lab::read_picture(path).equal(picture));
    CHECK(lab::decode_picture(lab::encode_png(picture), "p").equal(picture));
  }
  CHECK(folder.num_files() == 1);
}

TEST_CASE("picture: a picture that is not contiguous is written as it reads") {
  const at::Tensor picture = lab_test::noise_picture(6, 4).transpose(0, 1);
  REQUIRE(!picture.is_contiguous());
  CHECK(lab::decode_picture(lab::encode_png(picture), "p").equal(picture));
}

TEST_CASE("picture: a JPEG keeps a smooth picture nearly") {
  const lab::testing::TemporaryFolder folder;
  for (const std::string name : {"p.jpg", "p.JPEG", "p.Jpg"}) {
    for (const auto& [height, width] : kSizes) {
      CAPTURE(height);
      CAPTURE(width);
      const at::Tensor picture = lab_test::smooth_picture(height, width);
      lab::write_picture(folder.file(name), picture);
      const at::Tensor again = lab::read_picture(folder.file(name));
      REQUIRE(again.sizes() == picture.sizes());
      const auto [largest, mean] = differences(again, picture);
      CHECK(largest <= 16);
      CHECK(mean < 3.0);
    }
  }
  const std::string bytes = lab::encode_jpeg(lab_test::smooth_picture(8, 8));
  CHECK(bytes.substr(0, 3) == "\xFF\xD8\xFF");
  CHECK(bytes.substr(bytes.size() - 2) == "\xFF\xD9");
}

TEST_CASE("picture: grey, transparency and 16 bits per sample become red, green, blue of 8 bits") {
  using lab_test::png_bytes;
  using lab_test::PngColour;
  // 1 x 2 pixels: each PNG's rows begin with the filter 0.
  const auto read = [](const std::string& bytes) { return lab::decode_picture(bytes, "p").flatten(); };
  const auto samples = [](std::vector<int64_t> values) { return at::tensor(values).to(at::kByte); };
  CHECK(read(png_bytes(1, 2, 8, PngColour::kGrey, {"\x00\x07\xFF", 3})).equal(samples({7, 7, 7, 255, 255, 255})));
  CHECK(read(png_bytes(1, 2, 16, PngColour::kGrey, {"\x00\x07\x01\xFE\xFF", 5}))
            .equal(samples({7, 7, 7, 254, 254, 254})));
  CHECK(read(png_bytes(1, 2, 1, PngColour::kGrey, {"\x00\x40", 2})).equal(samples({0, 0, 0, 255, 255, 255})));
  CHECK(
      read(png_bytes(1, 2, 8, PngColour::kGreyAlpha, {"\x00\x07\x00\x09\xFF", 5})).equal(samples({7, 7, 7, 9, 9, 9})));
  CHECK(read(png_bytes(1, 2, 8, PngColour::kRgba, {"\x00\x01\x02\x03\x00\x04\x05\x06\x80", 9}))
            .equal(samples({1, 2, 3, 4, 5, 6})));
}

TEST_CASE("picture: bytes after the end, and a name that ends otherwise, do not matter") {
  const lab::testing::TemporaryFolder folder;
  const at::Tensor picture = lab_test::smooth_picture(9, 9);
  lab::testing::write_bytes(folder.file("png.jpg"), lab::encode_png(picture) + "more");
  CHECK(lab::read_picture(folder.file("png.jpg")).equal(picture));
  lab::testing::write_bytes(folder.file("jpeg"), lab::encode_jpeg(picture) + std::string(100, '\0'));
  CHECK((lab::read_picture(folder.file("jpeg")).sizes() == picture.sizes()));
}

TEST_CASE("picture: a tensor that is not a picture is not written") {
  const lab::testing::TemporaryFolder folder;
  const std::string path = folder.file("p.png");
  const std::string start = "A picture is uint8 [height, width, 3] on the CPU with 1 to 2^28 samples, got ";
  for (const at::Tensor& wrong : {at::zeros({2, 3, 3}), at::zeros({3, 2, 2}, at::kByte), at::zeros({2, 3}, at::kByte),
                                  at::zeros({0, 3, 3}, at::kByte), at::zeros({1, 2, 3, 3}, at::kByte), at::Tensor(),
                                  at::zeros({1}, at::kByte).expand({10'000, 10'000, 3})}) {
    CHECK_THROWS_WITH_AS(lab::write_picture(path, wrong), doctest::Contains(start.c_str()), lab::ContractError);
  }
  CHECK_THROWS_WITH_AS(lab::encode_jpeg(at::zeros({2, 3, 3})), (start + "float32 [2, 3, 3].").c_str(),
                       lab::ContractError);
  CHECK(folder.num_files() == 0);
}

TEST_CASE("picture: names and sizes that cannot be written leave nothing behind") {
  const lab::testing::TemporaryFolder folder;
  const at::Tensor picture = lab_test::smooth_picture(2, 2);
  for (const std::string name : {"p", "p.gif", "p.png.tmp", ".png", "png"}) {
    CHECK_THROWS_WITH_AS(
        lab::write_picture(folder.file(name), picture),
        ("cannot write '" + folder.file(name) + "': expected a name that ends in .png, .jpg or .jpeg").c_str(),
        lab::UsageError);
  }
  CHECK_THROWS_WITH_AS(lab::write_picture(folder.file("none/p.png"), picture), doctest::Contains("there is no folder"),
                       lab::UsageError);
  std::filesystem::create_directory(folder.file("folder.png"));
  CHECK_THROWS_WITH_AS(lab::write_picture(folder.file("folder.png"), picture), doctest::Contains("it is a folder"),
                       lab::UsageError);
  CHECK_THROWS_WITH_AS(lab::encode_jpeg(at::zeros({1, 65'536, 3}, at::kByte)),
                       "A JPEG file holds at most 65535 x 65535 pixels, got 1 x 65536; write a .png instead.",
                       lab::UsageError);
  CHECK(folder.num_files() == 1);
}
