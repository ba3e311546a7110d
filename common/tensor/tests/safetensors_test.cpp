#include "common/tensor/files/safetensors.h"

#include <algorithm>
#include <limits>

#include "common/api/errors.h"
#include "common/api/shapes.h"
#include "common/testing/temporary_folder.h"
#include "common/testing/test.h"

using lab::testing::TemporaryFolder;

namespace {

const std::vector<at::ScalarType> kAllDtypes = {at::kDouble, at::kFloat, at::kHalf, at::kBFloat16, at::kLong,
                                                at::kInt,    at::kShort, at::kChar, at::kByte,     at::kBool};

/// Equal in every bit: NaNs too, which at::equal never finds equal.
bool same_bits(const at::Tensor& left, const at::Tensor& right) {
  return left.scalar_type() == right.scalar_type() && left.sizes() == right.sizes() &&
         at::equal(left.contiguous().flatten().view(at::kByte), right.contiguous().flatten().view(at::kByte));
}

}  // namespace

TEST_CASE("safetensors: every dtype and shape comes back") {
  const TemporaryFolder folder;
  lab::TensorMap saved;
  for (const at::ScalarType dtype : kAllDtypes) {
    const std::string name = at::toString(dtype);
    const at::Tensor values = at::arange(24, at::kFloat).sub(12).abs().to(dtype);
    saved[name + ".matrix"] = values.view({4, 6});
    saved[name + ".cube"] = values.view({2, 3, 4});
    saved[name + ".odd"] = values.slice(0, 0, 7);
    saved[name + ".scalar"] = values[3];
    saved[name + ".empty"] = at::empty({0, 5}, dtype);
  }
  lab::save_safetensors(folder.file("all"), saved);
  const lab::TensorMap loaded = lab::load_safetensors(folder.file("all"));
  REQUIRE(loaded.size() == saved.size());
  for (const auto& entry : saved) {
    CAPTURE(entry.first);
    REQUIRE(loaded.count(entry.first) == 1);
    CHECK(lab::describe(loaded.at(entry.first)) == lab::describe(entry.second));
    CHECK(at::equal(loaded.at(entry.first), entry.second));
  }
}

TEST_CASE("safetensors: bytes in memory are those of the file, and loading them gives copies") {
  const TemporaryFolder folder;
  lab::TensorMap saved;
  for (const at::ScalarType dtype : kAllDtypes) saved[at::toString(dtype)] = at::arange(5, at::kFloat).to(dtype);
  saved["scalar"] = at::scalar_tensor(2.5);
  saved["empty"] = at::empty({0, 5});
  lab::save_safetensors(folder.file("f"), saved, {{"key", "value"}});
  std::string bytes = lab::to_safetensors(saved, {{"key", "value"}});
  CHECK(bytes == lab::testing::read_bytes(folder.file("f")));
  const lab::SafetensorsContent content = lab::from_safetensors(bytes, "some bytes");
  std::fill(bytes.begin(), bytes.end(), 'x');
  CHECK(content.metadata == lab::SafetensorsMetadata{{"key", "value"}});
  REQUIRE(content.tensors.size() == saved.size());
  for (const auto& [name, tensor] : saved) CHECK(same_bits(content.tensors.at(name), tensor));
}

TEST_CASE("safetensors: a lower limit on the header can be set when reading from memory") {
  const std::string bytes = lab::to_safetensors({}, {{"key", std::string(100, 'v')}});
  CHECK(lab::from_safetensors(bytes, "some bytes").metadata.size() == 1);
  CHECK_THROWS_AS(lab::from_safetensors(bytes, "some bytes", 100), lab::UsageError);
}

TEST_CASE("safetensors: NaN, infinities and signed zeros keep their bits") {
  const TemporaryFolder folder;
  const at::Tensor special = at::tensor(
      {std::numeric_limits<double>::quiet_NaN(), -0.0, 1e-310, -std::numeric_limits<double>::infinity()}, at::kDouble);
  lab::save_safetensors(folder.file("f"), {{"x", special}, {"y", special.to(at::kFloat)}});
  const lab::TensorMap loaded = lab::load_safetensors(folder.file("f"));
  CHECK(same_bits(loaded.at("x"), special));
  CHECK(same_bits(loaded.at("y"), special.to(at::kFloat)));
}

TEST_CASE("safetensors: views, transposes and parameters are saved as the values they show") {
  const TemporaryFolder folder;
  at::Tensor base = at::arange(12, at::kFloat).view({3, 4});
  const at::Tensor parameter = at::ones({2}).requires_grad_(true);
  lab::save_safetensors(folder.file("f"), {{"t", base.t()},
                                           {"column", base.slice(1, 1, 2)},
                                           {"expanded", at::ones({1}).expand({3})},
                                           {"parameter", parameter}});
  const lab::TensorMap loaded = lab::load_safetensors(folder.file("f"));
  CHECK(at::equal(loaded.at("t"), base.t()));
  CHECK(loaded.at("t").is_contiguous());
  CHECK(at::equal(loaded.at("column"), base.slice(1, 1, 2)));
  CHECK(at::equal(loaded.at("expanded"), at::ones({3})));
  CHECK(at::equal(loaded.at("parameter"), parameter.detach()));
  CHECK_FALSE(loaded.at("parameter").requires_grad());
}

