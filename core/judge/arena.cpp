// A backend's buffer and its descriptor.
#include "judge/arena.hpp"

#include <string>

#include "channel/control.hpp"
#include "plugin/call.hpp"

namespace hone {

Result<std::unique_ptr<Arena>> Arena::create(const Backend& backend, hone_device* device,
                                             std::uint64_t bytes, bool populated) {
  std::unique_ptr<Arena> arena(new Arena(backend));
  arena->bytes_ = page_round(bytes);
  const hone_backend_factory* factory = backend.factory();
  hone_error error = empty_error();
  std::int32_t fd = -1;
  if (factory->create_buffer(device, arena->bytes_, &arena->buffer_, &error) != HONE_OK ||
      factory->export_buffer(arena->buffer_, &fd, &error) != HONE_OK) {
    return Error{static_cast<Code>(error.code), std::string("arena: ") + error.message};
  }
  arena->fd_.reset(fd);
  arena->base_ = static_cast<char*>(factory->map_buffer(arena->buffer_));
  arena->populated_ = populated && arena->base_ != nullptr;
  if (arena->populated_) populate(arena->base_, arena->bytes_);
  return arena;
}

Result<std::vector<char>> Arena::read(std::uint64_t at, std::uint64_t bytes) const {
  if (base_ != nullptr)
    return std::vector<char>(base_ + at - origin_, base_ + at - origin_ + bytes);
  std::vector<char> copy(bytes);
  hone_error error = empty_error();
  if (backend_.factory()->read_buffer(buffer_, at - origin_, copy.data(), bytes, &error) != HONE_OK)
    return Error{static_cast<Code>(error.code), std::string("read arena: ") + error.message};
  return copy;
}

Arena::~Arena() { backend_.factory()->release_buffer(buffer_); }

}  // namespace hone
