// Carries the precompiled header of student code.
#include "common/pch/student.h"
