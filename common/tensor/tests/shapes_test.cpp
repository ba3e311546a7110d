#include "common/api/shapes.h"

#include "common/api/errors.h"
#include "common/testing/test.h"

TEST_CASE("describe: shapes print as Python lists") {
  CHECK(lab::shape_text({32, 64}) == "[32, 64]");
  CHECK(lab::shape_text({7}) == "[7]");
  CHECK(lab::shape_text({}) == "[]");
}

TEST_CASE("describe: every dtype has Python's name, and the name leads back") {
  const std::vector<std::pair<at::ScalarType, std::string>> names = {{at::kFloat, "float32"},
                                                                     {at::kDouble, "float64"},
                                                                     {at::kHalf, "float16"},
                                                                     {at::kBFloat16, "bfloat16"},
                                                                     {at::kChar, "int8"},
                                                                     {at::kByte, "uint8"},
                                                                     {at::kShort, "int16"},
                                                                     {at::kInt, "int32"},
                                                                     {at::kLong, "int64"},
                                                                     {at::kBool, "bool"},
                                                                     {at::kComplexFloat, "complex64"},
                                                                     {at::kComplexDouble, "complex128"}};
  for (const auto& [dtype, name] : names) {
    CHECK(lab::dtype_name(dtype) == name);
    CHECK(lab::dtype_name(lab::parse_dtype(name)) == name);
  }
}

TEST_CASE("describe: an unknown dtype is refused with the known ones") {
  CHECK_THROWS_WITH_AS(
      lab::parse_dtype("float"),
      "'float' is not a dtype: expected one of float32, float64, float16, bfloat16, int8, uint8, int16, "
      "int32, int64, bool, complex64, complex128.",
      lab::UsageError);
  CHECK_THROWS_AS(lab::parse_dtype(""), lab::UsageError);
}

TEST_CASE("describe: tensors") {
  CHECK(lab::describe(at::zeros({2, 3})) == "float32 [2, 3]");
  CHECK(lab::describe(at::zeros({}, at::kBool)) == "bool []");
  CHECK(lab::describe(at::Tensor()) == "undefined tensor");
}

TEST_CASE("check: the right shape, wildcards and an undefined tensor pass") {
  const at::Tensor x = at::zeros({32, 64, 10});
  CHECK_NOTHROW(lab::check(x, {32, 64, 10}));
  CHECK_NOTHROW(lab::check(x, {32, -1, 10}));
  CHECK_NOTHROW(lab::check(x, {0, 0, 0}));
  CHECK_NOTHROW(lab::check(at::zeros({}), {}));
  CHECK_NOTHROW(lab::check(at::Tensor(), {1, 2}));
}

TEST_CASE("check: the handout's messages") {
  const at::Tensor x = at::zeros({32, 64, 10});
  CHECK_THROWS_WITH_AS(lab::check(x, {32, 64}),
                       "SHAPE GUARD: Expected shape length 2 but got 3 with shape [32, 64, 10].", lab::ContractError);
  CHECK_THROWS_WITH_AS(lab::check(x, {-1, 128, 11}),
                       "SHAPE GUARD: At dimension 1: expected 128, but got 64 (actual shape: [32, 64, 10]).",
                       lab::ContractError);
  CHECK_THROWS_WITH_AS(lab::check(at::zeros({}), {1}), "SHAPE GUARD: Expected shape length 1 but got 0 with shape [].",
                       lab::ContractError);
}

TEST_CASE("check: an empty tensor is not a wildcard") {
  CHECK_THROWS_AS(lab::check(at::zeros({0, 4}), {1, 4}), lab::ContractError);
  CHECK_NOTHROW(lab::check(at::zeros({0, 4}), {-1, 4}));
}
