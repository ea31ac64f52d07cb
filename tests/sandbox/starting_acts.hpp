// Acts that report the initial state of a jailed process; part of jail_probe.
#pragma once

#include <functional>
#include <map>
#include <string>

namespace hone {

/// By name; each prints.
std::map<std::string, std::function<long(const std::string&)>> starting_acts();

}  // namespace hone
