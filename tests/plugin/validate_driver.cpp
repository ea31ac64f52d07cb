// The program in which the checks of validate_test run: `validate --check ID PATH`, as in hone.
#include <cstring>

#include "config/yaml.hpp"
#include "conformance/validate.hpp"

int main(int count, char** arguments) {
  if (count != 5 || std::strcmp(arguments[2], "--check") != 0) return 2;
  hone::HostOptions host;
  host.parse_yaml = [](std::string_view text, std::string_view name) -> hone::Result<hone::Value> {
    HONE_ASSIGN(const hone::YamlDocument document, hone::parse_yaml(text, name));
    return document.to_value();
  };
  return hone::run_validation_check(arguments[4], arguments[3], host);
}
