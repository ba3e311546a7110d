// 10,000 damaged files: each is either refused with a message or read within its bytes; nothing else may happen.
#include <cstring>
#include <random>

#include "common/api/errors.h"
#include "common/tensor/files/safetensors.h"
#include "common/tensor/tests/safetensors_bytes.h"
#include "common/testing/temporary_folder.h"
#include "common/testing/test.h"

namespace {

constexpr int kNumCases = 10'000;

class Mutator {
 public:
  explicit Mutator(std::string valid) : valid_(std::move(valid)) {
    uint64_t header_bytes = 0;
    std::memcpy(&header_bytes, valid_.data(), 8);
    header_ = valid_.substr(8, header_bytes);
    buffer_ = valid_.substr(8 + header_bytes);
  }

  std::string next() {
    switch (below(6)) {
      case 0: return flipped(valid_, 0, valid_.size());
      case 1: return flipped(valid_, 0, 8 + header_.size());
      case 2: return resized(valid_);
      case 3: return lab_test::safetensors_bytes(edited(header_), buffer_);
      case 4: return flipped(valid_, 8 + header_.size(), valid_.size());
      default: return resized(lab_test::safetensors_bytes(edited(edited(header_)), buffer_));
    }
  }

 private:
  size_t below(size_t limit) { return static_cast<size_t>(random_() % limit); }

  std::string flipped(std::string bytes, size_t begin, size_t end) {
    for (size_t flips = 1 + below(4); flips > 0; --flips)
      bytes[begin + below(end - begin)] = static_cast<char>(below(256));
    return bytes;
  }

  std::string resized(std::string bytes) {
    bytes.resize(below(bytes.size() + 20), static_cast<char>(below(256)));
    return bytes;
  }

  /// Edits that keep the header close to JSON, so that the checks after the parser are reached too.
  std::string edited(std::string header) {
    static const std::vector<std::string> kPieces = {"0",
                                                     "1",
                                                     "7",
                                                     "8",
                                                     "[",
                                                     "]",
                                                     "{",
                                                     "}",
                                                     "\"",
                                                     ",",
                                                     ":",
                                                     "-1",
                                                     "1e3",
                                                     "0.5",
                                                     "null",
                                                     "[]",
                                                     "[0]",
                                                     "[0,0]",
                                                     "\"F64\"",
                                                     "\"F16\"",
                                                     "\"BOOL\"",
                                                     "\"U8\"",
                                                     "4294967296",
                                                     "9223372036854775807",
                                                     "18446744073709551615",
                                                     "\"x\"",
                                                     "\"__metadata__\"",
                                                     "\"dtype\"",
                                                     "\"shape\"",
                                                     "\"data_offsets\"",
                                                     "\\u0000",
                                                     "\xF0\x9F"};
    const std::string& piece = kPieces[below(kPieces.size())];
    const size_t digit = header.find_first_of("0123456789", below(header.size()));
    switch (below(4)) {
      case 0: return header.insert(below(header.size()), piece);
      case 1: return header.erase(below(header.size()), 1 + below(8));
      case 2: return header.replace(below(header.size()), piece.size(), piece);
      default: return digit == std::string::npos ? header : header.replace(digit, 1, std::to_string(below(100)));
    }
  }

  const std::string valid_;
  std::string header_;
  std::string buffer_;
  std::mt19937_64 random_{20240607};
};

/// Reads every byte of every tensor; returns how many there are.
uint64_t touched_bytes(const lab::TensorMap& tensors) {
  uint64_t bytes = 0;
  int64_t sum = 0;
  for (const auto& [name, tensor] : tensors) {
    bytes += tensor.nbytes();
    if (tensor.numel() > 0) sum += tensor.flatten().view(at::kByte).sum().item<int64_t>();
  }
  return sum >= 0 ? bytes : 0;
}

}  // namespace

TEST_CASE("safetensors mutation: 10,000 damaged files neither crash the reader nor reach beyond the file") {
  const lab::testing::TemporaryFolder folder;
  const std::string path = folder.file("f");
  lab::save_safetensors(path,
                        {{"a", at::arange(6, at::kFloat).view({2, 3})},
                         {"b", at::arange(5, at::kLong)},
                         {"flag", at::tensor({1, 0, 1}).to(at::kBool)},
                         {"half", at::ones({2, 2}, at::kHalf)},
                         {"none", at::empty({0, 3}, at::kDouble)},
                         {"s", at::scalar_tensor(4, at::kByte)}},
                        {{"format", "pt"}});
  Mutator mutator(lab::testing::read_bytes(path));
  int num_accepted = 0, num_refused = 0;
  for (int i = 0; i < kNumCases; ++i) {
    const std::string bytes = mutator.next();
    lab::testing::write_bytes(path, bytes);
    CAPTURE(i);
    try {
      const lab::TensorMap tensors = lab::load_safetensors(path);
      REQUIRE(touched_bytes(tensors) + 8 <= bytes.size());
      ++num_accepted;
    } catch (const lab::Error& error) {
      REQUIRE(error.exit_code() == lab::ExitCode::kUsage);
      ++num_refused;
    }
  }
  // Both ends must have been reached often, or the mutations test only one check.
  CHECK(num_accepted > kNumCases / 10);
  CHECK(num_refused > kNumCases / 2);
}
