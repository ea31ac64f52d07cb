// Acts that make one system call by number, so that it can be repeated with the upper half of its `int` arguments
// set. The kernel ignores that half, but a filter that compares 64 bits does not.
#include "raw_call_acts.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <sstream>

namespace hone {
namespace {

struct Argument {
  std::uint64_t value = 0;
  bool is_int = false;
};

/// "i12" is an int, "pid" and "tid" are the caller's (ints), "buffer" is the address of 4 KiB of zeros, "12" is a word.
Argument parse(const std::string& word) {
  alignas(16) static char buffer[4096];
  std::memset(buffer, 0, sizeof buffer);
  if (word == "buffer") return {reinterpret_cast<std::uint64_t>(buffer), false};
  if (word == "pid") return {static_cast<std::uint64_t>(::getpid()), true};
  if (word == "tid") return {static_cast<std::uint64_t>(::syscall(SYS_gettid)), true};
  const bool is_int = word.front() == 'i';
  const long long number = std::stoll(word.substr(is_int ? 1 : 0));
  return {is_int ? static_cast<std::uint32_t>(number) : static_cast<std::uint64_t>(number), is_int};
}

/// Detail: the bit to set in every `int` argument (-1: none), the call's number, its arguments.
long raw_call(const std::string& detail) {
  std::istringstream words(detail);
  long number = 0;
  int bit = -1;
  words >> bit >> number;
  std::uint64_t values[6] = {};
  std::size_t count = 0;
  for (std::string word; words >> word && count < 6; ++count) {
    const Argument argument = parse(word);
    values[count] = argument.value;
    if (bit >= 0 && argument.is_int) values[count] |= std::uint64_t{1} << bit;
  }
  return ::syscall(number, values[0], values[1], values[2], values[3], values[4], values[5]);
}

}  // namespace

std::map<std::string, std::function<long(const std::string&)>> raw_call_acts() {
  return {{"raw-call", raw_call}};
}

}  // namespace hone
