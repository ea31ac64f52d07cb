// Tries: to read without end while it is built. Stopped by: limits on the builder.
#include "/dev/zero"
extern "C" void add_relu(const float*, const float*, float*, long) {}
