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
typedef struct hone_counters hone_counters; /* hardware counters of a device, while they are read */

/* Kinds of arguments. Unsigned numbers travel as signed ones of their size. */
typedef enum hone_argument_kind {
  HONE_ARGUMENT_BUFFER = 0, /* the address of byte `value` of the buffer */
  HONE_ARGUMENT_I32 = 1,
  HONE_ARGUMENT_I64 = 2,
  HONE_ARGUMENT_F32 = 3,
  HONE_ARGUMENT_F64 = 4,
  HONE_ARGUMENT_ADDRESS = 5 /* an address that buffer_address gave: trusted callers only */
} hone_argument_kind;

#define HONE_ARGUMENTS_MAX 16u

/* A kernel's blocks may wait for each other: all of them must fit on the device at once. */
#define HONE_LAUNCH_COOPERATIVE 1u

typedef struct hone_launch {
  uint32_t struct_size;
  uint32_t count;         /* of values: as many as the kernel has arguments */
  const uint64_t* values; /* a buffer argument's offset, or a scalar's bits in its low bytes */
  /* Ignored where there is no such thing. */
  uint32_t grid[3];    /* blocks */
  uint32_t block[3];   /* threads */
  uint32_t cluster[3]; /* blocks; all 0: no clusters */
  uint32_t shared_bytes;
  uint32_t flags; /* HONE_LAUNCH_* */
} hone_launch;

/* Hardware counters of one launch. NaN: the device does not count it. */
typedef struct hone_launch_counters {
  uint32_t struct_size;
  uint32_t reserved;           /* 0 */
  double seconds;              /* from its start on the device to its end */
  double memory_read_bytes;    /* from the device's memory */
  double memory_written_bytes; /* to the device's memory, before the launch ended */
  double cache_read_bytes;     /* by multiprocessors, from the cache that all of them share */
  double cache_written_bytes;  /* the same, to it */
  double load_sectors;         /* sectors of 32 bytes that loads of global memory touch */
  double load_requests;        /* loads of global memory, each of a whole warp */
  double store_sectors;        /* the same two of stores */
  double store_requests;
  double local_bytes;    /* of local memory, which holds spilled registers and arrays of a thread */
  double bank_conflicts; /* extra cycles of accesses to shared memory */
  double
      active_warps; /* warps on a multiprocessor while it works, as a share of the most that it can hold */
} hone_launch_counters;

/* A Python interpreter that loads and runs modules for a backend, in candidates. [one] Each answers with a hone_code and
 * writes words of at most `words_size` bytes, a zero among them, where it fails. */
typedef enum hone_python_flags {
  /* It failed for an extension of torch's that was not built, and the machine may be the reason. */
  HONE_PYTHON_HINDERED_HOST = 1,
  HONE_PYTHON_HINDERED_DEVICE = 2, /* the same of one with kernels */
  HONE_PYTHON_WARNS = 4            /* its words are a warning */
} hone_python_flags;

