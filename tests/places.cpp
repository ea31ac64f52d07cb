// The one file that names folders of this machine: ccache has the others for every checkout.
#include "places.hpp"

namespace hone::test {

const std::filesystem::path& source_dir() {
  static const std::filesystem::path path = HONE_SOURCE_DIR;
  return path;
}

const std::filesystem::path& build_dir() {
  static const std::filesystem::path path = HONE_BUILD_DIR;
  return path;
}

}  // namespace hone::test
