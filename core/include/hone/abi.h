/* The plugin ABI, version 1: what every plugin exports and what the host hands it.
 *
 * Conventions
 *  - A plugin exports one data symbol, `hone_plugin_entry`. The host reads its numbers before it calls anything.
 *  - Compatible when the majors are equal and the plugin's minor is not newer than the host's.
 *  - Every struct begins with `struct_size`, set by whoever made it; members are only ever appended. A reader
 *    looks at a member only if struct_size covers it.
 *  - Bytes going in are borrowed for the call. Bytes coming out go through a host sink. Errors go into a
 *    hone_error that the caller owns. No memory, exception or C++ type crosses.
 *  - Open-ended data is MessagePack, the same schema as on the wire: docs/plugins.md.
 *  - Threads: [any] any thread, also several at once; [one] one thread at a time for one handle.
 *  - Text is UTF-8 and ends with NUL; it is borrowed for the call unless said otherwise.
 */
#ifndef HONE_ABI_H
#define HONE_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HONE_ABI_MAJOR 1u
#define HONE_ABI_MINOR 0u

#if defined(__GNUC__)
#define HONE_EXPORT __attribute__((visibility("default")))
#else
#define HONE_EXPORT
#endif

/* Codes of expected failures; the same in C, in C++ (base/result.hpp) and on the wire. */
typedef enum hone_code {
  HONE_OK = 0,
  HONE_INVALID_ARGUMENT = 1,    /* the caller must change what it asks */
  HONE_NOT_FOUND = 2,           /* the thing named does not exist */
  HONE_FAILED_PRECONDITION = 3, /* right question, wrong moment: turn out of order, episode over */
  HONE_RESOURCE_EXHAUSTED = 4,  /* a limit was reached: quota, size, queue; later or smaller */
  HONE_DEADLINE_EXCEEDED = 5,   /* it took longer than allowed */
  HONE_CANCELLED = 6,           /* the caller asked to stop */
  HONE_UNAVAILABLE = 7,         /* a fault of the machine or of hone that may pass: try again */
  HONE_UNIMPLEMENTED = 8,       /* this version or this plugin does not do that */
  HONE_INTERNAL = 9             /* a fault of hone or of a plugin */
} hone_code;

/* Borrowed bytes. data may be NULL when size is 0. */
typedef struct hone_bytes {
  const uint8_t* data;
  size_t size;
} hone_bytes;

/* Filled by whoever fails. The caller sets struct_size and zeroes the rest; message is cut to fit. */
typedef struct hone_error {
  uint32_t struct_size;
  int32_t code; /* hone_code */
  char message[504];
} hone_error;

/* Where a call writes its result. write() may be called several times; it copies, and returns a hone_code. */
typedef struct hone_sink {
  uint32_t struct_size;
  void* self;
  int32_t (*write)(void* self, const void* data, size_t size);
} hone_sink;

typedef enum hone_log_level {
  HONE_LOG_DEBUG = 0,
  HONE_LOG_INFO = 1,
  HONE_LOG_WARNING = 2,
  HONE_LOG_ERROR = 3
} hone_log_level;

/* The host's services. Lives as long as the handle it was given to. Plugins link nothing of the host. */
typedef struct hone_host {
  uint32_t struct_size;
  void* self;

  /* [any] Writes a line to the host's log, marked with the plugin's name. */
  void (*log)(void* self, int32_t level, const char* message);

  /* [any] 1 when the call under way should give up and return HONE_CANCELLED, else 0. */
  int32_t (*cancelled)(void* self);

  /* [any] Nanoseconds of a clock that never goes back. */
  uint64_t (*now_ns)(void* self);

  /* [any] A folder that is the plugin's own to write to, or "" when it has none. */
  const char* (*workdir)(void* self);

  /* [any] Parses YAML. Writes to `out` the MessagePack map
   *   {"value": <the document>, "lines": {"<JSON pointer>": <line, from 1>, …}}
   * `name` stands in error messages ("name:line: …"). Returns a hone_code. */
  int32_t (*parse_yaml)(void* self, hone_bytes text, const char* name, hone_sink* out,
                        hone_error* error);
} hone_host;

/* What a plugin exports, as `hone_plugin_entry`. All text is static. */
typedef struct hone_plugin {
  uint32_t struct_size;
  uint32_t abi_major;
  uint32_t abi_minor;
  const char* name;    /* [a-z0-9_]+ */
  const char* version; /* the plugin's own, e.g. "1.2.0" */

  /* [any] The factory with this id ("hone.reward/1", …) or NULL. Static; no side effects. */
  const void* (*get_factory)(const char* id);
} hone_plugin;

extern HONE_EXPORT const hone_plugin hone_plugin_entry;

#ifdef __cplusplus
}
#endif
#endif