typedef struct hone_python {
  uint32_t struct_size;
  uint32_t
      on_device; /* 1: the process is sealed before it opens the device; 0: it opens the device at once */
  /* NULL: the interpreter loads no modules. It only calls the operators of recorded plans. */
  int32_t (*load)(const void* artifact, uint64_t size, char* words, uint64_t words_size);
  /* An entry of what was loaded, by a number of its own. */
  int32_t (*get_kernel)(const char* entry, int32_t* number, char* words, uint64_t words_size);
  /* `values`: as hone_launch has them, of the memory at `base`, the device's where modules compute there. May return
   * before the device is done. */
  int32_t (*launch)(int32_t number, void* base, uint64_t bytes, const uint64_t* values,
                    uint64_t count, char* words, uint64_t words_size);
  /* `begins` 1: what the next launch does is counted; 0: writes the counts as JSON and a zero,
   * {"kernels": {name: int}, "operators": {name: int}}. May be NULL. */
  void (*observe)(int32_t begins, char* words, uint64_t words_size);
  /* The backend's device of that number has just been opened, and nothing is loaded yet: whatever a first use of it
   * takes. May be NULL. */
  int32_t (*open)(uint32_t device, char* words, uint64_t words_size);
  /* Gives back memory of the device that is kept and not used. May be NULL. */
  void (*trim)(void);
  /* Of the last load, get_kernel, launch or finish, hone_python_flags: what its words are about. */
  uint32_t (*flags)(void);
  /* The backend runs recorded plans (recorded_plan.hpp), and the interpreter calls their operators. `plan`: a number that
   * the backend chooses. `list`: the plan's operators as MessagePack, those of its setup and then those of its run,
   * [{"name": str, "arguments": [any], "keywords": map, "settings": {str: bool}, "tensors": [{"dtype": str, "sizes": [int], "strides": [int]}],
   * "results": [int]}], strides in elements. `arguments` and `keywords` name a tensor as {"tensor": its number} and a
   * dtype as {"dtype": str}; `results` are the numbers of the tensors that get the operator's results. The plan was
   * written by an untrusted process. Only types, numbers of tensors and their extents were checked, so the interpreter
   * must refuse operators that it does not trust. `size` 0: the plan is unloaded. NULL if `operate` is NULL. */
  int32_t (*load_operators)(uint64_t plan, const void* list, uint64_t size, char* words,
                            uint64_t words_size);
  /* Calls operator `number` of the list, from 0. `stream`: the handle of the device's stream to use. `addresses`: the
   * device addresses of its tensors. Must not wait for the device, because the stream may be captured into a graph.
   * Memory that the call allocates must then stay valid until the plan is unloaded. */
  int32_t (*operate)(uint64_t plan, uint32_t number, const uint64_t* addresses, uint64_t count,
                     uint64_t stream, char* words, uint64_t words_size);
  /* Called after the last launch of a round. Does the work that `launch` has deferred, for all calls together. May return
   * before the device is done. May be NULL. */
  int32_t (*finish)(char* words, uint64_t words_size);
} hone_python;

