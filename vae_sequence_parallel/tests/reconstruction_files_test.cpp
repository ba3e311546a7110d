#include "vae_sequence_parallel/commands/reconstruction_files.h"

#include <filesystem>
#include <functional>

#include "common/api/errors.h"
#include "common/tensor/files/safetensors.h"
#include "common/tensor/files/torch_file.h"
#include "common/tensor/seeded.h"
#include "common/testing/get_message.h"
#include "common/testing/temporary_folder.h"
#include "common/testing/test.h"

// The next step reads what the previous one wrote, or a message says why not.
namespace lab::vae {
namespace {

constexpr const char* kDigest = "0123456789abcdef";

Latent some_latent() {
  return {seeded_randn({1, 16, 3, 5}, 1), 20, 37, kDigest};
}

struct Folder {
  testing::TemporaryFolder folder;
  ReconstructionFiles files{folder.file("")};

  std::string load() const {
    return testing::get_message([&] { load_latent(files, small_config()); });
  }
};

TEST_CASE("a latent comes back with the size of its picture") {
  const Folder at_hand;
  save_latent(at_hand.files, some_latent());
  const Latent latent = load_latent(at_hand.files, small_config());
  CHECK(at::equal(latent.z, some_latent().z));
  CHECK(latent.height == 20);
  CHECK(latent.width == 37);
  CHECK(latent.checkpoint_digest == kDigest);
}

TEST_CASE("a latent from elsewhere has the full size of its picture") {
  const Folder at_hand;
  save_torch_tensor(at_hand.files.latent_pt, seeded_randn({1, 16, 3, 5}, 2, at::kDouble));
  CHECK(load_latent(at_hand.files, small_config()).height == 24);
  save_latent(at_hand.files, some_latent());
  save_torch_tensor(at_hand.files.latent_pt, seeded_randn({1, 16, 3, 5}, 3));  // the other file now has another latent
  const Latent latent = load_latent(at_hand.files, small_config());
  CHECK(latent.height == 24);
  CHECK(latent.width == 40);
  CHECK(latent.checkpoint_digest.empty());
  CHECK_NOTHROW(require_checkpoint(latent, "another", at_hand.files, "ae.safetensors"));
}

TEST_CASE("a latent, or a baseline, of another checkpoint than this run's is refused") {
  const Folder at_hand;
  CHECK_NOTHROW(require_checkpoint(some_latent(), kDigest, at_hand.files, "ae.safetensors"));
  CHECK(testing::contains(
      testing::get_message([&] { require_checkpoint(some_latent(), "another", at_hand.files, "ae.safetensors"); }),
      "was encoded with another checkpoint than 'ae.safetensors'; hint: "));
  save_baseline(at_hand.files, some_latent(), {seeded_randn({1, 3, 24, 40}, 4), 1234}, "another");
  CHECK(testing::contains(testing::get_message([&] { load_baseline(at_hand.files, some_latent(), kDigest); }),
                          "was decoded with another checkpoint than this run's; hint: "));
}

TEST_CASE("steps out of order say which one is missing") {
  const Folder at_hand;
  CHECK(testing::contains(at_hand.load(), "hint: run encode first"));
  save_latent(at_hand.files, some_latent());
  CHECK(testing::contains(testing::get_message([&] { load_baseline(at_hand.files, some_latent(), kDigest); }),
                          "hint: run baseline first"));
}

TEST_CASE("anything that is not a latent of this model is refused") {
  const Folder at_hand;
  for (const at::Tensor& wrong : {at::zeros({1, 4, 3, 5}), at::zeros({16, 3, 5}), at::zeros({2, 16, 3, 5}),
                                  at::zeros({1, 16, 0, 5}), at::zeros({1, 16, 3, 5}, at::kLong)}) {
    save_torch_tensor(at_hand.files.latent_pt, wrong);
    CHECK(testing::contains(at_hand.load(), "expected a latent of floating-point values [1, 16, h, w], got"));
  }
  testing::write_bytes(at_hand.files.latent_pt, "not a tensor");
  CHECK(testing::contains(at_hand.load(), at_hand.files.latent_pt));
}

TEST_CASE("a size that the latent cannot have is refused") {
  const Folder at_hand;
  const at::Tensor z = some_latent().z;
  save_latent(at_hand.files, some_latent());
  for (const char* height : {"25", "0", "-1", "many"}) {
    save_safetensors(at_hand.files.latent, {{"latent", z}}, {{"height", height}, {"width", "40"}});
    CHECK(testing::contains(at_hand.load(), at_hand.files.latent));
  }
  save_safetensors(at_hand.files.latent, {{"latent", z}});
  CHECK(testing::contains(at_hand.load(), "expected an integer 'height'"));
}

TEST_CASE("a baseline belongs to its latent") {
  const Folder at_hand;
  const Baseline baseline = {seeded_randn({1, 3, 24, 40}, 4), 1234};
  save_baseline(at_hand.files, some_latent(), baseline, kDigest);
  const Baseline loaded = load_baseline(at_hand.files, some_latent(), kDigest);
  CHECK(at::equal(loaded.image, baseline.image));
  CHECK(loaded.peak_activation_bytes == 1234);
  Latent other = some_latent();
  other.z = other.z + 1;
  CHECK(testing::contains(testing::get_message([&] { load_baseline(at_hand.files, other, kDigest); }),
                          "is of another latent"));
  std::filesystem::remove(at_hand.files.baseline);
  save_safetensors(at_hand.files.baseline, {{"latent", some_latent().z}}, {{"checkpoint_digest", kDigest}});
  CHECK(testing::contains(testing::get_message([&] { load_baseline(at_hand.files, some_latent(), kDigest); }),
                          "expected a tensor 'image'"));
}

}  // namespace
}  // namespace lab::vae
