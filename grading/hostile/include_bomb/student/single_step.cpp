// Includes itself twice: 2^200 times.
#include "a4_data_tensor/single_step.h"
#include __FILE__
#include __FILE__
