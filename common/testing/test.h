#pragma once

// doctest must come after LibTorch: before it, glog's CHECK replaces doctest's and aborts the program.
#include <ATen/ATen.h>
#ifdef CHECK
#undef CHECK
#endif
#include <doctest/doctest.h>
