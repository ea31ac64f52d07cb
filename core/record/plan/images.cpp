// Loaded images and their handles.
#include "record/plan/images.hpp"

namespace hone::record {

LoadedImage& Images::add(std::string bytes, std::string library, Cubin cubin) {
  auto image = std::make_unique<LoadedImage>();
  image->id = static_cast<std::uint32_t>(images_.size());
  image->bytes = std::move(bytes);
  image->library = std::move(library);
  image->cubin = std::move(cubin);
  for (const auto& [name, kernel] : image->cubin.kernels) {
    Function& function = image->functions[name];
    function.image = image.get();
    function.name = name;
    function.kernel = &kernel;
    function_handles_.insert(&function);
  }
  image_handles_.insert(image.get());
  images_.push_back(std::move(image));
  return *images_.back();
}

LoadedImage* Images::image(const void* handle) const {
  if (image_handles_.count(handle) == 0) return nullptr;
  return static_cast<LoadedImage*>(const_cast<void*>(handle));
}

Function* Images::function(const void* handle) const {
  if (function_handles_.count(handle) == 0) return nullptr;
  return static_cast<Function*>(const_cast<void*>(handle));
}

}  // namespace hone::record
