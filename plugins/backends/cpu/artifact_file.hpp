// Files that come by descriptor: whether they hold what they say, and how they are loaded.
#pragma once

#include <cstdint>
#include <string>

namespace hone_cpu {

/// Rationale: what lies beyond a file can be mapped all the same, and ends whoever touches it.
bool holds(int fd, uint64_t bytes);

/// A path for dlopen. Rationale: the loader takes a path that it has seen for the library that it has
/// loaded, and descriptors are numbered again; so each load writes its path in another way.
std::string unused_path(int fd);

/// Whether a file holds every byte that its headers speak of: the loader maps what is cut short, and
/// dies of it.
bool is_whole_library(int fd);

std::string whole_file(int fd);

}  // namespace hone_cpu
