#pragma once

#include <vector>

#include "common/pipeline/generators.h"

// In which order a rank computes, one function per kind of schedule. Messages are added later, the same way for all.
namespace lab::pipeline {

/// `count` forward passes first, then a forward and a backward pass in turn, then the backward passes that are left.
std::vector<Action> warm_up_then_alternate(int count, const std::vector<Action>& forwards,
                                           const std::vector<Action>& backwards);

std::vector<Action> all_forward_all_backward(const ScheduleOptions& options, int rank);
std::vector<Action> one_forward_one_backward(const ScheduleOptions& options, int rank);
std::vector<Action> interleaved(const ScheduleOptions& options, int rank);
std::vector<Action> zero_bubble(const ScheduleOptions& options, int rank);

}  // namespace lab::pipeline
