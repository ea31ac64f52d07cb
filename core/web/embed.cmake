# Writes the files of the page into a C++ file, so that hone serves them without files on disk: cmake -DPAGE=… -DOUTPUT=… -P embed.cmake
# As arrays of bytes, because clang accepts only string literals of up to 65536 bytes.
set(arrays "")
set(rows "")
function(add_file path name type)
  file(READ ${PAGE}/${name} content HEX)
  string(REGEX REPLACE "(..)" "'\\\\x\\1'," bytes "${content}")
  string(MAKE_C_IDENTIFIER "bytes_of_${name}" array)
  set(arrays "${arrays}static constexpr char ${array}[] = {${bytes}};\n" PARENT_SCOPE)
  set(rows "${rows}    {\"${path}\", \"${type}\", {${array}, sizeof ${array}}},\n" PARENT_SCOPE)
endfunction()
add_file(/ index.html "text/html; charset=utf-8")
add_file(/app.js app.js "text/javascript; charset=utf-8")
add_file(/style.css style.css "text/css; charset=utf-8")
add_file(/icon.svg icon.svg "image/svg+xml")
file(WRITE ${OUTPUT} "// Generated from core/web/page.
#include \"web/page_files.hpp\"

namespace hone {

${arrays}
static constexpr PageFile kPageFiles[] = {
${rows}};

std::span<const PageFile> page_files() { return kPageFiles; }

}  // namespace hone
")