typedef struct hone_backend_factory {
  uint32_t struct_size;

  /* [any] Writes a MessagePack map. Touches no device: the host calls this in its own process.
   *   "summary": str, one line; "fingerprint": str, devices and driver.
   *   "devices": [{"index": int, "name": str, "cores": int}].
   *   "languages": [str]. The first one is that of device code, if submissions are device code.
   *   "suffixes": {language: str}, the suffix of a submission's file name for each language, such as ".cu".
   *   "withholds": "freeze"|"stream"|"copy". "freeze" is for the processor only: submissions are host code. With the other two,
   *     which mean the same, submissions are device code.
   * These members may be missing:
   *   "needs": {"driver": str, "compiler": str}: instructions to install a missing driver or compiler.
   *   "parameters": {name: {"type": "str"|"int"|"float"|"bool"|"[str]", "default": value, "doc": str}}: the keys of the
   *     backend's section of the configuration, in the order in which people read them. hone checks the values, and build
   *     gets them as options. A parameter may have "range": [low, high], "choices": [str], and "path": "file"|"folder":
   *     builders may read that folder, or the folder of that file. hone has keys of its own in the section (docs/backends.md).
   *   "device_nodes": [str], such as "/dev/NAME" or "/dev/NAME*": character devices that sandboxed processes may open.
   *   "driver_folders": [str]: folders below /usr, /opt or /sys that the driver reads, besides the system's libraries.
   *   "replays_plans": bool: it replays recorded plans of modules (recorded_plan.hpp).
   *   "reports": [str]: the reports that build can add (see build).
   *   "sanitizer": {"parameter": str, "program": str, "help": str, "runs": [{"name": str, "arguments": [str]}]}: a
   *     program that checks the memory accesses of device code. "parameter": the parameter that can hold the path of
   *     another one; "program": its path, "" if none was found; "help": instructions to install it. hone starts it once
   *     for each run, with the run's arguments, in which "{report}" stands for the path of a file that the program
   *     writes, and then a command that launches a submission's plan. hone reads reports in the format of
   *     compute-sanitizer.
   *   "counters": {"parameter": str, "help": str, "libraries": [str], "packages": [str], "symbols": [str]}: a library that
   *     reads hardware counters. "parameter": the parameter that can hold its path; "help": instructions to install it;
   *     "libraries": paths where it may be, in the order of preference; "packages": the same in Python's site-packages;
   *     "symbols": functions that it must have. hone takes the first library with all of them.
   *   "harness": {"kernels": str, "known_answer": str}: core/judge/harness/harness.cu and known_answer.cu in the backend's
   *     first language. For a member that is missing, build gets the file as it is, in C++ with __global__ kernels. */
  int32_t (*describe)(hone_bytes config, hone_sink* out, hone_error* error);

  /* [one] Touches devices: in a process of its own, which may die of it. Writes the MessagePack map {"driver": str,
   * "compiler": str, "devices": [map]}; a device's members are facts() of it, or {"index": int, "name": str,
   * "error": str}. Besides facts a device may have, figures that are not known being 0: "clocks": {"core_hz_max",
   * "core_hz", "memory_hz_max", "memory_hz": float}, "throttle_known": bool, "cooperative": bool, "peers": [int], the
   * devices whose memory it reaches, and "sharing": str, "" where memory was exported, imported and read back. HONE_UNAVAILABLE with the reason where there is no driver or no device. */
  int32_t (*probe)(const hone_host* host, hone_sink* out, hone_error* error);

  /* Building: in a jailed, single-use process whose working folder is empty and writable. */

  /* [one] Builds. In: {"sources": [{"name": str, "text": str}], "language": str, "entries": [str], "options": map}.
   * An entry is the C name of a function or kernel, or, where devices start blocks of threads, an expression that names
   * an instance of a template ("scale<float, 4>"); get_kernel takes the same text. Options are the backend's parameters,
   * "seconds", "threads", "version" and "architecture": that of facts, unless a parameter of this name is set.
   * Out: {"ok": bool, "artifact": bin, "untrusted_host_code": bool, "diagnostics": str, "failure": str}, and where the
   * option "version" is true "toolchain": str, the compiler in a line that is the same for as long as it is.
   * "failure": "refused" (by the compiler), "timed_out" (over its processor time, RLIMIT_CPU of this process, or over
   * options' "seconds" by the clock), "out_of_memory" or "killed"; "" where ok. The host has limits of its own, and ends
   * this process at them. It decides from the kernel's counts whether other processes had the cores.
   * A source that does not build is a result (ok=false), not an error; an error is a fault of the machine, or
   * HONE_INVALID_ARGUMENT for a language, a number of sources or a source's name that the backend does not take.
   * Diagnostics are raw: the host keeps what is located in the submission.
   *
   * The option "report" names a report. A result that is ok then has the member "report", whose texts are untrusted:
   *   "code", of the first source: {"assembly": str (assembler text or PTX, with .loc lines where the compiler can write them), "remarks": str
   *     (the compiler's messages about its optimisations, or about registers and memory)}.
   *   "sanitizer": {"output": str, "status": int (exit status, or 128 + the signal's number), "timed_out": bool (the program
   *     met its time limit)}. The sources are a program
   *     here: the last one is a driver in C that calls the entries. It is built with the address and undefined-behaviour
   *     sanitizers and run once. The request's "files": [{"name": str, "bytes": bin}] are written for it. There is no
   *     artifact. */
  int32_t (*build)(const hone_host* host, hone_bytes request, hone_sink* out, hone_error* error);

  /* Devices and buffers: in judges and candidates. */

  /* [any] Opens a device. HONE_NOT_FOUND where there is none of this index; cores are any number of devices. */
  int32_t (*open_device)(const hone_host* host, uint32_t index, hone_device** out,
                         hone_error* error);
  /* [one] Closes it; its buffers and artifacts must be gone. A null handle is allowed. */
  void (*close_device)(hone_device* device);
  /* [one] Writes the MessagePack map {"index": int, "name": str, "architecture": str, "driver": str, "memory_bytes":
   * int, "cache_bytes": int, "multiprocessors": int, "bytes_per_second_max": float (of all units together, caches
   * included), "dram_bytes_per_second": float, "host_memory_reachable": bool, "limits": {"grid": [int],
   * "block": [int], "block_threads": int, "shared_bytes": int, "cluster": int}, "throttled": [str]}, figures that
   * are not known being 0. All but "throttled" stay the same while the device is open. It may have "flops_per_second_max":
   * {"f32": float, "f64": float}: floating-point operations per second by precision, without matrix units; both are optional. It may have
   * "other_nodes": [str], the device nodes of the machine's other devices, and those that no computation needs. Processes
   * of submissions then do not see these nodes, and find the device under index 0. */
  int32_t (*facts)(hone_device* device, hone_sink* out, hone_error* error);

  /* [one] Makes zeroed shared memory; `bytes` is a multiple of 4096, and not 0. What lies beyond a buffer is refused
   * with HONE_INVALID_ARGUMENT by each function that copies. */
  int32_t (*create_buffer)(hone_device* device, uint64_t bytes, hone_buffer** out,
                           hone_error* error);
  /* [one] A file descriptor that another process can import; the caller closes it. The receiver cannot resize it. */
  int32_t (*export_buffer)(hone_buffer* buffer, int32_t* fd, hone_error* error);
  /* [one] Maps memory made by create_buffer, in another process or this one. Borrows the descriptor. Refuses what is no
   * such memory, and more of it than there is. */
  int32_t (*import_buffer)(hone_device* device, int32_t fd, uint64_t bytes, hone_buffer** out,
                           hone_error* error);
  /* [one] The address of byte 0 in this process' host memory, or NULL where the memory is the device's alone. */
  void* (*map_buffer)(hone_buffer* buffer);
  /* [one] Copies between host memory and the buffer, at byte `at` of it. */
  int32_t (*write_buffer)(hone_buffer* buffer, uint64_t at, const void* data, uint64_t size,
                          hone_error* error);
  int32_t (*read_buffer)(hone_buffer* buffer, uint64_t at, void* data, uint64_t size,
                         hone_error* error);
  /* [one] Copies within the device, in order with launches; may return before it is done. The buffers may be one:
   * HONE_INVALID_ARGUMENT where its stretches overlap. */
  int32_t (*copy_buffer)(hone_buffer* to, uint64_t to_at, hone_buffer* from, uint64_t from_at,
                         uint64_t size, hone_error* error);
  /* [one] Reads `rows` stretches of `width` bytes, `pitch` apart and no wider than that, the first at `at`, into `data`
   * (from pin_memory, or slower), side by side. Does not wait for the work of other processes on the device, and does not make the device
   * change to this process where it can be helped: how a judge looks at outputs under its clock. */
  int32_t (*read_rows)(hone_buffer* buffer, uint64_t at, uint64_t pitch, uint64_t width,
                       uint64_t rows, void* data, hone_error* error);
  /* [one] Host memory that the device's copies are quick with; until the device is closed. */
  int32_t (*pin_memory)(hone_device* device, uint64_t bytes, void** out, hone_error* error);
  /* [one] The address of byte 0 as the device's code in this process sees it. */
  uint64_t (*buffer_address)(hone_buffer* buffer);
  /* [one] Makes whole pages of the buffer inaccessible (on = 1) or accessible (0) to work in this process, so that an
   * access beyond an array faults. NULL where the device cannot. */
  int32_t (*guard_buffer)(hone_buffer* buffer, uint64_t at, uint64_t bytes, int32_t on,
                          hone_error* error);
  /* [one] Unmaps; the last holder frees the memory. A null handle is allowed. */
  void (*release_buffer)(hone_buffer* buffer);

  /* Running: in candidates. */

  /* [one] What loading will need and a sealed process can no longer open (libraries, caches). `threads`: cores granted. */
  int32_t (*prepare_load)(hone_device* device, uint32_t threads, hone_error* error);
  /* [one] Loads an artifact from a descriptor (borrowed). Runs its initialisers where it has any. Refuses one that is
   * cut short or for another machine. */
  int32_t (*load)(hone_device* device, int32_t fd, hone_artifact** out, hone_error* error);
  /* [one] Unloads it, and its kernels with it; nothing of it may be running. NULL is allowed, and so is a backend that
   * keeps it loaded. */
  void (*unload)(hone_artifact* artifact);
  /* [one] An entry and the kinds of its arguments. HONE_NOT_FOUND when the artifact has no such entry. A recorded plan
   * has one entry, which any name finds: the task's tensor number n is argument n, a buffer. */
  int32_t (*get_kernel)(hone_artifact* artifact, const char* entry, const uint32_t* kinds,
                        uint32_t count, hone_kernel** out, hone_error* error);
  /* [one] Starts work over one buffer; may return before it is done. HONE_INVALID_ARGUMENT: the device cannot start
   * such a launch; HONE_RESOURCE_EXHAUSTED: too large for it; HONE_NOT_FOUND: what ran gave other outputs than the
   * task has, as the message says; otherwise as wait. */
  int32_t (*launch)(hone_kernel* kernel, hone_buffer* buffer, const hone_launch* launch,
                    hone_error* error);
  /* [one] Returns once all work launched on the device by this process is done. HONE_FAILED_PRECONDITION: the code
   * that ran did what it must not (the message names it), and the process can use the device no more;
   * HONE_UNAVAILABLE: the device itself failed. */
  int32_t (*wait)(hone_device* device, hone_error* error);
  /* [one] The device's own clock, for comparison with a judge's and for nothing else. mark() puts mark 0 or 1 behind all
   * work launched so far; between_marks(), once wait() has said that all is done, writes the seconds from mark 0 to
   * mark 1. Both NULL where the device has no such clock. */
  int32_t (*mark)(hone_device* device, uint32_t which, hone_error* error);
  int32_t (*between_marks)(hone_device* device, double* seconds, hone_error* error);
  /* [one] Free bytes of the device's memory, as its driver reports them. NULL if the device has none of its own. */
  int32_t (*free_memory)(hone_device* device, uint64_t* bytes, hone_error* error);

  /* [one] Artifacts of the language "python" are loaded and run by `python` from now on, which outlives the device; the
   * backend still runs recorded plans itself. NULL where the backend takes no Python. */
  int32_t (*use_python)(hone_device* device, const hone_python* python, hone_error* error);

  /* [one] Makes memory of exactly `bytes` bytes, not 0, in an allocation of its own that no other process can map, so that a
   * sanitizer sees an access beyond it. Each byte is 0x5a. It cannot be exported or mapped. NULL where describe has no
   * "sanitizer". */
  int32_t (*create_exact_buffer)(hone_device* device, uint64_t bytes, hone_buffer** out,
                                 hone_error* error);

  /* Hardware counters, for the tool `profile`. All five are NULL where describe has no "counters". The device repeats the
   * same launches in several passes, because it cannot count everything at a time:
   *   open_counters; do { begin_pass; launch …; end_pass } while (!*is_last); read_counters for each launch. */

  /* [one] Loads `library` and prepares to count in at most `launches_max` launches of each pass. It may reserve the device's
   * counters, so that other profilers fail until close_counters. HONE_UNAVAILABLE: the library, the driver or the device
   * does not allow it; the message says which and why. */
  int32_t (*open_counters)(hone_device* device, const char* library, uint32_t launches_max,
                           hone_counters** out, hone_error* error);
  /* [one] Counts from now on. HONE_UNAVAILABLE: as above. */
  int32_t (*begin_pass)(hone_counters* counters, hone_error* error);
  /* [one] Waits for the launches and stops counting. Sets `is_last` to 1 if no further pass is needed, else 0. */
  int32_t (*end_pass)(hone_counters* counters, uint32_t* is_last, hone_error* error);
  /* [one] After the last pass: the counters of launch number `launch` of a pass. The caller sets struct_size.
   * HONE_NOT_FOUND: there was no such launch. */
  int32_t (*read_counters)(hone_counters* counters, uint32_t launch, hone_launch_counters* out,
                           hone_error* error);
  /* [one] NULL is allowed. */
  void (*close_counters)(hone_counters* counters);

  /* [one] Called after the first successful round of any kernel, not only of a recorded plan. Writes to `out` the
   * configuration (from 0) of each autotuned kernel, in the plan's order, at most `max` of them. Sets `count` to the
   * number of autotuned kernels; 0 if `kernel` is not a recorded plan. NULL: the backend chooses no configurations. */
  int32_t (*chosen_configurations)(hone_kernel* kernel, uint32_t* out, uint32_t max,
                                   uint32_t* count, hone_error* error);
} hone_backend_factory;

#ifdef __cplusplus
}
#endif
#endif
