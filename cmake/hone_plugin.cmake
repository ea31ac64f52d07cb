# hone_add_plugin(): a plugin is a MODULE that sees core/include alone and exports one symbol.

# hone_add_plugin(NAME KIND rewards|datasets|backends|… SOURCES …)
# Rationale: -z,defs catches a forgotten library at link time, but clang's sanitizers need undefined symbols.
function(hone_add_plugin name)
  cmake_parse_arguments(ARG "" "KIND;OUTPUT" "SOURCES;LINK" ${ARGN})
  add_library(${name} MODULE ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/core/include)
  target_link_libraries(${name} PRIVATE hone_flags ${ARG_LINK})
  target_link_options(${name} PRIVATE -Wl,--version-script=${CMAKE_SOURCE_DIR}/cmake/plugin.map)
  if(NOT HONE_SANITIZE)
    target_link_options(${name} PRIVATE -Wl,-z,defs)
  endif()
  set_target_properties(${name} PROPERTIES PREFIX "" LINK_DEPENDS ${CMAKE_SOURCE_DIR}/cmake/plugin.map)
  if(ARG_KIND)
    set_target_properties(${name} PROPERTIES
      LIBRARY_OUTPUT_DIRECTORY ${HONE_PLUGIN_DIR}/${ARG_KIND} BUILD_RPATH "$ORIGIN/../../lib")
  endif()
  if(ARG_OUTPUT)
    set_target_properties(${name} PROPERTIES OUTPUT_NAME ${ARG_OUTPUT})
  endif()
endfunction()
