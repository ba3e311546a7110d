// Every way in which a file can be wrong, one by one, with the error message.
#include "common/api/errors.h"
#include "common/tensor/files/safetensors.h"
#include "common/tensor/tests/safetensors_bytes.h"
#include "common/testing/temporary_folder.h"
#include "common/testing/test.h"

namespace {

/// The part of the message after the file's name; empty if the file was accepted.
std::string refusal_of_bytes(const std::string& bytes) {
  static const lab::testing::TemporaryFolder folder;
  const std::string path = folder.file("f");
  lab::testing::write_bytes(path, bytes);
  const std::string start = "'" + path + "' is not a usable safetensors file: ";
  try {
    lab::load_safetensors(path);
  } catch (const lab::UsageError& error) {
    const std::string message = error.what();
    CHECK(message.substr(0, start.size()) == start);
    CHECK_THROWS_WITH_AS(lab::from_safetensors(bytes, path), message.c_str(), lab::UsageError);
    return message.substr(start.size());
  }
  return "";
}

std::string header_refusal(const std::string& header, const std::string& buffer = "") {
  return refusal_of_bytes(lab_test::safetensors_bytes(header, buffer));
}

/// A header with one tensor "x" of these fields.
std::string one(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return R"({"x":{"dtype":)" + dtype + R"(,"shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}";
}

const std::string kTwoFloats(8, '\0');

}  // namespace

TEST_CASE("bad safetensors: the good file that the others differ from") {
  CHECK(header_refusal(one("\"F32\"", "[2]", "[0,8]"), kTwoFloats) == "");
  CHECK(header_refusal("{}") == "");
  CHECK(header_refusal("{}   ") == "");
}

TEST_CASE("bad safetensors: size of the file and of the header") {
  CHECK(refusal_of_bytes("") == "it has 0 bytes, expected at least 8.");
  CHECK(refusal_of_bytes("1234567") == "it has 7 bytes, expected at least 8.");
  CHECK(refusal_of_bytes(lab_test::little_endian(3) + "{}") ==
        "its header should have 3 bytes, expected at most 2 in a file of 10.");
  CHECK(refusal_of_bytes(std::string(8, '\xFF') + "{}") ==
        "its header should have 18446744073709551615 bytes, expected at most 2 in a file of 10.");
  CHECK(refusal_of_bytes(lab_test::little_endian(0)) == "its header must begin with '{'.");
}

TEST_CASE("bad safetensors: a header above 100 MB is refused before it is read") {
  const lab::testing::TemporaryFolder folder;
  const std::string path = folder.file("f");
  lab::testing::write_bytes(path, lab_test::little_endian(100'000'001) + "{");
  std::filesystem::resize_file(path, 200'000'000);  // sparse: takes no room
  CHECK_THROWS_WITH_AS(lab::load_safetensors(path),
                       ("'" + path +
                        "' is not a usable safetensors file: its header should have 100000001 bytes, expected "
                        "at most 100000000 in a file of 200000000.")
                           .c_str(),
                       lab::UsageError);
}

TEST_CASE("bad safetensors: the header is not a JSON object") {
  CHECK(header_refusal("[]") == "its header must begin with '{'.");
  CHECK(header_refusal(" {}") == "its header must begin with '{'.");
  CHECK(header_refusal("{") == "its header is not JSON, at byte 2.");
  CHECK(header_refusal("{}}") == "its header is not JSON, at byte 3.");
  CHECK(header_refusal("{\"\xFF\":1}") == "its header is not JSON, at byte 3.");
  CHECK(header_refusal(std::string("{}\0", 3)) == "its header is not JSON, at byte 3.");
  CHECK(header_refusal(R"({"x":[[[[1]]]]})") == "its header is nested deeper than 3 levels.");
  CHECK(header_refusal("{\"x\":" + std::string(100000, '[')) == "its header is nested deeper than 3 levels.");
}

