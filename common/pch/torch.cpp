// Carries the precompiled <torch/torch.h> for units that use nn, optim or autograd functions.
