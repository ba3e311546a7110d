// Includes a file that never ends.
#include "/dev/zero"
