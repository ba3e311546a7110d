// Carries the precompiled <ATen/ATen.h> that most units share.
