#pragma once

int pipe(int water);
int valve(int water, bool open);

template <typename... Unused>
[[noreturn]] void not_implemented(const char* task, const Unused&...) {
  throw task;
}
