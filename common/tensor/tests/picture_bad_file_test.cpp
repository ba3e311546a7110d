// Files that are not pictures, or damaged ones: each is refused with a message, or read if the damage is undetectable.
#include <filesystem>
#include <random>

#include "common/api/errors.h"
#include "common/tensor/files/picture.h"
#include "common/tensor/tests/picture_files.h"
#include "common/testing/temporary_folder.h"
#include "common/testing/test.h"

namespace {

/// The part of the message after the file's name; empty if it was accepted.
std::string picture_refusal(const std::string& bytes) {
  const std::string start = "'p' is not a usable picture: ";
  try {
    lab::check_picture(lab::decode_picture(bytes, "p"));
  } catch (const lab::UsageError& error) {
    const std::string message = error.what();
    REQUIRE(message.substr(0, start.size()) == start);
    return message.substr(start.size());
  }
  return "";
}

std::string with_byte(std::string bytes, size_t place, char value) {
  bytes[place] = value;
  return bytes;
}

}  // namespace

TEST_CASE("bad picture: other kinds of file") {
  CHECK(picture_refusal("") == "it is empty.");
  CHECK(picture_refusal("hello") == "expected a PNG or a JPEG file, but it begins with the bytes 68 65 6c 6c.");
  CHECK(picture_refusal("x") == "expected a PNG or a JPEG file, but it begins with the bytes 78.");
  CHECK(picture_refusal("GIF89a") == "expected a PNG or a JPEG file, but it seems to be a GIF file.");
  CHECK(picture_refusal("BM123456") == "expected a PNG or a JPEG file, but it seems to be a BMP file.");
  CHECK(picture_refusal({"RIFF\0\0\0\0WEBPVP8", 15}) ==
        "expected a PNG or a JPEG file, but it seems to be a WebP file.");
  CHECK(picture_refusal({"\0\0\0\x20"
                         "ftypavif",
                         12}) == "expected a PNG or a JPEG file, but it seems to be a HEIC, AVIF or video file.");
  CHECK(picture_refusal("<svg>") == "expected a PNG or a JPEG file, but it seems to be an SVG or HTML file.");
  CHECK(picture_refusal({"P6 1 1 255 abc"}) == "expected a PNG or a JPEG file, but it seems to be a PPM file.");
}

TEST_CASE("bad picture: paths that cannot be read") {
  const lab::testing::TemporaryFolder folder;
  const std::string missing = folder.file("none.png");
  CHECK_THROWS_WITH_AS(lab::read_picture(missing),
                       ("Cannot read '" + missing + "': No such file or directory.").c_str(), lab::UsageError);
  CHECK_THROWS_WITH_AS(lab::read_picture(folder.file("")), doctest::Contains("it is not a regular file"),
                       lab::UsageError);
  lab::testing::write_bytes(folder.file("text.jpg"), "no picture");
  CHECK_THROWS_WITH_AS(lab::read_picture(folder.file("text.jpg")),
                       doctest::Contains("text.jpg' is not a usable picture"), lab::UsageError);
  lab::testing::write_bytes(folder.file("empty.jpg"), "");
  CHECK_THROWS_WITH_AS(lab::read_picture(folder.file("empty.jpg")), doctest::Contains("it is empty."), lab::UsageError);
}

TEST_CASE("bad picture: truncated at every length") {
  for (const std::string& bytes :
       {lab::encode_png(lab_test::noise_picture(9, 5)), lab::encode_jpeg(lab_test::noise_picture(17, 20))}) {
    REQUIRE(picture_refusal(bytes) == "");
    for (size_t size = 1; size < bytes.size(); ++size) {
      CAPTURE(size);
      REQUIRE(picture_refusal(bytes.substr(0, size)) ==
              "it ends after " + std::to_string(size) + " bytes, before the picture does; hint: copy it again.");
    }
  }
}

TEST_CASE("bad picture: a PNG with one wrong byte") {
  const std::string png = lab::encode_png(lab_test::noise_picture(4, 4));
  // Bytes 8 to 33 are the header chunk: size 13, IHDR, width, height, ..., checksum.
  CHECK(picture_refusal(with_byte(png, 19, 5)) == "it is damaged between bytes 8 and 33.");
  CHECK(picture_refusal(with_byte(png, 60, static_cast<char>(~png[60]))).find("it is damaged between bytes 33 and") ==
        0);
  for (size_t place = 8; place < png.size(); ++place) {
    CAPTURE(place);
    REQUIRE(picture_refusal(with_byte(png, place, static_cast<char>(png[place] ^ 0x10))) != "");
  }
}

