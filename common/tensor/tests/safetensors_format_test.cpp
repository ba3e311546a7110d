// The bytes of a file, by hand: what another implementation writes and expects.
#include <cstring>

#include "common/api/shapes.h"
#include "common/tensor/files/safetensors.h"
#include "common/tensor/files/safetensors_header.h"
#include "common/tensor/tests/safetensors_bytes.h"
#include "common/testing/temporary_folder.h"
#include "common/testing/test.h"

using lab::testing::TemporaryFolder;

namespace {

/// What lies between the `begin`-th and `end`-th byte after the header, read with nothing but the format's definition.
std::string buffer_part(const std::string& bytes, size_t begin, size_t end) {
  uint64_t header_bytes = 0;
  std::memcpy(&header_bytes, bytes.data(), 8);
  return bytes.substr(8 + header_bytes + begin, end - begin);
}

}  // namespace

TEST_CASE("safetensors format: a saved file, byte for byte") {
  const TemporaryFolder folder;
  lab::save_safetensors(folder.file("f"), {{"b", at::tensor({1.0f, -2.0f}, at::kFloat)}}, {{"k", "v"}});
  const std::string header = R"({"__metadata__":{"k":"v"},"b":{"data_offsets":[0,8],"dtype":"F32","shape":[2]}})";
  const std::string padding((8 - header.size() % 8) % 8, ' ');
  const std::string buffer("\x00\x00\x80\x3F\x00\x00\x00\xC0", 8);
  CHECK(lab::testing::read_bytes(folder.file("f")) == lab_test::safetensors_bytes(header + padding, buffer));
}

TEST_CASE("safetensors format: the header is padded with spaces to a multiple of 8, whatever its length") {
  const TemporaryFolder folder;
  for (int length = 1; length <= 16; ++length) {
    lab::save_safetensors(folder.file("f"), {{std::string(static_cast<size_t>(length), 'n'), at::ones({1})}});
    const std::string bytes = lab::testing::read_bytes(folder.file("f"));
    const std::string header = bytes.substr(8, bytes.size() - 8 - 4);
    CHECK(bytes.substr(0, 8) == lab_test::little_endian(header.size()));
    CHECK(header.size() % 8 == 0);
    CHECK(header.front() == '{');
    const size_t end = header.find_last_of('}');
    CHECK(header.substr(end + 1) == std::string(header.size() - end - 1, ' '));
    CHECK(header.size() - end <= 8);
  }
}

TEST_CASE("safetensors format: the widest dtypes come first, so every tensor is aligned") {
  const TemporaryFolder folder;
  lab::save_safetensors(folder.file("f"), {{"a", at::tensor({1, 0, 1}).to(at::kBool)},
                                           {"b", at::tensor({7}, at::kShort)},
                                           {"c", at::tensor({2.0}, at::kDouble)},
                                           {"d", at::tensor({5}, at::kInt)}});
  const std::string bytes = lab::testing::read_bytes(folder.file("f"));
  CHECK(bytes.find(R"("c":{"data_offsets":[0,8],"dtype":"F64","shape":[1]})") != std::string::npos);
  CHECK(bytes.find(R"("d":{"data_offsets":[8,12],"dtype":"I32","shape":[1]})") != std::string::npos);
  CHECK(bytes.find(R"("b":{"data_offsets":[12,14],"dtype":"I16","shape":[1]})") != std::string::npos);
  CHECK(bytes.find(R"("a":{"data_offsets":[14,17],"dtype":"BOOL","shape":[3]})") != std::string::npos);
  CHECK(buffer_part(bytes, 0, 8) == std::string("\0\0\0\0\0\0\0\x40", 8));
  CHECK(buffer_part(bytes, 8, 12) == std::string("\x05\0\0\0", 4));
  CHECK(buffer_part(bytes, 12, 14) == std::string("\x07\0", 2));
  CHECK(buffer_part(bytes, 14, 17) == std::string("\x01\0\x01", 3));
}

TEST_CASE("safetensors format: each dtype's name") {
  const std::vector<std::pair<at::ScalarType, std::string>> names = {
      {at::kDouble, "F64"}, {at::kFloat, "F32"}, {at::kHalf, "F16"}, {at::kBFloat16, "BF16"}, {at::kLong, "I64"},
      {at::kInt, "I32"},    {at::kShort, "I16"}, {at::kChar, "I8"},  {at::kByte, "U8"},       {at::kBool, "BOOL"}};
  for (const auto& [dtype, name] : names) {
    const std::string text = lab::format_safetensors_header({{{"x", dtype, {0}, 0, 0}}, {}});
    CHECK(text.find("\"dtype\":\"" + name + "\"") != std::string::npos);
    CHECK(lab::dtype_name(lab::parse_safetensors_header(text, "f").entries.at(0).dtype) == lab::dtype_name(dtype));
  }
}

TEST_CASE("safetensors format: a file made by hand, unpadded and with unaligned tensors") {
  const TemporaryFolder folder;
  // The header is 3 bytes longer than a multiple of 8, and the float follows a single byte.
  std::string header =
      R"({"flag":{"dtype":"BOOL","shape":[],"data_offsets":[0,1]},"x":{"dtype":"F32","shape":[1,2],"data_offsets":[1,9]}})";
  header.append((11 - header.size() % 8) % 8, ' ');
  const std::string buffer("\x01\x00\x00\x80\x3F\x00\x00\x00\xC0", 9);
  lab::testing::write_bytes(folder.file("f"), lab_test::safetensors_bytes(header, buffer));
  const lab::TensorMap loaded = lab::load_safetensors(folder.file("f"));
  CHECK(loaded.at("flag").item<bool>());
  CHECK(at::equal(loaded.at("x"), at::tensor({1.0f, -2.0f}).view({1, 2})));
  CHECK(reinterpret_cast<uintptr_t>(loaded.at("x").data_ptr()) % 4 == 0);
}

TEST_CASE("safetensors format: an empty tensor may lie anywhere that leaves no hole") {
  const TemporaryFolder folder;
  const std::string header =
      R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"e":{"dtype":"F32","shape":[0,7],"data_offsets":[2,2]},)"
      R"("b":{"dtype":"U8","shape":[1],"data_offsets":[2,3]},"z":{"dtype":"I64","shape":[0],"data_offsets":[3,3]}})";
  lab::testing::write_bytes(folder.file("f"), lab_test::safetensors_bytes(header, "\x01\x02\x03"));
  const lab::TensorMap loaded = lab::load_safetensors(folder.file("f"));
  CHECK(loaded.size() == 4);
  CHECK(loaded.at("e").sizes() == at::IntArrayRef({0, 7}));
  CHECK(loaded.at("b").item<int64_t>() == 3);
}
