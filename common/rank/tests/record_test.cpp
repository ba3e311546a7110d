#include "common/rank/record.h"

#include "common/tensor/files/safetensors.h"
#include "common/testing/get_message.h"
#include "common/testing/test.h"

namespace lab::testing {
namespace {

CaseRecord some_record() {
  CaseRecord record;
  record.task = "a0.double";
  record.name = "Double";
  record.results = {{"out", at::arange(6, at::kDouble).view({2, 3})},
                    {"mask", at::ones({2}, at::kBool)},
                    {"nothing", at::zeros({0, 4})},
                    {"x.grad", at::Tensor()}};
  record.spent = {{"a0.double", 1, 2, 300, 400, 5}, {"all_reduce", 6, 0, ~std::uint64_t{0}, 0, 0}};
  for (const int rank : {2, 70}) record.spent[0].destinations.add(rank);
  record.spent[0].sources.add(1);
  record.used = {std::int64_t{1} << 40, {4096, 96}, {(std::int64_t{1} << 60) + 1, 2, 3, 4}};
  return record;
}

/// Why bytes that a hostile rank wrote are no record.
std::string find_refusal(const std::string& bytes) {
  return get_message<UsageError>([&] { record_from_bytes(bytes); });
}

/// A record with this text.
std::string with_text(const std::string& text) {
  return to_safetensors({}, {{"record", text}});
}

std::string replaced(std::string text, const std::string& part, const std::string& other) {
  const std::size_t at = text.find(part);
  REQUIRE(at != text.npos);
  return text.replace(at, part.size(), other);
}

TEST_CASE("records come back as they were written") {
  CaseRecord todo;
  todo.task = "a0.other";
  todo.name = "Other";
  todo.end = CaseEnd::kNotImplemented;
  todo.message = "two\nlines, and bytes that are no text: \xFF";
  todo.exit_code = 3;
  todo.missing_task = "a0.double";
  const CaseRecord first = record_from_bytes(bytes_of_record(some_record()));
  const CaseRecord second = record_from_bytes(bytes_of_record(todo));
  CHECK(first.task == "a0.double");
  CHECK(first.name == "Double");
  CHECK(first.end == CaseEnd::kReturned);
  REQUIRE(first.results.size() == 4);
  CHECK(at::equal(first.results.at("out"), some_record().results.at("out")));
  CHECK(at::equal(first.results.at("mask"), some_record().results.at("mask")));
  CHECK(first.results.at("nothing").sizes() == at::IntArrayRef({0, 4}));
  CHECK_FALSE(first.results.at("x.grad").defined());
  REQUIRE(first.spent.size() == 2);
  CHECK(first.spent[0].operation == "a0.double");
  CHECK(first.spent[0].bytes_received == 400);
  CHECK(first.spent[0].rounds == 5);
  CHECK(first.spent[0].destinations.ranks() == std::vector<int>{2, 70});
  CHECK(first.spent[0].sources.ranks() == std::vector<int>{1});
  CHECK(first.spent[1].sources.ranks().empty());
  CHECK(first.used.flops == std::int64_t{1} << 40);
  CHECK(first.used.memory.peak_bytes == 4096);
  CHECK(first.used.memory.retained_bytes == 96);
  CHECK(first.used.model_time == ModelTime{(std::int64_t{1} << 60) + 1, 2, 3, 4});
  CHECK(first.spent[1].bytes_sent == ~std::uint64_t{0});
  CHECK(second.end == CaseEnd::kNotImplemented);
  CHECK(second.message == "two lines, and bytes that are no text: \xEF\xBF\xBD");
  CHECK(second.exit_code == 3);
  CHECK(second.missing_task == "a0.double");
}

TEST_CASE("tensors on strides, and those that require a gradient, are written as they look") {
  CaseRecord record = some_record();
  record.results["out"] = at::arange(6, at::kDouble).view({2, 3}).t();
  record.results["leaf"] = at::ones({2}).requires_grad_();
  const CaseRecord read = record_from_bytes(bytes_of_record(record));
  CHECK(at::equal(read.results.at("out"), record.results["out"]));
  CHECK(at::equal(read.results.at("leaf"), at::ones({2})));
}

TEST_CASE("a tensor under two names is sent once") {
  CaseRecord record = some_record();
  const at::Tensor sum = at::arange(1000, at::kFloat);
  record.results = {{"out", sum}, {"x", sum.detach()}, {"part", sum.narrow(0, 0, 500)}};
  const std::string bytes = bytes_of_record(record);
  CHECK(bytes.size() < 1900 * sizeof(float));
  const CaseRecord read = record_from_bytes(bytes);
  for (const auto& [name, tensor] : record.results) CHECK(at::equal(read.results.at(name), tensor));
}

TEST_CASE("a record that cannot be written says why") {
  CaseRecord complex = some_record();
  complex.results["out"] = at::zeros({2}, at::kComplexFloat);
  CHECK(contains(get_message([&] { bytes_of_record(complex); }), "\"out\" is complex64"));
}

TEST_CASE("a record that is cut anywhere is refused") {
  const std::string whole = bytes_of_record(some_record());
  for (std::size_t size = 0; size < whole.size(); size += 7) CHECK_FALSE(find_refusal(whole.substr(0, size)).empty());
}

TEST_CASE("a text that is not as it should be is refused, whatever is wrong with it") {
  const std::string good = from_safetensors(bytes_of_record(some_record()), "a record").metadata.at("record");
  CHECK(record_from_bytes(with_text(good)).name == "Double");
  const auto refusal = [&](const std::string& part, const std::string& other) {
    return find_refusal(with_text(replaced(good, part, other)));
  };
  CHECK(contains(refusal("\"returned\"", "\"passed\""), "its state is unknown: 'passed'"));
  CHECK(contains(refusal("\"returned\"", "7"), "its 'state' is not a string"));
  CHECK(contains(refusal("\"exit_code\":0", "\"exit_code\":-1"), "its exit code"));
  CHECK(contains(refusal("\"exit_code\":0", "\"exit_code\":1e300"), "its exit code"));
  CHECK(contains(refusal("\"exit_code\":0", "\"exit_code\":99999999999999999999"), "its exit code"));
  CHECK(contains(refusal("300", "-300"), "its ledger has a count"));
  CHECK(contains(refusal("300", "3.5"), "its ledger has a count"));
  CHECK(contains(refusal("300", "NaN"), "its text is not valid JSON"));
  CHECK(contains(refusal("300,", ""), "its ledger has an entry"));
  CHECK(contains(refusal("[2,70]", "[2,-1]"), "its ledger has a rank"));
  CHECK(contains(refusal("[2,70]", "2"), "its ledger has ranks"));
  CHECK(contains(refusal("_tensor_bytes\":4096", "_tensor_bytes\":-1"),
                 "its 'used' is not what a rank uses: -1 is below 0"));
  CHECK(contains(refusal("_tensor_bytes\":4096", "_tensor_bytes\":1e300"),
                 "its 'used' is not what a rank uses: expected an integer in range, got 1e+300"));
  CHECK(contains(refusal("\"spent\":[", "\"spent\":7,\"undefined\":["), "its 'spent' is not a list"));
  CHECK(contains(refusal("\"message\"", "\"messages\""), "it has an unknown field 'messages'"));
  CHECK(contains(refusal("\"message\":\"\",", ""), "it has no 'message'"));
  CHECK(contains(refusal("\"version\":1", "\"version\":2"), "its version is 2, expected 1"));
  CHECK(contains(refusal(",\"version\":1", ""), "it has no 'version'"));
  CHECK(contains(refusal("[\"x.grad\"]", "[[]]"), "its 'undefined'"));
  CHECK(contains(refusal("\"repeated\":{}", "\"repeated\":{\"x\":\"y\"}"), "its 'repeated' has an unknown result 'y'"));
  CHECK(contains(refusal("\"repeated\":{}", "\"repeated\":[7]"), "its 'repeated' has a name"));
  CHECK(contains(find_refusal(with_text(std::string(100000, '['))), "its text is not valid JSON"));
  CHECK(contains(find_refusal(with_text("[]")), "it has no 'version'"));
  CHECK(contains(find_refusal(to_safetensors({{"out", at::zeros({2})}})), "without its text"));
}

TEST_CASE("shapes and headers that lie are refused by the tensors' own checks") {
  const auto refusal = [](const std::string& header) {
    std::string length(8, '\0');
    for (std::size_t i = 0; i < 4; ++i) length[i] = static_cast<char>(header.size() >> (8 * i) & 0xFF);
    return find_refusal(length + header);
  };
  CHECK(contains(refusal(R"({"x":{"dtype":"F32","shape":[1099511627776],"data_offsets":[0,4398046511104]}})"),
                 "lies at bytes 0 to 4398046511104"));
  CHECK(contains(refusal(R"({"x":{"dtype":"F32","shape":[4294967296,4294967296,4294967296],"data_offsets":[0,0]}})"),
                 "too large to address"));
  // A header must be far shorter than the format itself allows.
  const std::string wide = "{" + std::string(5 << 20, ' ') + "}";
  CHECK(contains(refusal(wide), "expected at most 4194304"));
}

TEST_CASE("one changed byte anywhere never ends the reader") {
  const std::string good = bytes_of_record(some_record());
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x41);
    try {
      record_from_bytes(bad);
    } catch (const UsageError&) {
      // so it was found to be wrong
    }
  }
}

}  // namespace
}  // namespace lab::testing
