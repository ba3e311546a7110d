// Has the compiler quote files that it must not see, in its errors.
#include "/etc/passwd"
#include "@HOME@/secret.txt"
