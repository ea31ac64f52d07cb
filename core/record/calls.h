/* The recording driver's own functions, for a process that records its device work. hone's libcuda.so.1
 * exports them, next to the driver's public functions. Thread-safe.
 *
 *   hone_record_begin("{\"architecture\": \"sm_90a\", \"memory_bytes\": 85028765696}");
 *   a = hone_record_task_memory(0, 4096);  ...  // load and build the module
 *   hone_record_run_begin();  ...  // call it
 *   hone_record_result(y, 4096, 1);
 *   hone_record_run_end();
 *   if (!hone_record_finish(&bytes, &size)) puts(hone_record_problem());
 *
 * A function that returns int returns 1 for success and 0 otherwise. */
#ifndef HONE_RECORD_CALLS_H
#define HONE_RECORD_CALLS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Starts recording. `device_json`: facts of the device, all optional: architecture and name
 * (texts), memory_bytes, cache_bytes, multiprocessors, block_threads, shared_bytes (numbers), and
 * attributes, which maps numbers of device attributes (as texts) to values. May be called once in a process. */
int hone_record_begin(const char* device_json);

/* The address of new memory for the task's tensor `argument`; 0 if no addresses are left. */
uint64_t hone_record_task_memory(uint32_t argument, uint64_t bytes);

/* Makes an allocation the task's tensor `argument`. Fails unless the last run made the allocation,
 * with this address and size. */
int hone_record_result(uint64_t address, uint64_t bytes, uint32_t argument);

/* Records a call of an operator: {"name", "arguments", "keywords", "tensors": [{"address", "dtype",
 * "sizes", "strides"}], "results": [indices of tensors], "stream": handle, default 0}. */
int hone_record_operator(const char* call_json);

/* Adds an autotuned kernel to the current run: {"key": arguments, "configurations": [parameters],
 * "left_out": [{"configuration": parameters, "reason"}]}, with texts of at most 200 printable ASCII characters. Returns
 * its number in the run, from 1; 0 if it fails. */
uint32_t hone_record_autotuned(const char* kernel_json);

/* Assigns further work of a run to a configuration (from 0) of an autotuned kernel (from 1). The process that
 * replays the plan chooses one configuration. 0, 0: the work always runs. */
int hone_record_configuration(uint32_t tuned, uint32_t configuration);

int hone_record_run_begin(void);
int hone_record_run_end(void);

/* A digest of the last run, without its setup; equal runs have equal digests. */
uint64_t hone_record_run_digest(void);

/* The file of the plan of the last run. The bytes stay until the next call. */
int hone_record_finish(const char** bytes, uint64_t* size);

/* Makes the recording fail for the caller's reason: it cannot become a plan. */
void hone_record_fail(const char* reason);

/* The first reason why the recording cannot become a plan; empty if there is none. */
const char* hone_record_problem(void);

#ifdef __cplusplus
}
#endif

#endif