TEST_CASE("bad safetensors: a key twice, on every level") {
  const std::string x = R"("x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]})";
  CHECK(header_refusal("{" + x + "," + x + "}", kTwoFloats) == "its header has the key \"x\" twice.");
  CHECK(header_refusal(R"({"x":{"dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[0,8]}})", kTwoFloats) ==
        "its header has the key \"dtype\" twice.");
  CHECK(header_refusal(R"({"__metadata__":{"a":"1","a":"2"}})") == "its header has the key \"a\" twice.");
}

TEST_CASE("bad safetensors: fields of a tensor") {
  const std::string exactly = "tensor \"x\" must have exactly dtype, shape and data_offsets.";
  CHECK(header_refusal(R"({"x":1})") == exactly);
  CHECK(header_refusal(R"({"x":{}})") == exactly);
  CHECK(header_refusal(R"({"x":{"dtype":"F32","shape":[2]}})", kTwoFloats) == exactly);
  CHECK(header_refusal(R"({"x":{"dtype":"F32","shape":[2],"offsets":[0,8]}})", kTwoFloats) == exactly);
  CHECK(header_refusal(R"({"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8],"more":1}})", kTwoFloats) == exactly);
  CHECK(header_refusal(one("\"F33\"", "[2]", "[0,8]"), kTwoFloats) == "tensor \"x\" has the unknown dtype \"F33\".");
  CHECK(header_refusal(one("32", "[2]", "[0,8]"), kTwoFloats) ==
        "tensor \"x\" has the unknown dtype \"not a string\".");
  CHECK(header_refusal(R"({"__metadata__":[]})") == "its __metadata__ is not an object.");
  CHECK(header_refusal(R"({"__metadata__":null})").empty());
  CHECK(header_refusal(R"({"__metadata__":{"a":1}})") == "its __metadata__ \"a\" is not a string.");
}

TEST_CASE("bad safetensors: invalid numbers") {
  for (const std::string bad : {"[-2]", "[2.0]", "[\"2\"]", "[null]", "[true]", "2", "{}", "[18446744073709551616]"}) {
    CAPTURE(bad);
    CHECK(header_refusal(one("\"F32\"", bad, "[0,8]"), kTwoFloats) ==
          "shape of tensor \"x\" must be a list of integers from 0 to 2^64 - 1.");
  }
  CHECK(header_refusal(one("\"F32\"", "[1e375]", "[0,8]"), kTwoFloats) == "its header has a number that is too large.");
  CHECK(header_refusal(one("\"F32\"", "[[2]]", "[0,8]"), kTwoFloats) == "its header is nested deeper than 3 levels.");
  CHECK(header_refusal(one("\"F32\"", "[2]", "[0,-8]"), kTwoFloats) ==
        "data_offsets of tensor \"x\" must be a list of integers from 0 to 2^64 - 1.");
  CHECK(header_refusal(one("\"F32\"", "[2]", "[0]"), kTwoFloats) == "tensor \"x\" has 1 data_offsets, expected 2.");
  CHECK(header_refusal(one("\"F32\"", "[2]", "[0,4,8]"), kTwoFloats) == "tensor \"x\" has 3 data_offsets, expected 2.");
}

TEST_CASE("bad safetensors: shapes that overflow") {
  CHECK(header_refusal(one("\"F32\"", "[18446744073709551615]", "[0,8]"), kTwoFloats) ==
        "tensor \"x\" has a size of 18446744073709551615 in its shape.");
  // 2^32 * 2^32 = 0 and 2^61 * 8 = 0 in 64 bits: the product that wraps around to the size of nothing.
  CHECK(header_refusal(one("\"U8\"", "[4294967296,4294967296]", "[0,0]")) ==
        "tensor \"x\" has shape [4294967296, 4294967296]: too large to address.");
  CHECK(header_refusal(one("\"F64\"", "[2305843009213693952]", "[0,0]")) ==
        "tensor \"x\" has shape [2305843009213693952]: too large to address.");
  CHECK(header_refusal(one("\"U8\"", "[0,4294967296,4294967296]", "[0,0]")) ==
        "tensor \"x\" has shape [0, 4294967296, 4294967296]: too large to address.");
  std::string ones = "[1";
  for (int i = 0; i < 64; ++i) ones += ",1";
  CHECK(header_refusal(one("\"U8\"", ones + "]", "[0,1]"), "\x01") ==
        "tensor \"x\" has 65 dimensions, expected at most 64.");
}

