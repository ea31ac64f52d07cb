// Acts that make one system call by number.
#pragma once

#include <functional>
#include <map>
#include <string>

namespace hone {

std::map<std::string, std::function<long(const std::string&)>> raw_call_acts();

}  // namespace hone
