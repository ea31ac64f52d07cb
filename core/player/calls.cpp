#include "player/calls.hpp"

#include <fcntl.h>

#include <algorithm>

#include "base/unique_fd.hpp"
#include "plugin/call.hpp"

namespace hone {
namespace {

std::int64_t number_in(const Value& map, const char* name) {
  const Value* found = map.find(name);
  return found != nullptr && found->is_int() ? found->as_int() : 0;
}

std::size_t size_of(const Value& buffer) {
  return static_cast<std::size_t>(std::max<std::int64_t>(number_in(buffer, "bytes"), 1));
}

}  // namespace

const Value::Array& list_in(const Value& map, const char* name) {
  static const Value::Array empty;
  const Value* found = map.find(name);
  return found != nullptr && found->is_array() ? found->as_array() : empty;
}

Status checked(std::int32_t code, const hone_error& error, const std::string& what) {
  if (code == HONE_OK) return {};
  return Error{static_cast<Code>(code), what + ": " + error.message};
}

Status CallPlayer::open(const std::string& library, std::uint32_t index) {
  HONE_ASSIGN(backend_, Backend::load(library));
  table_ = backend_->factory();
  if (table_->create_exact_buffer == nullptr)
    return failed_precondition("the backend makes no buffers of exact sizes");
  hone_error error = empty_error();
  return checked(table_->open_device(backend_->host(), index, &device_, &error), error,
                 "open device");
}

Status CallPlayer::load(const Value& request) {
  const UniqueFd artifact(::open(kArtifactFile, O_RDONLY | O_CLOEXEC));
  hone_error error = empty_error();
  HONE_TRY(checked(table_->load(device_, artifact.get(), &artifact_, &error), error, "load"));
  kernels_.clear();
  for (const Value& kernel : list_in(request, "kernels")) {
    std::vector<std::uint32_t> kinds;
    for (const Value& kind : list_in(kernel, "kinds")) {
      const auto number = static_cast<std::uint32_t>(kind.as_int());
      // Each buffer is an allocation of its own, so it is passed as an address.
      constexpr std::uint32_t kAddress = HONE_ARGUMENT_ADDRESS;
      kinds.push_back(number == HONE_ARGUMENT_BUFFER ? kAddress : number);
    }
    hone_kernel* found = nullptr;
    HONE_TRY(checked(
        table_->get_kernel(artifact_, kernel.find("name")->as_string().c_str(), kinds.data(),
                           static_cast<std::uint32_t>(kinds.size()), &found, &error),
        error, "entry"));
    kernels_.push_back(found);
  }
  return {};
}

Status CallPlayer::make_buffers(const Value& call) {
  buffers_.clear();
  std::size_t number = 0;
  for (const Value& buffer : list_in(call, "buffers")) HONE_TRY(add_buffer(buffer, number++));
  return {};
}

Status CallPlayer::restore(const Value& call) {
  std::size_t number = 0;
  for (const Value& buffer : list_in(call, "buffers")) {
    hone_buffer* const to = buffers_.at(number++);
    if (const Value* changes = buffer.find("restore");
        changes != nullptr && *changes == Value(true))
      HONE_TRY(fill(to, buffer));
  }
  return {};
}

Status CallPlayer::launch(const Value& call) {
  for (const Value& one : list_in(call, "launches")) HONE_TRY(start(one));
  return {};
}

Status CallPlayer::wait() {
  hone_error error = empty_error();
  return checked(table_->wait(device_, &error), error, "run");
}

void CallPlayer::release() {
  for (hone_buffer* buffer : buffers_) table_->release_buffer(buffer);
  buffers_.clear();
}

Status CallPlayer::add_buffer(const Value& buffer, std::size_t number) {
  hone_error error = empty_error();
  hone_buffer* made = nullptr;
  HONE_TRY(checked(table_->create_exact_buffer(device_, size_of(buffer), &made, &error), error,
                   "memory for a buffer"));
  buffers_.push_back(made);
  if (made_) made_(number, table_->buffer_address(made));
  return fill(made, buffer);
}

Status CallPlayer::fill(hone_buffer* to, const Value& buffer) {
  const std::size_t bytes = size_of(buffer);
  hone_error error = empty_error();
  const auto write = [&](std::size_t at, const std::string& contents) {
    return checked(table_->write_buffer(to, at, contents.data(),
                                        std::min(contents.size(), bytes - at), &error),
                   error, "fill a buffer");
  };
  const Value* data = buffer.find("data");
  if (data == nullptr) return {};  // poisoned by the backend
  const std::string& contents = data->as_bytes();
  for (std::size_t at = 0; at < bytes && !contents.empty(); at += contents.size())
    HONE_TRY(write(at, contents));
  return {};
}

Status CallPlayer::start(const Value& asked) {
  hone_launch launch{};
  launch.struct_size = sizeof launch;
  const auto copy = [&](const char* name, std::uint32_t* to) {
    const auto& from = list_in(asked, name);
    for (std::size_t i = 0; i < 3 && i < from.size(); ++i)
      to[i] = static_cast<std::uint32_t>(from[i].as_int());
  };
  copy("grid", launch.grid);
  copy("block", launch.block);
  copy("cluster", launch.cluster);
  launch.shared_bytes = static_cast<std::uint32_t>(number_in(asked, "shared_bytes"));
  launch.flags = static_cast<std::uint32_t>(number_in(asked, "flags"));
  std::vector<std::uint64_t> values;
  for (const Value& argument : list_in(asked, "arguments")) {
    if (argument.find("buffer") == nullptr) {
      values.push_back(static_cast<std::uint64_t>(number_in(argument, "value")));
      continue;
    }
    const auto number = static_cast<std::size_t>(number_in(argument, "buffer"));
    values.push_back(table_->buffer_address(buffers_.at(number)));
  }
  launch.count = static_cast<std::uint32_t>(values.size());
  launch.values = values.data();
  hone_error error = empty_error();
  const auto kernel = static_cast<std::size_t>(number_in(asked, "kernel"));
  return checked(table_->launch(kernels_.at(kernel), buffers_.at(0), &launch, &error), error,
                 "launch");
}

}  // namespace hone
