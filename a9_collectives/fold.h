#pragma once

#include "a9_collectives/chunks.h"

namespace lab::a9 {

/// Lets an algorithm for powers of two run on any number of ranks. With P = p + e, p the largest power of two, the
/// first 2e ranks form pairs: the even one hands its data to the odd one, stands aside, and gets the result afterwards.
/// The p ranks that take part are renumbered in order.
/// Example   P = 5: p = 4, e = 1; rank 0 stands aside for rank 1; ranks 1 2 3 4 are virtual ranks 0 1 2 3
class Fold {
 public:
  explicit Fold(const PointToPoint& p2p) : size_(p2p.size()), power_(floor_power_of_two(size_)), rank_(p2p.rank()) {}

  int power() const { return power_; }              ///< p: how many take part
  int num_aside() const { return size_ - power_; }  ///< e
  bool is_folded() const { return in_pair() && rank_ % 2 == 0; }
  bool has_guest() const { return in_pair() && rank_ % 2 == 1; }
  int partner() const { return is_folded() ? rank_ + 1 : rank_ - 1; }  ///< only for a rank in a pair

  /// This rank's number among those that take part.
  int virtual_rank() const { return in_pair() ? rank_ / 2 : rank_ - num_aside(); }
  int real_rank(int virtual_rank) const {
    return virtual_rank < num_aside() ? 2 * virtual_rank + 1 : virtual_rank + num_aside();
  }
  /// The first of the P chunks that belong to a virtual rank (its own and its guest's). For p, the result is P.
  int first_chunk(int virtual_rank) const {
    return virtual_rank < num_aside() ? 2 * virtual_rank : virtual_rank + num_aside();
  }

 private:
  bool in_pair() const { return rank_ < 2 * num_aside(); }

  int size_;
  int power_;
  int rank_;
};

}  // namespace lab::a9
