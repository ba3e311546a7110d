#pragma once

#include "common/base/errors.h"  // hand-ins of earlier versions include it from here
