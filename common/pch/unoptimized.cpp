// Carries the same precompiled <ATen/ATen.h> for units that are not optimized.
