#include "common/rank/record.h"

#include <sys/mman.h>
#include <unistd.h>

#include "common/base/files.h"
#include "common/tensor/files/safetensors.h"
#include "common/testing/message_of.h"
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
  record.used = {std::int64_t{1} << 40, 4096, {(std::int64_t{1} << 60) + 1, 2, 3, 4}, 96};
  return record;
}

std::string little_endian_length(std::uint64_t number) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(number >> (8 * i) & 0xFF);
  return bytes;
}

RecordsRead read_bytes_as_records(const std::string& bytes, std::uint64_t max_bytes = 1u << 30) {
  const RecordFiles file(1);
  REQUIRE(write_fully(file.descriptors()[0], bytes) == 0);
  return read_records(file.descriptors()[0], max_bytes);
}

std::string bytes_of(const CaseRecord& record) {
  const RecordFiles file(1);
  write_record(file.descriptors()[0], record);
  std::string bytes(static_cast<std::size_t>(::lseek(file.descriptors()[0], 0, SEEK_END)), '\0');
  REQUIRE(::pread(file.descriptors()[0], bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
  return bytes;
}

/// A record with the text that a hostile rank wrote.
std::string with_text(const std::string& text) {
  const std::string blob = to_safetensors({}, {{"record", text}});
  return little_endian_length(blob.size()) + blob;
}

std::string replaced(std::string text, const std::string& part, const std::string& other) {
  const std::size_t at = text.find(part);
  REQUIRE(at != text.npos);
  return text.replace(at, part.size(), other);
}

TEST_CASE("records come back as they were written, in order") {
  const RecordFiles file(1);
  CaseRecord todo;
  todo.task = "a0.other";
  todo.name = "Other";
  todo.end = CaseEnd::kNotImplemented;
  todo.message = "two\nlines, and bytes that are no text: \xFF";
  todo.exit_code = 3;
  todo.missing_task = "a0.double";
  write_record(file.descriptors()[0], some_record());
  write_record(file.descriptors()[0], todo);
  const RecordsRead read = read_records(file.descriptors()[0]);
  CHECK(read.broken.empty());
  REQUIRE(read.records.size() == 2);
  const CaseRecord& first = read.records[0];
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
  CHECK(first.used.peak_bytes == 4096);
  CHECK(first.used.retained_bytes == 96);
  CHECK(first.used.model_time == ModelTime{(std::int64_t{1} << 60) + 1, 2, 3, 4});
  CHECK(first.spent[1].bytes_sent == ~std::uint64_t{0});
  const CaseRecord& second = read.records[1];
  CHECK(second.end == CaseEnd::kNotImplemented);
  CHECK(second.message == "two lines, and bytes that are no text: \xEF\xBF\xBD");
  CHECK(second.exit_code == 3);
  CHECK(second.missing_task == "a0.double");
}

TEST_CASE("tensors on strides, and those that require a gradient, are written as they look") {
  CaseRecord record = some_record();
  record.results["out"] = at::arange(6, at::kDouble).view({2, 3}).t();
  record.results["leaf"] = at::ones({2}).requires_grad_();
  const RecordsRead read = read_bytes_as_records(bytes_of(record));
  REQUIRE(read.records.size() == 1);
  CHECK(at::equal(read.records[0].results.at("out"), record.results["out"]));
  CHECK(at::equal(read.records[0].results.at("leaf"), at::ones({2})));
}

TEST_CASE("a record that cannot be written says why, and nothing of it is") {
  CaseRecord complex = some_record();
  complex.results["out"] = at::zeros({2}, at::kComplexFloat);
  const RecordFiles file(1);
  CHECK(contains(message_of([&] { write_record(file.descriptors()[0], complex); }), "\"out\" is complex64"));
  CHECK(read_records(file.descriptors()[0]).records.empty());
  CHECK(contains(message_of([] { write_record(-1, some_record()); }), "cannot write a record to descriptor -1"));
  CHECK(contains(message_of([] { read_records(-1); }), "cannot read records from descriptor -1"));
}

TEST_CASE("a file that is cut anywhere gives the records before the cut, and says what follows") {
  const std::string one = bytes_of(some_record());
  for (std::size_t size = 1; size < one.size(); size += 7) {
    const RecordsRead read = read_bytes_as_records(one + one.substr(0, size));
    CAPTURE(size);
    CHECK(read.records.size() == 1);
    CHECK(contains(read.broken, "record 2: it should have"));
  }
  CHECK(read_bytes_as_records("").broken.empty());
}

TEST_CASE("lengths that lie are refused before they are believed") {
  CHECK(contains(read_bytes_as_records(std::string(8, '\xFF')).broken, "18446744073709551615 bytes"));
  CHECK(contains(read_bytes_as_records(little_endian_length(0)).broken, "it has 0 bytes, expected at least 8"));
  const std::string one = bytes_of(some_record());
  CHECK(
      contains(read_bytes_as_records(little_endian_length(9) + std::string(9, 'x')).broken, "its header should have"));
  const RecordsRead beyond = read_bytes_as_records(one + one, one.size() + 20);
  CHECK(beyond.records.size() == 1);
  CHECK(contains(beyond.broken, "it ends beyond the"));
}

TEST_CASE("a file of a petabyte without a byte in it costs nothing to refuse") {
  const RecordFiles file(1);
  REQUIRE(write_fully(file.descriptors()[0], little_endian_length(std::uint64_t{1} << 49)) == 0);
  REQUIRE(::ftruncate(file.descriptors()[0], std::int64_t{1} << 50) == 0);
  CHECK(contains(read_records(file.descriptors()[0]).broken, "it ends beyond the 1073741824 bytes that are read"));
}

TEST_CASE("a text that is not as it should be is refused, whatever is wrong with it") {
  const std::string good = text_of_record(some_record(), {"x.grad"});
  CHECK(read_bytes_as_records(with_text(good)).broken.empty());
  const auto refusal = [&](const std::string& part, const std::string& other) {
    const RecordsRead read = read_bytes_as_records(with_text(replaced(good, part, other)));
    CHECK(read.records.empty());
    return read.broken;
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
  CHECK(contains(refusal("\"peak_bytes\":4096", "\"peak_bytes\":-1"), "its 'peak_bytes'"));
  CHECK(contains(refusal("\"peak_bytes\":4096", "\"peak_bytes\":1e300"), "its 'peak_bytes'"));
  CHECK(contains(refusal("\"spent\":[", "\"spent\":7,\"undefined\":["), "its 'spent' is not a list"));
  CHECK(contains(refusal("\"message\"", "\"messages\""), "it has an unknown field 'messages'"));
  CHECK(contains(refusal("\"message\":\"\",", ""), "it has no 'message'"));
  CHECK(contains(refusal("\"version\":1", "\"version\":2"), "its version is 2, expected 1"));
  CHECK(contains(refusal(",\"version\":1", ""), "it has no 'version'"));
  CHECK(contains(refusal("[\"x.grad\"]", "[[]]"), "its 'undefined'"));
  CHECK(contains(read_bytes_as_records(with_text(std::string(100000, '['))).broken, "its text is not valid JSON"));
  CHECK(contains(read_bytes_as_records(with_text("[]")).broken, "it has no 'version'"));
  const std::string blob = to_safetensors({{"out", at::zeros({2})}});
  CHECK(contains(read_bytes_as_records(little_endian_length(blob.size()) + blob).broken, "without its text"));
}

TEST_CASE("shapes and headers that lie are refused by the tensors' own checks") {
  const auto refusal = [](const std::string& header) {
    const std::string blob = little_endian_length(header.size()) + header;
    return read_bytes_as_records(little_endian_length(blob.size()) + blob).broken;
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
  const std::string good = bytes_of(some_record());
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x41);
    CHECK(read_bytes_as_records(bad).records.size() <= 1);
  }
}

}  // namespace
}  // namespace lab::testing
