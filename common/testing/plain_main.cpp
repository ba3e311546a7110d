#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "common/testing/plain_test.h"
