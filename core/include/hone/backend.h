/* Backends (draft 0): a layer over one kind of hardware. A draft must match the host's build exactly.
 *
 * The host loads a backend only to describe it; builders, judges and candidates load the same library, each in its own
 * process. A backend moves bytes and starts work. What makes a measurement trustworthy stands in core/judge, once.
 */
#ifndef HONE_BACKEND_H
#define HONE_BACKEND_H

#include "hone/abi.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HONE_BACKEND_FACTORY_ID "hone.backend/0"

typedef struct hone_device hone_device;     /* an opened device */
typedef struct hone_buffer hone_buffer;     /* memory that other processes can share: an arena */
typedef struct hone_artifact hone_artifact; /* a loaded artifact */
typedef struct hone_kernel hone_kernel;     /* an entry of a loaded artifact; lives as long as it */

/* Kinds of arguments. Unsigned numbers travel as signed ones of their size. */
typedef enum hone_argument_kind {
  HONE_ARGUMENT_BUFFER = 0, /* the address of byte `value` of the buffer */
  HONE_ARGUMENT_I32 = 1,
  HONE_ARGUMENT_I64 = 2,
  HONE_ARGUMENT_F32 = 3,
  HONE_ARGUMENT_F64 = 4
} hone_argument_kind;

#define HONE_ARGUMENTS_MAX 16u

typedef struct hone_launch {
  uint32_t struct_size;
  uint32_t count;         /* of values: as many as the kernel has arguments */
  const uint64_t* values; /* a buffer argument's offset, or a scalar's bits in its low bytes */
  uint32_t grid[3];       /* ignored where there is none */
  uint32_t block[3];
  uint32_t shared_bytes;
} hone_launch;

typedef struct hone_backend_factory {
  uint32_t struct_size;

  /* [any] Writes the MessagePack map {"summary": str, "devices": [{"index": int, "name": str, "cores": int}],
   * "languages": [str], "withholds": "freeze"|"stream"|"copy", "fingerprint": str}. Touches no device. */
  int32_t (*describe)(hone_bytes config, hone_sink* out, hone_error* error);

  /* Building: in a jailed, single-use process whose working folder is empty and writable. */

  /* [one] Builds. In: {"sources": [{"name": str, "text": str}], "language": str, "entry": str, "options": map}.
   * Out: {"ok": bool, "artifact": bin, "untrusted_host_code": bool, "diagnostics": str, "failure": str}.
   * A source that does not build is a result (ok=false), not an error; an error is a fault of the machine.
   * Diagnostics are raw: the host keeps what is located in the submission. */
  int32_t (*build)(const hone_host* host, hone_bytes request, hone_sink* out, hone_error* error);

  /* Devices and buffers: in judges and candidates. */

  /* [any] Opens a device. */
  int32_t (*open_device)(const hone_host* host, uint32_t index, hone_device** out,
                         hone_error* error);
  /* [one] Closes it; its buffers and artifacts must be gone. NULL is allowed. */
  void (*close_device)(hone_device* device);

  /* [one] Makes zeroed shared memory; `bytes` is a multiple of 4096. */
  int32_t (*create_buffer)(hone_device* device, uint64_t bytes, hone_buffer** out,
                           hone_error* error);
  /* [one] A file descriptor that another process can import; the caller closes it. The receiver cannot resize it. */
  int32_t (*export_buffer)(hone_buffer* buffer, int32_t* fd, hone_error* error);
  /* [one] Maps memory made by create_buffer in another process. Borrows the descriptor. */
  int32_t (*import_buffer)(hone_device* device, int32_t fd, uint64_t bytes, hone_buffer** out,
                           hone_error* error);
  /* [one] The address of byte 0 in this process' host memory, or NULL where the memory is the device's alone. */
  void* (*map_buffer)(hone_buffer* buffer);
  /* [one] Copies between host memory and the buffer, at byte `at` of it. */
  int32_t (*write_buffer)(hone_buffer* buffer, uint64_t at, const void* data, uint64_t size,
                          hone_error* error);
  int32_t (*read_buffer)(hone_buffer* buffer, uint64_t at, void* data, uint64_t size,
                         hone_error* error);
  /* [one] Makes whole pages of the buffer inaccessible (on = 1) or accessible (0) to work in this process, so that an
   * access beyond an array faults. NULL where the device cannot. */
  int32_t (*guard_buffer)(hone_buffer* buffer, uint64_t at, uint64_t bytes, int32_t on,
                          hone_error* error);
  /* [one] Unmaps; the last holder frees the memory. NULL is allowed. */
  void (*release_buffer)(hone_buffer* buffer);

  /* Running: in candidates. */

  /* [one] What loading will need and a sealed process can no longer open (libraries, caches). `threads`: cores granted. */
  int32_t (*prepare_load)(hone_device* device, uint32_t threads, hone_error* error);
  /* [one] Loads an artifact from a descriptor (borrowed). Runs its initialisers where it has any. */
  int32_t (*load)(hone_device* device, int32_t fd, hone_artifact** out, hone_error* error);
  /* [one] An entry and the kinds of its arguments. HONE_NOT_FOUND when the artifact has no such entry. */
  int32_t (*get_kernel)(hone_artifact* artifact, const char* entry, const uint32_t* kinds,
                        uint32_t count, hone_kernel** out, hone_error* error);
  /* [one] Starts work over one buffer; may return before it is done. */
  int32_t (*launch)(hone_kernel* kernel, hone_buffer* buffer, const hone_launch* launch,
                    hone_error* error);
  /* [one] Returns once all work launched on the device is done. */
  int32_t (*wait)(hone_device* device, hone_error* error);
} hone_backend_factory;

#ifdef __cplusplus
}
#endif
#endif