TEST_CASE("safetensors: names and metadata may hold anything that is UTF-8") {
  const TemporaryFolder folder;
  const std::string name = "layer.0/\"quoted\" \\ \n \xC3\xA9 \xF0\x9F\x94\xA5";
  const lab::SafetensorsMetadata metadata = {{"format", "pt"}, {"note", "two\nlines \xC3\xA9"}, {"", ""}};
  lab::save_safetensors(folder.file("f"), {{name, at::ones({2})}, {"", at::zeros({1})}}, metadata);
  CHECK(at::equal(lab::load_safetensors(folder.file("f")).at(name), at::ones({2})));
  CHECK(at::equal(lab::load_safetensors(folder.file("f")).at(""), at::zeros({1})));
  CHECK(lab::load_safetensors_metadata(folder.file("f")) == metadata);
}

TEST_CASE("safetensors: a file without tensors, with and without metadata") {
  const TemporaryFolder folder;
  lab::save_safetensors(folder.file("f"), {});
  CHECK(lab::load_safetensors(folder.file("f")).empty());
  CHECK(lab::load_safetensors_metadata(folder.file("f")).empty());
  lab::save_safetensors(folder.file("g"), {}, {{"a", "b"}});
  CHECK(lab::load_safetensors(folder.file("g")).empty());
  CHECK(lab::load_safetensors_metadata(folder.file("g")) == lab::SafetensorsMetadata{{"a", "b"}});
}

TEST_CASE("safetensors: writing into a loaded tensor changes neither the file nor another reader") {
  const TemporaryFolder folder;
  lab::save_safetensors(folder.file("f"), {{"x", at::ones({1000})}});
  const at::Tensor mine = lab::load_safetensors(folder.file("f")).at("x");
  const at::Tensor other = lab::load_safetensors(folder.file("f")).at("x");
  mine.fill_(5);
  CHECK(at::equal(mine, at::full({1000}, 5.0f)));
  CHECK(at::equal(other, at::ones({1000})));
  CHECK(at::equal(lab::load_safetensors(folder.file("f")).at("x"), at::ones({1000})));
}

TEST_CASE("safetensors: a loaded tensor outlives its map, the file, and a new file of that name") {
  const TemporaryFolder folder;
  lab::save_safetensors(folder.file("f"), {{"x", at::arange(5000)}, {"y", at::ones({3})}});
  at::Tensor kept = lab::load_safetensors(folder.file("f")).at("x");
  lab::save_safetensors(folder.file("f"), {{"x", at::zeros({2})}});
  CHECK(at::equal(kept, at::arange(5000)));
  std::filesystem::remove(folder.file("f"));
  CHECK(at::equal(kept.slice(0, 100, 5000), at::arange(100, 5000)));
}

TEST_CASE("safetensors: a file can be saved over the one its tensors came from") {
  const TemporaryFolder folder;
  lab::save_safetensors(folder.file("f"), {{"x", at::arange(5000)}});
  lab::save_safetensors(folder.file("f"), lab::load_safetensors(folder.file("f")), {{"round", "2"}});
  CHECK(at::equal(lab::load_safetensors(folder.file("f")).at("x"), at::arange(5000)));
  CHECK(folder.num_files() == 1);
}

TEST_CASE("safetensors: unsupported tensors are refused, and the old file stays") {
  const TemporaryFolder folder;
  const std::string path = folder.file("f");
  lab::save_safetensors(path, {{"x", at::ones({1})}});
  const std::string old = lab::testing::read_bytes(path);
  CHECK_THROWS_WITH_AS(lab::save_safetensors(path, {{"z", at::zeros({1}, at::kComplexFloat)}}),
                       "Tensor \"z\" is complex64, which safetensors files cannot hold.", lab::UsageError);
  CHECK_THROWS_WITH_AS(lab::save_safetensors(path, {{"z", at::Tensor()}}), "Cannot save the undefined tensor \"z\".",
                       lab::UsageError);
  CHECK_THROWS_AS(lab::save_safetensors(path, {{"__metadata__", at::ones({1})}}), lab::UsageError);
  CHECK_THROWS_AS(lab::save_safetensors(path, {{"bad \xFF", at::ones({1})}}), lab::UsageError);
  CHECK_THROWS_AS(lab::save_safetensors(path, {}, {{"a", "bad \xFF"}}), lab::UsageError);
  CHECK(lab::testing::read_bytes(path) == old);
  CHECK(folder.num_files() == 1);
}

TEST_CASE("safetensors: unwritable and unreadable paths give one clear message") {
  const TemporaryFolder folder;
  const std::string missing = folder.file("no/f");
  CHECK_THROWS_WITH_AS(lab::save_safetensors(missing, {{"x", at::ones({1})}}),
                       ("cannot write '" + missing + "': there is no folder '" + folder.file("no") +
                        "'; try mkdir -p '" + folder.file("no") + "'")
                           .c_str(),
                       lab::UsageError);
  CHECK_THROWS_WITH_AS(lab::load_safetensors(missing),
                       ("Cannot read '" + missing + "': No such file or directory.").c_str(), lab::UsageError);
  std::filesystem::create_directory(folder.file("d"));
  CHECK_THROWS_WITH_AS(lab::load_safetensors(folder.file("d")),
                       ("Cannot read '" + folder.file("d") + "': it is not a regular file.").c_str(), lab::UsageError);
}
