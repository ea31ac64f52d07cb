// Modules in Python, in the place of device code: an interpreter of hone's builds, loads and runs them.
#pragma once

#include <string>

#include "build.hpp"
#include "device.hpp"

namespace hone_gpu {

/// Runs the Python interpreter to build an artifact from the request's sources, in the working folder.
/// The last of the request's flags is the build script (core/candidate/module/builder/build_module.py).
hone::plugin::Value build_module(const hone::plugin::Value& request);

/// hone_backend_factory's functions of these names, of a device whose artifacts are modules.
int32_t load_module(hone_device* device, const std::string& bytes, hone_artifact** out,
                    hone_error* error);
int32_t get_module_kernel(hone_artifact* artifact, const char* entry, uint32_t count,
                          hone_kernel** out, hone_error* error);
int32_t launch_module(hone_kernel* kernel, hone_buffer* buffer, const hone_launch* launch,
                      hone_error* error);

}  // namespace hone_gpu
