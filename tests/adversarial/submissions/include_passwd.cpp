// Tries: to have a file of the machine printed in the compiler's complaints. Stopped by: the
// builder sees the toolchain alone, and only complaints about the submission are passed on.
#include "/etc/passwd"
#include "/proc/self/environ"
extern "C" void add_relu(const float*, const float*, float*, long) {}
