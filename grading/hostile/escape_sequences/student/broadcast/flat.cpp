// Throws and prints what a terminal, a browser or a reader of JSON might obey.
#include "a9_collectives/broadcast.h"

#include <cstdio>
#include <stdexcept>
#include <string>

namespace lab::a9 {

at::Tensor broadcast_flat(at::Tensor, int, PointToPoint&) {
  const std::string text =
      "\x1b[2J\x1b]0;owned\x07 \xff\xfe\xc3( \xe2\x80\xae reversed \r\n# 100 of 100\n</td><script>alert(1)</script> "
      "\\u0000 \"}],";
  std::fputs(text.c_str(), stderr);
  throw std::runtime_error("in vain" + text + std::string(1 << 20, 'x'));
}

}  // namespace lab::a9
