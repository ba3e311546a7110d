// Carries the precompiled standard headers of units without tensors.
