# Compiler settings for everything in the tree, and hone_library(): one static library per folder of core/.
include(GNUInstallDirs)
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
find_package(Threads REQUIRED)

# Where the sources are, also of a client that is built by itself.
get_filename_component(HONE_ROOT ${CMAKE_CURRENT_LIST_DIR}/.. ABSOLUTE)
find_program(HONE_CCACHE ccache)
if(HONE_CCACHE)
  # Two checkouts of the same sources share what it has built.
  set(CMAKE_C_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${HONE_ROOT} CCACHE_NOHASHDIR=1 ${HONE_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_C_COMPILER_LAUNCHER})
endif()

# What is shipped and what it loads lie side by side, so that the build folder is itself relocatable:
# hone, libexec/ (judge, candidate, launcher), plugins/, share/ (tasks, configs, templates).
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
set(HONE_LIBEXEC_DIR ${CMAKE_BINARY_DIR}/libexec)
set(HONE_PLUGIN_DIR ${CMAKE_BINARY_DIR}/plugins)

add_library(hone_flags INTERFACE)
target_compile_options(hone_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Werror
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor -Woverloaded-virtual>
  # Rationale: GCC 12 sees uninitialised members in every moved std::variant, and at -O3 overlapping copies in
  # `"text" + std::string` (GCC bug 105329); clang's analysis covers the real ones.
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<COMPILE_LANGUAGE:CXX>>:-Wno-maybe-uninitialized$<SEMICOLON>-Wno-restrict>
  $<$<AND:$<CXX_COMPILER_ID:Clang>,$<COMPILE_LANGUAGE:CXX>>:-Wthread-safety>)
target_compile_definitions(hone_flags INTERFACE _GNU_SOURCE)
# What is shipped names no folder of the machine that built it.
target_compile_options(hone_flags INTERFACE $<$<CONFIG:Release>:-fmacro-prefix-map=${HONE_ROOT}/=>)
target_link_options(hone_flags INTERFACE -Wl,-z,relro,-z,now)
# The loader searches lib/ next to hone first, where scripts/bundle puts libraries; a build folder has no such folder. # Rationale: old dtags, because the libraries in lib/ need each other, and RUNPATH does not apply to indirect dependencies.
target_link_options(hone_flags INTERFACE -Wl,--disable-new-dtags)
if(HONE_SANITIZE)
  add_compile_options(-fsanitize=${HONE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  # Rationale: clang also compares the types of functions that are called by address. Those of a driver, found by name, have
  # the driver's own types of the same layout.
  add_compile_options($<$<CXX_COMPILER_ID:Clang>:-fno-sanitize=function>)
  add_link_options(-fsanitize=${HONE_SANITIZE})
  # gold links these programs of 70 MB in half the time of the default linker.
  find_program(HONE_GOLD ld.gold)
  if(HONE_GOLD)
    add_link_options(-fuse-ld=gold)
  endif()
  add_compile_definitions(HONE_SANITIZED=1)
  # Linked as an object, because clang's weak definitions would win over those of a static library.
  add_library(hone_suppressions OBJECT ${HONE_ROOT}/cmake/suppressions.cpp)
  set_target_properties(hone_suppressions PROPERTIES CXX_CLANG_TIDY "")  # it rejects the reserved names that sanitizers require
  target_sources(hone_flags INTERFACE
    $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:$<TARGET_OBJECTS:hone_suppressions>>)
endif()
# HONE_TEST_BUILD compiles in the switches that turn a defence off. It never ships.
option(HONE_TEST_BUILD "compile in the switches that turn defences off" OFF)
if(HONE_TEST_BUILD)
  add_compile_definitions(HONE_TEST_BUILD=1)
endif()

# Where a preset compiles several files as one, up to this many: names in their anonymous namespaces must differ.
set(CMAKE_UNITY_BUILD_BATCH_SIZE 16)

# Rationale: a file compiled after others of its batch can use their includes. In the reverse order it comes before them, so a
# missing include is an error there, unless files on both sides have it.
option(HONE_REVERSED "list the sources of every target in the reverse order" OFF)
function(hone_reverse_sources folder)
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(sources ${target} SOURCES)
    if(sources)
      list(REVERSE sources)
      set_property(TARGET ${target} PROPERTY SOURCES ${sources})
    endif()
  endforeach()
  get_property(folders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(one IN LISTS folders)
    hone_reverse_sources(${one})
  endforeach()
endfunction()

# hone_alone(FILE …): sources that are excluded from unity builds, because their names or macros collide with other files.
function(hone_alone)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# hone_library(NAME SOURCES a.cpp … DEPENDS hone_base … LINK third_party …)
# A third-party library goes under LINK (private): the headers of core/ never show one.
function(hone_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_include_directories(${name} PUBLIC ${CMAKE_SOURCE_DIR}/core ${CMAKE_SOURCE_DIR}/core/include)
  target_link_libraries(${name} PUBLIC ${ARG_DEPENDS} Threads::Threads PRIVATE hone_flags ${ARG_LINK})
endfunction()

# hone_program(NAME LIBEXEC? SOURCES … DEPENDS …): LIBEXEC programs are started by hone, never by a person.
function(hone_program name)
  cmake_parse_arguments(ARG "LIBEXEC" "" "SOURCES;DEPENDS;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_DEPENDS} hone_flags ${ARG_LINK})
  set_target_properties(${name} PROPERTIES BUILD_RPATH "$ORIGIN/lib")
  if(ARG_LIBEXEC)
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${HONE_LIBEXEC_DIR} BUILD_RPATH "$ORIGIN/../lib")
  endif()
endfunction()

# hone_libexec_library(NAME SOURCES … DEPENDS … DEFINE X=1): the program of that name for interpreters, as libexec/NAME.so.
function(hone_libexec_library name)
  cmake_parse_arguments(ARG "" "DEFINE" "SOURCES;DEPENDS" ${ARGN})
  add_library(${name}-library MODULE ${ARG_SOURCES})
  target_compile_definitions(${name}-library PRIVATE ${ARG_DEFINE})
  target_link_libraries(${name}-library PRIVATE ${ARG_DEPENDS} hone_flags)
  set_target_properties(${name}-library PROPERTIES PREFIX "" OUTPUT_NAME ${name}
    LIBRARY_OUTPUT_DIRECTORY ${HONE_LIBEXEC_DIR} BUILD_RPATH "$ORIGIN/../lib")
endfunction()
