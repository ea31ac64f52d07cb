// Builds C and C++ sources into a shared library, by a compiler of the machine, in the current
// folder.
#pragma once

#include "hone/plugin.hpp"

namespace hone_cpu {

/// The request and the result of hone_backend_factory::build, with the reports "code" and "sanitizer". Options: {"compiler": path, "flags":
/// [str], "threads": int, "seconds": float, "version": bool}. A result says besides what backend.h
/// asks for: "toolchain": the compiler's first line of --version, when "version" was asked for.
hone::plugin::Value build(const hone::plugin::Value& request);

}  // namespace hone_cpu
