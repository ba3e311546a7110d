#include "common/tensor/describe.h"

#include "common/base/errors.h"
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
