
#include <fmt/format.h>

#include "a9_collectives/commands/chunk_names.h"
#include "common/api/errors.h"
#include "common/testing/test.h"

namespace lab::a9 {

namespace {

constexpr std::int64_t kNumel = 8;

/// "5[2,4) ?3": elements 2 and 3 over the ranks whose bits 5 has, then three that are unknown.
std::string text(const std::vector<Piece>& pieces) {
  std::string text;
  for (const Piece& piece : pieces) {
    text += text.empty() ? "" : " ";
    text +=
        piece.known() ? fmt::format("{}[{},{})", piece.ranks, piece.begin, piece.end) : fmt::format("?{}", piece.end);
  }
  return text;
}

at::Tensor make_input(int rank) {
  return provenance(rank, kNumel);
}
at::Tensor part(int rank, std::int64_t begin, std::int64_t end) {
  return make_input(rank).slice(0, begin, end);
}
bool is_unknown(const at::Tensor& tensor) {
  return text(split_pieces(tensor)) == fmt::format("?{}", tensor.numel());
}

TEST_CASE("an input is one piece, and so is a part of it in any shape") {
  CHECK(text(split_pieces(make_input(3))) == "8[0,8)");
  CHECK(text(split_pieces(part(0, 2, 6).view({2, 2}))) == "1[2,6)");
  CHECK(split_pieces(make_input(0).slice(0, 0, 0)).empty());
  CHECK(split_pieces(at::Tensor()).empty());
}

TEST_CASE("every sum over different ranks says which they are, up to all sixteen, at the last element too") {
  at::Tensor sum = at::zeros({kMostProvenanceElements}, at::kLong);
  RankSet ranks = 0;
  for (int rank = kMostProvenanceRanks - 1; rank >= 0; --rank) {
    sum += provenance(rank, kMostProvenanceElements);
    ranks |= RankSet{1} << rank;
    CHECK(text(split_pieces(sum)) == fmt::format("{}[0,{})", ranks, kMostProvenanceElements));
  }
}

TEST_CASE("joined parts are as many pieces, unless they go on where the last one ended") {
  const at::Tensor joined = at::cat({part(0, 0, 2), part(1, 0, 2), part(1, 2, 4), part(1, 6, 8)});
  CHECK(text(split_pieces(joined)) == "1[0,2) 2[0,4) 2[6,8)");
}

TEST_CASE("anything but a sum of inputs over different ranks is unknown") {
  CHECK(is_unknown(at::zeros({4}, at::kLong)));
  CHECK(is_unknown(at::full({4}, -1, at::kLong)));
  CHECK(is_unknown(at::arange(4)));
  CHECK(is_unknown(at::ones({4}, at::kFloat)));
  CHECK(is_unknown(make_input(0) + make_input(0)));  // 1 + 1 is the bit of rank 1
  CHECK(is_unknown(make_input(0) + make_input(0) + make_input(2)));
  CHECK(is_unknown(part(0, 0, 2) + part(1, 2, 4)));  // elements 0 and 2 have the mean 1
  CHECK(is_unknown(make_input(0) + 1));
  CHECK(is_unknown(make_input(0) * 40));
  CHECK(text(split_pieces(at::cat({part(0, 0, 4), at::zeros({4}, at::kLong)}))) == "1[0,4) ?4");
}

TEST_CASE("more ranks or elements than the fields have room for are refused") {
  CHECK_THROWS_AS(provenance(-1, 4), ContractError);
  CHECK_THROWS_AS(provenance(kMostProvenanceRanks, 4), ContractError);
  CHECK_THROWS_AS(provenance(0, kMostProvenanceElements + 1), ContractError);
}

TEST_CASE("sums have names: up to three ranks, a row, four in full, a stride, a number, all") {
  CHECK(sum_name(0b1, 8) == "a");
  CHECK(sum_name(0b101, 8) == "a+c");
  CHECK(sum_name(0b10000011, 8) == "h+a+b");
  CHECK(sum_name(0b00111100, 8) == "c..f");
  CHECK(sum_name(0b10000111, 8) == "h..c");
  CHECK(sum_name(0b01010101, 8) == "a+c+e+g");
  CHECK(sum_name(0b01010111, 8) == "5 ranks");
  CHECK(sum_name(0b0101010101010101, 16) == "a+c+..+o");
  CHECK(sum_name(0b11111111, 8) == "Σ");
  CHECK(sum_name(0b11, 2) == "Σ");
}

TEST_CASE("chunks are found where pieces begin and end, and numbered") {
  const ChunkNames names({{1, 0, 8}, {2, 0, 2}, {4, 4, 6}, {0, 0, 3}}, 4);
  CHECK(names.count() == 4);  // [0,2) [2,4) [4,6) [6,8)
  CHECK(text(names.cut({{1, 2, 8}, {0, 0, 3}})) == "1[2,4) 1[4,6) 1[6,8) ?3");
  CHECK(names.name({1, 4, 6}) == "a2");
  CHECK(names.name({1, 0, 6}) == "a0-2");
  CHECK(names.name({0b11, 4, 6}) == "2:a+b");
  CHECK(names.name({0b1111, 4, 8}) == "2-3:Σ");
  CHECK(names.name({0, 0, 3}) == "?");
  CHECK(names.name(std::vector<Piece>{{1, 0, 2}, {2, 0, 2}}) == "a0 b0");
  CHECK(names.name(std::vector<Piece>{{4, 0, 2}, {8, 0, 2}, {1, 0, 2}, {2, 0, 2}}) == "c0..b0");
  CHECK(names.name(std::vector<Piece>{{1, 0, 2}, {0, 0, 1}, {2, 2, 4}, {3, 0, 2}, {3, 6, 8}}) == "a0 ? b1 and 2 more");
}

TEST_CASE("where nothing is cut, nothing is numbered") {
  const ChunkNames names({{1, 0, 8}, {2, 0, 8}}, 4);
  CHECK(names.count() == 1);
  CHECK(names.name({1, 0, 8}) == "a");
  CHECK(names.name({0b111, 0, 8}) == "a+b+c");
  CHECK(names.name(std::vector<Piece>{{4, 0, 8}, {8, 0, 8}, {1, 0, 8}}) == "c d a");
}

}  // namespace
}  // namespace lab::a9
