# Writes the files of the page into a C++ file, so that hone serves them without files on disk: cmake -DPAGE=… -DOUTPUT=… -P embed.cmake
set(rows "")
function(add_file path name type)
  file(READ ${PAGE}/${name} content)
  string(FIND "${content}" ")hone\"" end)
  if(NOT end EQUAL -1)
    message(FATAL_ERROR "${PAGE}/${name}: found )hone\", which would end the C++ literal; write it in another way")
  endif()
  set(rows "${rows}    {\"${path}\", \"${type}\", R\"hone(${content})hone\"},\n" PARENT_SCOPE)
endfunction()
add_file(/ index.html "text/html; charset=utf-8")
add_file(/app.js app.js "text/javascript; charset=utf-8")
add_file(/style.css style.css "text/css; charset=utf-8")
add_file(/icon.svg icon.svg "image/svg+xml")
file(WRITE ${OUTPUT} "// Generated from core/web/page.
#include \"web/page_files.hpp\"

namespace hone {

static constexpr PageFile kPageFiles[] = {
${rows}};

std::span<const PageFile> page_files() { return kPageFiles; }

}  // namespace hone
")
