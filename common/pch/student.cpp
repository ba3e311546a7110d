// Carries the precompiled header of student code.
