#include <memory>
#include <random>
#include <string>
#include <thread>

#include "common/comm/shm/segment.h"
#include "common/testing/plain_test.h"

namespace lab::comm {
namespace {

bool write(ShmRing& ring, const std::string& text) {
  char* const place = ring.reserve(text.size());
  if (place == nullptr) return false;
  std::memcpy(place, text.data(), text.size());
  ring.publish(text.size());
  return true;
}

std::string read(ShmRing& ring) {
  const ShmRing::Record record = ring.front();
  if (record.bytes == nullptr) return "nothing";
  std::string text(record.bytes, record.size);
  ring.pop(record);
  return text;
}

/// The n-th record: its length and letters follow from n.
std::string get_text(std::uint64_t number) {
  std::mt19937_64 random(number);
  const std::uint64_t longest = number % 16 == 0 ? ShmRing::kLongestRecord : 300;
  return std::string(random() % (longest + 1), static_cast<char>('a' + number % 26));
}

TEST_CASE("records come out of a ring as they went in, over its end and in every length") {
  const auto ring = std::make_unique<ShmRing>();
  CHECK(ring->is_empty());
  std::uint64_t num_written = 0, num_read = 0;
  for (int turn = 0; turn < 200; ++turn) {
    while (write(*ring, get_text(num_written))) ++num_written;
    for (int some = 0; some < 3 + turn % 7 && num_read < num_written; ++some)
      CHECK(read(*ring) == get_text(num_read++));
  }
  while (num_read < num_written) CHECK(read(*ring) == get_text(num_read++));
  CHECK(read(*ring) == "nothing");
  CHECK(num_written > 1000);
}

TEST_CASE("what is reserved is not there until it is published") {
  const auto ring = std::make_unique<ShmRing>();
  CHECK(ring->reserve(100) != nullptr);
  CHECK(ring->is_empty());
  CHECK(read(*ring) == "nothing");
  CHECK(write(*ring, "next"));
  CHECK(read(*ring) == "next");
}

TEST_CASE("a producer that finds no room is noticed by the consumer that makes some") {
  const auto ring = std::make_unique<ShmRing>();
  const std::string record(ShmRing::kLongestRecord - 16, 'x');
  CHECK_FALSE(ring->is_short_of_room());
  while (write(*ring, record)) {
  }
  CHECK_FALSE(ring->has_more_room());
  CHECK(read(*ring) == record);
  CHECK(ring->has_more_room());
  CHECK(ring->is_short_of_room());
  CHECK(write(*ring, record));
  CHECK_FALSE(ring->is_short_of_room());
}

TEST_CASE("two threads with a ring and two doorbells: no record and no wake-up is lost") {
  const auto ring = std::make_unique<ShmRing>();
  Doorbell producer, consumer;
  constexpr std::uint64_t kRecords = 20000;
  std::thread writes([&] {
    for (std::uint64_t number = 0; number < kRecords; ++number) {
      while (!write(*ring, get_text(number))) producer.sleep_unless([&] { return ring->has_more_room(); });
      consumer.ring();
    }
  });
  std::uint64_t num_wrong = 0;
  for (std::uint64_t number = 0; number < kRecords; ++number) {
    while (ring->is_empty()) consumer.sleep_unless([&] { return !ring->is_empty(); });
    num_wrong += read(*ring) == get_text(number) ? 0 : 1;
    if (ring->is_short_of_room()) producer.ring();
  }
  writes.join();
  CHECK(num_wrong == 0);
}

}  // namespace
}  // namespace lab::comm
