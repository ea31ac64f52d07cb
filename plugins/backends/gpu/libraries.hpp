// File names of the vendor's libraries. Plugins for tests compile only libraries.cpp differently.
#pragma once

namespace hone_gpu {

/// Names in the order of the search, separated by ':'; "" if there is none.
extern const char* const kDriverLibrary;
extern const char* const kCompilerLibrary;
extern const char* const kManagementLibrary;

}  // namespace hone_gpu
