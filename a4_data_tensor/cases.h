#pragma once

#include "a4_data_tensor/cases/cases.h"
