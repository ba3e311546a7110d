#include "common/tensor/files/torch_file.h"

#include <torch/csrc/jit/serialization/pickle.h>

#include <random>

#include "common/api/errors.h"
#include "common/tensor/files/safetensors.h"
#include "common/tensor/seeded.h"
#include "common/testing/archive_builder.h"
#include "common/testing/temporary_folder.h"
#include "common/testing/test.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

namespace {

/// While it lives, the sanitizer ignores leaks of what this thread allocates: for calls into a library that leaks.
struct LeaksAllowed {
#ifdef __SANITIZE_ADDRESS__
  LeaksAllowed() {
    __lsan_disable();
  }
  ~LeaksAllowed() {
    __lsan_enable();
  }
#else
  LeaksAllowed() {}  // NOLINT: not trivial, so that a variable of this type counts as used
#endif
  LeaksAllowed(const LeaksAllowed&) = delete;
  LeaksAllowed& operator=(const LeaksAllowed&) = delete;
};

bool same(const at::Tensor& a, const at::Tensor& b) {
  return (a.scalar_type() == b.scalar_type()) && a.equal(b);
}

const at::Tensor& example() {
  static const at::Tensor tensor = lab::seeded_randn({3, 5}, 1);
  return tensor;
}

/// The part of the message after the file's name; empty if the file was accepted and holds the example.
std::string torch_file_refusal(const std::string& bytes) {
  static const lab::testing::TemporaryFolder folder;
  const std::string path = folder.file("f.pt");
  lab::testing::write_bytes(path, bytes);
  const std::string start = "'" + path + "' is not a usable file of torch.save: ";
  at::Tensor loaded;
  const LeaksAllowed libtorch_keeps_the_tables_of_an_archive_that_it_refuses;
  try {
    loaded = lab::load_torch_tensor(path);
  } catch (const lab::UsageError& error) {
    const std::string message = error.what();
    REQUIRE(message.substr(0, start.size()) == start);
    REQUIRE(message.find('\n') == std::string::npos);
    return message.substr(start.size());
  }
  REQUIRE(same(loaded, example()));
  return "";
}

std::string saved(const at::Tensor& tensor) {
  const lab::testing::TemporaryFolder folder;
  lab::save_torch_tensor(folder.file("f.pt"), tensor);
  return lab::testing::read_bytes(folder.file("f.pt"));
}

}  // namespace

TEST_CASE("torch file: a tensor comes back with its dtype, shape and bits") {
  const lab::testing::TemporaryFolder folder;
  const std::string path = folder.file("f.pt");
  const at::Tensor values = lab::seeded_randn({3, 1, 5}, 1, at::kDouble).mul(100);
  for (const at::ScalarType dtype :
       {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16, at::kLong, at::kByte, at::kBool}) {
    for (const at::Tensor& tensor : {values.to(dtype), values.to(dtype)[0][0][0], values.to(dtype).slice(0, 0, 0),
                                     values.to(dtype).transpose(0, 2), values.to(dtype).slice(2, 1, 4)}) {
      CAPTURE(tensor.sizes());
      lab::save_torch_tensor(path, tensor);
      CHECK(same(lab::load_torch_tensor(path), tensor));
    }
  }
  CHECK(folder.num_files() == 1);
}

TEST_CASE("torch file: a saved tensor needs no gradient and shares nothing") {
  const lab::testing::TemporaryFolder folder;
  const std::string path = folder.file("f.pt");
  lab::save_torch_tensor(path, at::ones({2}).requires_grad_());
  CHECK(!lab::load_torch_tensor(path).requires_grad());
  lab::load_torch_tensor(path).zero_();
  CHECK(lab::load_torch_tensor(path).equal(at::ones({2})));
}

