// The vendor that this plugin is compiled for: one source, a plugin for each vendor. CMakeLists.txt names the header.
#pragma once

#include HONE_GPU_VENDOR_HEADER
