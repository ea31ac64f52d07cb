# find_package(hone): defines hone::client.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
find_dependency(PkgConfig)
pkg_check_modules(ZMQ QUIET REQUIRED IMPORTED_TARGET libzmq)
include(${CMAKE_CURRENT_LIST_DIR}/honeTargets.cmake)
