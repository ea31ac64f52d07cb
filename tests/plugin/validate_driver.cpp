// The process in which validate_test's checks run: `validate --check ID PATH`, as hone has it.
#include <cstring>

#include "plugin/validate.hpp"

int main(int count, char** arguments) {
  if (count != 5 || std::strcmp(arguments[2], "--check") != 0) return 2;
  return hone::run_validation_check(arguments[4], arguments[3]);
}
