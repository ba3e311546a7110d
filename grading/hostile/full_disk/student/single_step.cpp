// Writes until the disk is full.
#include "a4_data_tensor/single_step.h"

#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace lab::a4 {

StepResult single_step(const StepOptions&) {
  const std::vector<char> block(std::size_t{1} << 20, 'x');
  int written = 0;
  for (const char* folder : {".", "/tmp", "/dev/shm", "/var/tmp"}) {
    for (int i = 0; i < 8; ++i) {
      std::ofstream file(std::string(folder) + "/full_disk_" + std::to_string(i), std::ios::binary);
      while (written < 1024 && file.write(block.data(), static_cast<std::streamsize>(block.size()))) ++written;
    }
  }
  if (written >= 1024) throw std::runtime_error("BREACH: it has written 1 GiB");
  throw std::runtime_error("in vain");
}

}  // namespace lab::a4
