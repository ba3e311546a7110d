#include "common/comm/sim_world.h"

// Replaces backend.cpp in a build without SimGrid.
namespace lab::comm {

class SimWorld::Hub {};

bool SimWorld::available() {
  return false;
}

SimWorld::SimWorld(const SimNetwork& network, int, double) {
  check_network(network);
  throw UsageError("--world sim: this build has no SimGrid; hint: ./lab build installs libsimgrid-dev");
}

SimWorld::~SimWorld() = default;

std::shared_ptr<Transport> SimWorld::transport(int) {
  return nullptr;
}

void SimWorld::run(const std::function<void(int rank)>&) {}

}  // namespace lab::comm
