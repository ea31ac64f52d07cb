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
typedef struct hone_buffer hone_buffer;     /* memory that can be shared with another process */
typedef struct hone_artifact hone_artifact; /* a loaded artifact */

/* How a buffer's bytes lie in its shared object: the payload starts at `offset`, ends at offset + bytes, and the whole
 * object holds `total` bytes (a multiple of the page). Behind a mapping stands an inaccessible page where the device
 * has such. */
typedef struct hone_layout {
  uint64_t offset;
  uint64_t bytes;
  uint64_t total;
} hone_layout;

/* One argument of a launch. */
typedef struct hone_argument {
  uint32_t kind;       /* 0: buffer; 1: scalar */
  uint32_t size;       /* scalar: its bytes (4 or 8) */
  hone_buffer* buffer; /* buffer: what to pass the address of (payload) */
  uint64_t value;      /* scalar: its bits, little-endian */
} hone_argument;

typedef struct hone_launch {
  uint32_t struct_size;
  const char* entry;              /* the function to call or launch */
  const hone_argument* arguments; /* in the order of the entry's parameters */
  uint32_t argument_count;        /* at most 16 */
  uint32_t grid[3];               /* ignored where there is none */
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
  int32_t (*open_device)(const hone_host* host, uint32_t index, hone_device** out, hone_error* error);
  /* [one] Closes it; its buffers and artifacts must be gone. */
  void (*close_device)(hone_device* device);

  /* [one] Makes shared memory with this layout; zeroed. */
  int32_t (*create_buffer)(hone_device* device, const hone_layout* layout, hone_buffer** out, hone_error* error);
  /* [one] A file descriptor that another process can import; the caller closes it. The receiver cannot resize it. */
  int32_t (*export_buffer)(hone_buffer* buffer, int32_t* fd, hone_error* error);
  /* [one] Maps memory made by create_buffer in another process. Borrows the descriptor. */
  int32_t (*import_buffer)(hone_device* device, int32_t fd, const hone_layout* layout, hone_buffer** out,
                           hone_error* error);
  /* [one] The address of byte 0 of the object in this process' host memory, or NULL where it has none. */
  void* (*map_buffer)(hone_buffer* buffer);
  /* [one] Copies between host memory and the object, at byte `at` of it. */
  int32_t (*write_buffer)(hone_buffer* buffer, uint64_t at, const void* data, uint64_t size, hone_error* error);
  int32_t (*read_buffer)(hone_buffer* buffer, uint64_t at, void* data, uint64_t size, hone_error* error);
  /* [one] Unmaps; the last holder frees the memory. NULL is allowed. */
  void (*release_buffer)(hone_buffer* buffer);

  /* Running: in candidates. */

  /* [one] Loads an artifact from a descriptor (borrowed). Runs its initialisers where it has any. */
  int32_t (*load)(hone_device* device, int32_t fd, hone_artifact** out, hone_error* error);
  /* [one] Checks that the artifact has this entry. */
  int32_t (*has_entry)(hone_artifact* artifact, const char* entry, hone_error* error);
  /* [one] Starts work; may return before it is done. */
  int32_t (*launch)(hone_artifact* artifact, const hone_launch* launch, hone_error* error);
  /* [one] Returns once all work launched on the device is done. */
  int32_t (*wait)(hone_device* device, hone_error* error);
} hone_backend_factory;

#ifdef __cplusplus
}
#endif
#endif
