// Includes the reference from where the suite is installed.
#include "@SOURCE@/a9_collectives/student/broadcast/flat.cpp"
