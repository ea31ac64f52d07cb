/* Rewards: a plugin that turns the verdicts of an episode into a number, its components and per-turn returns. */
#ifndef HONE_REWARD_H
#define HONE_REWARD_H

#include "hone/abi.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HONE_REWARD_FACTORY_ID "hone.reward/1"

typedef struct hone_reward hone_reward; /* opaque, made by create() */

typedef struct hone_reward_factory {
  uint32_t struct_size;

  /* [any] Writes the MessagePack map {"summary": str, "source": str, "range": [low, high] (nil: unbounded),
   * "parameters": {name: {"type": "float"|"int"|"bool"|"str", "default": …, "doc": str}, …}}. */
  int32_t (*describe)(hone_sink* out, hone_error* error);

  /* [any] Makes a reward from its configuration (a MessagePack map; an empty map means the defaults).
   * Unknown keys are an error that names the nearest valid one. `host` outlives the handle. */
  int32_t (*create)(const hone_host* host, hone_bytes config, hone_reward** out, hone_error* error);

  /* [any] Scores an episode up to its last turn. A pure function of its input: the same bytes in, the same out.
   * In: the MessagePack map of docs/plugins.md: {"task": {…}, "ended": bool, "max_turns": int, "turns": [{"turn": int,
   *   "scored": bool, "verdict": {…}}, …]}, turns in order, at least one; a turn with scored=false was a fault of the
   *   machine, and must not count. If tools were called in a turn, it has "tools": {name: number of calls}.
   * Out: {"turns": [{"reward": float, "components": {str: float}} or nil if unscored, …], "return": float,
   *   "returns": [float or nil, …]}: "return" is the return to date, "returns" holds each turn's own (for training
   *   every turn as a sample). Both lists are as long as the input's. Every number is finite. */
  int32_t (*score)(hone_reward* reward, hone_bytes episode, hone_sink* out, hone_error* error);

  /* [one] Frees the handle. NULL is allowed. */
  void (*destroy)(hone_reward* reward);
} hone_reward_factory;

#ifdef __cplusplus
}
#endif
#endif
