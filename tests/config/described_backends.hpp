// Two backends as plugins would describe them, for tests of the configuration that load no plugin.
#pragma once

#include <string>

#include "config/config.hpp"

namespace hone::test {

inline Value described_backend(const std::string& name) {
  const auto parameter = [](const char* type, Value fallback) {
    return Value::map({{"type", type}, {"default", std::move(fallback)}, {"doc", "a key"}});
  };
  Value level = parameter("int", 1);
  level.set("range", Value::array({0, 3}));
  Value mode = parameter("str", "fast");
  mode.set("choices", Value::array({"fast", "exact"}));
  return Value::map({{"summary", "a backend of a test"},
                     {"devices", Value::array()},
                     {"languages", Value::array({name, "python"})},
                     {"suffixes", Value::map({{name, ".dev"}, {"python", ".py"}})},
                     {"withholds", "stream"},
                     {"fingerprint", name},
                     {"parameters", Value::map({{"compiler", parameter("str", "auto")},
                                                {"architecture", parameter("str", "")},
                                                {"flags", parameter("[str]", Value::array())},
                                                {"include", parameter("[str]", Value::array())},
                                                {"level", level},
                                                {"mode", mode},
                                                {"factor", parameter("float", 0.5)},
                                                {"careful", parameter("bool", false)}})}});
}

/// With the names that the files in configs/ use.
inline FoundBackends described_backends(const Config&) {
  FoundBackends found;
  for (const char* name : {"cuda", "hip"}) {
    auto description = read_backend_description(described_backend(name), name);
    if (description) {
      found.described.push_back(std::move(*description));
    } else {
      found.refused.push_back(description.error().message);
    }
  }
  return found;
}

}  // namespace hone::test
