// The static files of the web page, which CMake compiles in from core/web/page.
#pragma once

#include <span>
#include <string_view>

namespace hone {

struct PageFile {
  std::string_view path, content_type, text;  ///< "/app.js"
};

std::span<const PageFile> page_files();

}  // namespace hone
