// Tries: to end the thread that should answer. Stopped by: its end is the process' end.
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>
extern "C" void add_relu(const float*, const float*, float*, int64_t) { syscall(SYS_exit, 0); }
