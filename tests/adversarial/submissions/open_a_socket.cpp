// Tries: to talk to somebody over the network or a unix socket. Stopped by: the filter, and a
// network namespace without a network.
#include <stdint.h>
#include <sys/socket.h>

#include "inside.hpp"
extern "C" void add_relu(const float*, const float*, float*, int64_t) {
  inside::report(socket(AF_INET, SOCK_STREAM, 0) >= 0 || socket(AF_UNIX, SOCK_STREAM, 0) >= 0);
}
