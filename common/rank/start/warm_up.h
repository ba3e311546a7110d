#pragma once

namespace lab {

/// Does once what LibTorch does at its first use, so that ranks that are forked later need not: it looks at the CPU,
/// chooses its kernels and resolves its symbols. Leaves no thread behind. Ranks cannot open files, which parts of it must.
void warm_up();

/// In each child: random numbers of its own for code that sets no seed.
void draw_own_seed();

}  // namespace lab
