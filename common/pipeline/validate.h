#pragma once

#include "common/pipeline/schedule.h"

namespace lab::pipeline {

/// Checks that the schedule can run and computes what a pipeline must: every rank has a list; every micro-batch
/// goes through every stage forward once and backward once (whole, or first the input's gradient and then the
/// weights'), after what it depends on: a forward pass after its input was received, a backward pass after its own
/// forward pass and after its output's gradient was received. Every output (and input gradient) goes to the next
/// (previous) stage once, after it was computed; every message that was started is finished once, on both ends; and no
/// ranks wait for each other, even if every send is a rendezvous.
/// Errors    ContractError naming rank, action and what is wrong; DeadlockError naming each rank of the cycle (of a
///           long one, the first eight) and what it waits for: "deadlock: rank 0 waits for its send_forward of
///           micro-batch 3 to rank 1, rank 1 waits ..."
void validate(const Schedule& schedule);

/// What validate() checks, except for deadlock: each rank's list by itself is complete and in an order that can be
/// computed. As every message then occurs once on each end, this also shows that none lacks its other end.
/// Errors    ContractError naming rank, action and what is wrong
void check_actions(const Schedule& schedule);

}  // namespace lab::pipeline
