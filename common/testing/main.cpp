#define DOCTEST_CONFIG_IMPLEMENT

#include <csignal>

#include "common/tensor/compute_threads.h"
#include "common/tensor/no_vulkan.h"
#include "common/testing/test.h"

int main(int argc, char** argv) {
  // Tests fork ranks: the parent must never start a thread pool (a forked child would wait for it forever).
  lab::use_threads(1);
  lab::no_vulkan();
  std::signal(SIGPIPE, SIG_IGN);
  return doctest::Context(argc, argv).run();
}
