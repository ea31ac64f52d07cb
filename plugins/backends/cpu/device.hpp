// The cpu backend's device: shared arenas, loading of shared libraries, and calls of their
// functions.
#pragma once

#include <string>

#include "hone/backend.h"
#include "hone/plugin.hpp"

namespace hone_cpu {

/// The processor's name, as the kernel says it.
std::string processor_name();

int32_t open_device(const hone_host* host, uint32_t index, hone_device** out, hone_error* error);
void close_device(hone_device* device);
/// What hone_backend_factory::facts writes.
hone::plugin::Value device_facts(const hone_device& device);
int32_t facts(hone_device* device, hone_sink* out, hone_error* error);
int32_t create_buffer(hone_device* device, uint64_t bytes, hone_buffer** out, hone_error* error);
int32_t export_buffer(hone_buffer* buffer, int32_t* fd, hone_error* error);
int32_t import_buffer(hone_device* device, int32_t fd, uint64_t bytes, hone_buffer** out,
                      hone_error* error);
void* map_buffer(hone_buffer* buffer);
int32_t write_buffer(hone_buffer* buffer, uint64_t at, const void* data, uint64_t size,
                     hone_error* error);
int32_t read_buffer(hone_buffer* buffer, uint64_t at, void* data, uint64_t size, hone_error* error);
int32_t copy_buffer(hone_buffer* to, uint64_t to_at, hone_buffer* from, uint64_t from_at,
                    uint64_t size, hone_error* error);
int32_t read_rows(hone_buffer* buffer, uint64_t at, uint64_t pitch, uint64_t width, uint64_t rows,
                  void* data, hone_error* error);
int32_t pin_memory(hone_device* device, uint64_t bytes, void** out, hone_error* error);
uint64_t buffer_address(hone_buffer* buffer);
int32_t guard_buffer(hone_buffer* buffer, uint64_t at, uint64_t bytes, int32_t on,
                     hone_error* error);
void release_buffer(hone_buffer* buffer);
int32_t prepare_load(hone_device* device, uint32_t threads, hone_error* error);
int32_t load(hone_device* device, int32_t fd, hone_artifact** out, hone_error* error);
void unload(hone_artifact* artifact);
int32_t get_kernel(hone_artifact* artifact, const char* entry, const uint32_t* kinds,
                   uint32_t count, hone_kernel** out, hone_error* error);
int32_t launch(hone_kernel* kernel, hone_buffer* buffer, const hone_launch* launch,
               hone_error* error);
int32_t wait(hone_device* device, hone_error* error);
int32_t use_python(hone_device* device, const hone_python* python, hone_error* error);

}  // namespace hone_cpu
