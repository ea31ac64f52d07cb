// Acts against other jails and later ones; part of jail_probe.
#pragma once

#include <functional>
#include <map>
#include <string>

namespace hone {

/// By name. `detail` is a process' number or a path.
std::map<std::string, std::function<long(const std::string&)>> neighbour_acts();

}  // namespace hone