TEST_CASE("torch file: a part of a large tensor makes a small file") {
  const at::Tensor large = at::zeros({1000, 1000});
  CHECK(saved(large[7]).size() < 8'000);
  CHECK(saved(large.slice(0, 3, 4).slice(1, 0, 10)).size() < 2'000);
}

TEST_CASE("torch file: the names that Python looks for are in it") {
  const std::string bytes = saved(at::ones({2}));
  for (const char* name : {"archive/data.pkl", "archive/data/0", "archive/version"})
    CHECK(bytes.find(name) != std::string::npos);
}

TEST_CASE("torch file: paths that cannot be read or written") {
  const lab::testing::TemporaryFolder folder;
  CHECK_THROWS_WITH_AS(lab::load_torch_tensor(folder.file("none.pt")), doctest::Contains("No such file or directory"),
                       lab::UsageError);
  CHECK_THROWS_WITH_AS(lab::load_torch_tensor(folder.file("")), doctest::Contains("it is not a regular file"),
                       lab::UsageError);
  CHECK_THROWS_WITH_AS(lab::save_torch_tensor(folder.file("none/f.pt"), at::ones({2})),
                       doctest::Contains("there is no folder"), lab::UsageError);
  CHECK_THROWS_AS(lab::save_torch_tensor(folder.file("f.pt"), at::Tensor()), lab::ContractError);
  CHECK(folder.num_files() == 0);
}

TEST_CASE("torch file: other files are refused") {
  CHECK(torch_file_refusal("") == "it is empty.");
  const std::string no_archive = "it is not the zip archive that torch.save writes since version 1.6.";
  CHECK(torch_file_refusal("hello") == no_archive);
  const lab::testing::TemporaryFolder folder;
  lab::save_safetensors(folder.file("f"), {{"x", at::ones({2})}});
  CHECK(torch_file_refusal(lab::testing::read_bytes(folder.file("f"))) == no_archive);
  CHECK(torch_file_refusal("PK\5\6" + std::string(18, '\0')) == no_archive);
  CHECK(torch_file_refusal("PK\3\4PK\5\6" + std::string(18, '\0')) == "it holds 0 storages, expected one tensor's.");
}

TEST_CASE("torch file: archives of anything other than one tensor") {
  const auto pickled = [](const c10::IValue& value) {
    const std::vector<char> bytes = torch::jit::pickle_save(value);
    return std::string(bytes.begin(), bytes.end());
  };
  CHECK(torch_file_refusal(pickled(example())) == "");
  CHECK(torch_file_refusal(pickled(7)) == "it holds 0 storages, expected one tensor's.");
  CHECK(torch_file_refusal(pickled(std::vector<at::Tensor>{example(), example().add(1)})) ==
        "it holds 2 storages, expected one tensor's.");
  CHECK(torch_file_refusal(pickled(c10::ivalue::Tuple::create({example(), 7}))) ==
        "it holds a Tuple, expected one tensor.");
}

TEST_CASE("torch file: what Python has saved in the place of a tensor is named, with what to save") {
  const auto with_pickle = [](const std::string& pickle) {
    const lab::testing::TemporaryFolder folder;
    {
      lab::testing::ArchiveBuilder archive(folder.file("f.pt"));
      archive.file("archive/data.pkl", pickle).file("archive/data/0", std::string(24, '\0'));
    }
    return lab::testing::read_bytes(folder.file("f.pt"));
  };
  const std::string tensor = "ctorch._utils\n_rebuild_tensor_v2\nq\x01((";
  const std::string start("\x80\x02", 2);
  CHECK(torch_file_refusal(with_pickle(start + "}q\x01X\x06")) ==
        "it holds a dict, expected one tensor; hint: torch.save(x[\"key\"], path).");
  CHECK(torch_file_refusal(with_pickle(start + "]q\x01" + tensor)) ==
        "it holds a list, expected one tensor; hint: torch.save(x[0], path).");
  CHECK(torch_file_refusal(with_pickle(start + "ccollections\nOrderedDict\nq\x01)R")).find("it holds a state dict") ==
        0);
  CHECK(torch_file_refusal(with_pickle(start + "ctorch._utils\n_rebuild_parameter\nq\x01" + tensor))
            .find("it holds a Parameter, expected a plain tensor; hint: torch.save(x.data, path).") == 0);
  CHECK(torch_file_refusal(with_pickle(start + "cnumpy.core.multiarray\n_reconstruct\n")).find("it holds a NumPy") ==
        0);
  CHECK(torch_file_refusal(with_pickle("\x80\x04\x95")) ==
        "it was saved with pickle protocol 4, expected 2; hint: leave pickle_protocol out.");
  CHECK(torch_file_refusal(with_pickle(start + tensor + std::string("X\x06\0\0\0cuda:0q\x04", 13))) ==
        "its tensor is one of the GPU (cuda:0), expected one of the CPU; hint: torch.save(x.cpu(), path).");
}

TEST_CASE("torch file: a tensor that claims more than what is stored is refused, not read or allocated") {
  const auto claiming = [](at::IntArrayRef sizes, at::IntArrayRef strides, int64_t offset) {
    const at::Tensor tensor = example().clone();
    tensor.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, strides);
    tensor.unsafeGetTensorImpl()->set_storage_offset(offset);
    const std::vector<char> bytes = torch::jit::pickle_save(tensor);
    return torch_file_refusal(std::string(bytes.begin(), bytes.end()));
  };
  CHECK(claiming({3, 5}, {5, 1}, 0) == "");
  const int64_t huge = int64_t{1} << 40;
  for (const auto& [sizes, strides, offset] :
       {std::tuple<std::vector<int64_t>, std::vector<int64_t>, int64_t>({3, 5}, {5, 1}, 1),
        {{3, 5}, {5, 1}, huge},
        {{3, 5}, {6, 1}, 0},
        {{3, 5}, {huge, 1}, 0},
        {{huge, 5}, {5, 1}, 0},
        {{huge}, {0}, 0}}) {
    CAPTURE(sizes);
    CHECK(claiming(sizes, strides, offset).find("does not lie within the 60 bytes that are stored; hint: ") !=
          std::string::npos);
  }
}

TEST_CASE("torch file: truncated at every length") {
  const std::string bytes = saved(example());
  REQUIRE(torch_file_refusal(bytes) == "");
  for (size_t size = 4; size < bytes.size(); ++size) {
    CAPTURE(size);
    REQUIRE(torch_file_refusal(bytes.substr(0, size)) ==
            "it is damaged: Unrecognized archive format; hint: copy it again.");
  }
}

TEST_CASE("torch file: damage to the content is detected by its checksum") {
  std::string bytes = saved(example());
  const size_t pickle = bytes.find("FloatStorage");
  REQUIRE(pickle != std::string::npos);
  bytes[pickle] = 'f';
  CHECK(torch_file_refusal(bytes).find("it is damaged: ZIP bad CRC: ") == 0);
  std::string values = saved(example());
  const size_t value = values.find({static_cast<const char*>(example().data_ptr()), 16});
  REQUIRE(value != std::string::npos);
  values[value] = static_cast<char>(values[value] ^ 1);
  CHECK(torch_file_refusal(values).find("it is damaged: ZIP bad CRC: ") == 0);
}

TEST_CASE("torch file: 2,000 damaged files are refused or hold what was saved") {
  std::mt19937_64 random(20240607);
  const auto below = [&](size_t limit) { return static_cast<size_t>(random() % limit); };
  const std::string valid = saved(example());
  int num_refused = 0;
  for (int i = 0; i < 2'000; ++i) {
    CAPTURE(i);
    std::string bytes = valid;
    for (size_t edits = 1 + below(4); edits > 0; --edits) {
      switch (below(8)) {
        case 0: bytes.erase(below(bytes.size()), 1 + below(3)); break;
        case 1: bytes.insert(below(bytes.size()), 1, static_cast<char>(below(256))); break;
        default: bytes[below(bytes.size())] = static_cast<char>(below(256));
      }
    }
    num_refused += torch_file_refusal(bytes) != "";
  }
  CHECK(num_refused > 1'000);
  CHECK(num_refused < 2'000);
}