TEST_CASE("bad picture: intact chunks with invalid content") {
  using lab_test::png_bytes;
  using lab_test::PngColour;
  const std::string row("\x00\x07\xFF", 3);
  REQUIRE(picture_refusal(png_bytes(1, 2, 8, PngColour::kGrey, row)) == "");
  for (const std::string& bytes :
       {png_bytes(0, 2, 8, PngColour::kGrey, row), png_bytes(1, 0, 8, PngColour::kGrey, row),
        png_bytes(1, 2, 3, PngColour::kGrey, row), png_bytes(1, 2, 8, static_cast<PngColour>(5), row),
        png_bytes(9, 2, 8, PngColour::kGrey, row), png_bytes(1, 2, 8, PngColour::kPalette, row),
        png_bytes(1, 2, 8, PngColour::kGrey, "\x09\x07\xFF"), "\x89PNG\r\n\x1a\n" + lab_test::png_chunk("IEND", "")}) {
    const std::string refusal = picture_refusal(bytes);
    CAPTURE(refusal);
    CHECK((refusal.find("the decoder says: ") == 0 || refusal.find("its header is damaged") == 0));
  }
  CHECK(picture_refusal(png_bytes(20'000, 20'000, 8, PngColour::kGrey, row)) ==
        "it is too large: 20000 x 20000 pixels, expected at most 89478485.");
  // Beyond what the decoder itself would take.
  CHECK(picture_refusal(png_bytes(40'000, 40'000, 8, PngColour::kRgb, row)) ==
        "it is too large: 40000 x 40000 pixels, expected at most 89478485.");
  CHECK(picture_refusal(png_bytes(1, 0x7FFF'FFFF, 8, PngColour::kRgba, row)) ==
        "it is too large: 1 x 2147483647 pixels, expected at most 89478485.");
}

TEST_CASE("bad picture: a JPEG that claims more pixels than its bytes can hold") {
  std::string jpeg = lab::encode_jpeg(lab_test::smooth_picture(8, 8));
  const size_t frame = jpeg.find("\xFF\xC0");
  REQUIRE(frame != std::string::npos);
  jpeg.replace(frame + 5, 4, "\x10\x00\x20\x00", 4);
  CHECK(picture_refusal(jpeg) ==
        std::to_string(jpeg.size()) + " bytes cannot hold the 4096 x 8192 pixels that it claims.");
  CHECK(picture_refusal(jpeg.replace(frame + 5, 4, "\xFF\xFF\xFF\xFF")) ==
        "it is too large: 65535 x 65535 pixels, expected at most 89478485.");
}

TEST_CASE("bad picture: a JPEG of a kind that the decoder does not know") {
  std::string jpeg = lab::encode_jpeg(lab_test::smooth_picture(8, 8));
  const size_t frame = jpeg.find("\xFF\xC0");
  REQUIRE(frame != std::string::npos);
  CHECK(
      picture_refusal(with_byte(jpeg, frame + 1, '\xC3')) ==  // lossless
      "its header is damaged, or of a kind that the decoder does not know; other programs may open it with a warning; "
      "hint: save it there as PNG.");
  // A marker that means nothing, before the tables: libjpeg warns and goes on.
  std::string strange = lab::encode_jpeg(lab_test::smooth_picture(8, 8));
  strange.insert(strange.find("\xFF\xC4"), std::string("\xFF\xF0\x00\x03\x00", 5));
  CHECK(picture_refusal(strange) ==
        "the decoder says: unknown marker; other programs may open it with a warning; hint: save it there as PNG.");
  CHECK(picture_refusal(lab::encode_jpeg(lab_test::smooth_picture(8, 8))).empty());  // not for the one before
}

TEST_CASE("bad picture: a JPEG with malformed segments, or with tables that are too long") {
  const std::string jpeg = lab::encode_jpeg(lab_test::smooth_picture(8, 8));
  const size_t tables = jpeg.find("\xFF\xC4");
  REQUIRE(tables != std::string::npos);
  CHECK(
      picture_refusal(with_byte(jpeg, tables, 7)) ==
      "byte " + std::to_string(tables) +
          " is 07, expected ff, which starts a segment; other programs may open it with a warning; hint: save it there "
          "as PNG.");
  // 28 codes in the first table, of which 3 have 4 bits; 253 more are one too many.
  CHECK(picture_refusal(with_byte(jpeg, tables + 8, '\xFF'))
            .find("the table at byte " + std::to_string(tables + 4) + " has ") == 0);
}

TEST_CASE("bad picture: 6,000 damaged files never crash the reader") {
  std::mt19937_64 random(20240607);
  const auto below = [&](size_t limit) { return static_cast<size_t>(random() % limit); };
  const std::string jpeg = lab::encode_jpeg(lab_test::smooth_picture(24, 19));
  const std::string png = lab::encode_png(lab_test::noise_picture(6, 5));
  int num_accepted = 0, num_decoded = 0;
  for (int i = 0; i < 6'000; ++i) {
    CAPTURE(i);
    std::string bytes = i % 3 == 0 ? png : jpeg;
    for (size_t edits = 1 + below(4); edits > 0; --edits) {
      switch (below(4)) {
        case 0: bytes.erase(below(bytes.size()), 1 + below(3)); break;
        case 1: bytes.insert(below(bytes.size()), 1, static_cast<char>(below(256))); break;
        default: bytes[below(bytes.size())] = static_cast<char>(below(256));
      }
    }
    const std::string refusal = picture_refusal(bytes);
    num_accepted += refusal.empty();
    num_decoded += refusal.empty() || refusal.find("the decoder says") == 0;
  }
  // The decoder after the first checks must have been reached often.
  CHECK(num_accepted > 300);
  CHECK(num_decoded > 1'000);
}
