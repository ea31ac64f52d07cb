/* Datasets: a plugin that lists tasks and hands them out. */
#ifndef HONE_DATASET_H
#define HONE_DATASET_H

#include "hone/abi.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HONE_DATASET_FACTORY_ID "hone.dataset/1"

typedef struct hone_dataset hone_dataset; /* opaque, made by open() */

typedef struct hone_dataset_factory {
  uint32_t struct_size;

  /* [any] Writes the MessagePack map {"summary": str, "parameters": {…}} as rewards do. */
  int32_t (*describe)(hone_sink* out, hone_error* error);

  /* [any] Opens a dataset from its configuration (MessagePack map; for most, {"path": str}). Reads and checks every
   * task: a mistake is an error "file:line: found …, expected …". `host` outlives the handle. */
  int32_t (*open)(const hone_host* host, hone_bytes config, hone_dataset** out, hone_error* error);

  /* [any] Writes the MessagePack array [{"id": str, "title": str, "split": str, "tags": [str], "backends": [str]}, …],
   * in a fixed order. */
  int32_t (*list)(hone_dataset* dataset, hone_sink* out, hone_error* error);

  /* [any] Writes one task, the MessagePack map of docs/tasks.md, or fails with HONE_NOT_FOUND. */
  int32_t (*get)(hone_dataset* dataset, const char* id, hone_sink* out, hone_error* error);

  /* [one] Frees the handle. NULL is allowed. */
  void (*close)(hone_dataset* dataset);
} hone_dataset_factory;

#ifdef __cplusplus
}
#endif
#endif