TEST_CASE("bad safetensors: missing bytes, or a wrong number of them") {
  CHECK(header_refusal(one("\"F32\"", "[2]", "[0,8]"), std::string(7, '\0')) ==
        "tensor \"x\" lies at bytes 0 to 8, expected within 0 to 7.");
  CHECK(header_refusal(one("\"F32\"", "[2]", "[8,0]"), kTwoFloats) ==
        "tensor \"x\" lies at bytes 8 to 0, expected within 0 to 8.");
  CHECK(header_refusal(one("\"F32\"", "[2]", "[18446744073709551608,0]"), kTwoFloats) ==
        "tensor \"x\" lies at bytes 18446744073709551608 to 0, expected within 0 to 8.");
  CHECK(header_refusal(one("\"F32\"", "[3]", "[0,8]"), kTwoFloats) ==
        "tensor \"x\" is float32 [3]: expected 12 bytes, got 8.");
  CHECK(header_refusal(one("\"F16\"", "[2]", "[0,8]"), kTwoFloats) ==
        "tensor \"x\" is float16 [2]: expected 4 bytes, got 8.");
}

TEST_CASE("bad safetensors: overlaps and holes") {
  const auto two = [](const std::string& first, const std::string& second) {
    return R"({"x":{"dtype":"U8","shape":[4],"data_offsets":)" + first +
           R"(},"y":{"dtype":"U8","shape":[4],"data_offsets":)" + second + "}}";
  };
  CHECK(header_refusal(two("[0,4]", "[4,8]"), kTwoFloats) == "");
  CHECK(header_refusal(two("[4,8]", "[0,4]"), kTwoFloats) == "");
  CHECK(header_refusal(two("[0,4]", "[2,6]"), std::string(6, '\0')) ==
        "tensor \"y\" begins at byte 2, expected 4: it overlaps another tensor.");
  CHECK(header_refusal(two("[0,4]", "[0,4]"), std::string(4, '\0')).find("it overlaps another tensor") !=
        std::string::npos);
  CHECK(header_refusal(two("[0,4]", "[5,9]"), std::string(9, '\0')) ==
        "tensor \"y\" begins at byte 5, expected 4: there is a hole before it.");
  CHECK(header_refusal(two("[1,5]", "[5,9]"), std::string(9, '\0')) ==
        "tensor \"x\" begins at byte 1, expected 0: there is a hole before it.");
  CHECK(header_refusal(two("[0,4]", "[4,8]"), std::string(9, '\0')) == "its tensors end at byte 8, expected 9.");
  CHECK(header_refusal("{}", "left over") == "its tensors end at byte 0, expected 9.");
}

TEST_CASE("bad safetensors: a bool that is neither 0 nor 1") {
  CHECK(header_refusal(one("\"BOOL\"", "[3]", "[0,3]"), std::string("\x01\x00\x02", 3)) ==
        "byte 2 of the bool tensor \"x\" is 2, expected 0 or 1.");
  CHECK(header_refusal(one("\"BOOL\"", "[1]", "[0,1]"), "\xFF") ==
        "byte 0 of the bool tensor \"x\" is 255, expected 0 or 1.");
}

TEST_CASE("bad safetensors: a hostile name cannot break the message") {
  CHECK(header_refusal(R"({"a\n\u001b[31m":1})").find("\"a\\n\\u001b[31m\"") != std::string::npos);
  CHECK(header_refusal("{\"" + std::string(5000, 'n') + "\":1}").size() < 200);
}
