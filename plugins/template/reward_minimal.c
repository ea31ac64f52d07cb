/* my_reward_minimal: 1 for a correct turn, else 0, in plain C and with no library: all that a
 * reward must do. */
#include <stdio.h>
#include <string.h>

#include "hone/reward.h"

enum { kDepthMax = 32, kTurnsMax = 65536 };

struct hone_reward {
  int unused;
};
static hone_reward the_reward; /* it has no state, so that one serves all */

static int32_t refuse(hone_error* error, int32_t code, const char* message) {
  error->code = code;
  snprintf(error->message, sizeof error->message, "%s", message);
  return code;
}

/* Reading MessagePack: a cursor that stays where it is once something was wrong. */
typedef struct cursor {
  const uint8_t* at;
  const uint8_t* end;
  int bad;
} cursor;

typedef struct item {
  char kind;     /* 'm'ap, 'a'rray, 's'tring, 't'rue, 'o'ther */
  uint64_t size; /* members, items or bytes */
  const uint8_t* text;
} item;

static const uint8_t* take(cursor* c, uint64_t size) {
  const uint8_t* from = c->at;
  if (c->bad || size > (uint64_t)(c->end - c->at)) {
    c->bad = 1;
    return NULL;
  }
  c->at += size;
  return from;
}

static uint64_t number(cursor* c, unsigned bytes) {
  const uint8_t* from = take(c, bytes);
  uint64_t value = 0;
  for (unsigned i = 0; from != NULL && i < bytes; ++i) value = value << 8 | from[i];
  return value;
}

/* The next item; of a map or an array its head alone. */
static item next(cursor* c) {
  item result = {'o', 0, NULL};
  const unsigned tag = (unsigned)number(c, 1);
  uint64_t skipped = 0;
  if (c->bad || tag < 0x80 || tag >= 0xe0 || tag == 0xc0 || tag == 0xc2) return result;
  if (tag < 0x90) {
    result.kind = 'm', result.size = tag & 0x0f;
  } else if (tag < 0xa0) {
    result.kind = 'a', result.size = tag & 0x0f;
  } else if (tag < 0xc0) {
    result.kind = 's', result.size = tag & 0x1f;
  } else if (tag == 0xc3) {
    result.kind = 't';
  } else if (tag >= 0xc4 && tag <= 0xc6) {
    skipped = number(c, 1u << (tag - 0xc4));
  } else if (tag == 0xca || tag == 0xcb) {
    skipped = 4u << (tag - 0xca);
  } else if (tag >= 0xcc && tag <= 0xd3) {
    skipped = 1u << ((tag - 0xcc) & 3u);
  } else if (tag >= 0xd9 && tag <= 0xdb) {
    result.kind = 's', result.size = number(c, 1u << (tag - 0xd9));
  } else if (tag == 0xdc || tag == 0xdd) {
    result.kind = 'a', result.size = number(c, 2u << (tag - 0xdc));
  } else if (tag == 0xde || tag == 0xdf) {
    result.kind = 'm', result.size = number(c, 2u << (tag - 0xde));
  } else {
    c->bad = 1; /* an extension, or no MessagePack */
  }
  if (result.kind == 's') result.text = take(c, result.size);
  if (skipped > 0) take(c, skipped);
  return result;
}

static void skip(cursor* c, unsigned depth) {
  const item head = next(c);
  uint64_t parts = head.kind == 'm' ? 2 * head.size : head.kind == 'a' ? head.size : 0;
  if (parts > 0 && depth >= kDepthMax) c->bad = 1;
  for (; parts > 0 && !c->bad; --parts) skip(c, depth + 1);
}

static int is(item text, const char* expected) {
  return text.kind == 's' && text.size == strlen(expected) &&
         memcmp(text.text, expected, text.size) == 0;
}

/* Moves a copy of the cursor, which stands before a map, to the member's value. */
static int member(cursor c, const char* key, cursor* found) {
  const item map = next(&c);
  if (map.kind != 'm') return 0;
  for (uint64_t i = 0; i < map.size && !c.bad; ++i) {
    const item name = next(&c);
    if (!c.bad && is(name, key)) {
      *found = c;
      return 1;
    }
    skip(&c, 1);
  }
  return 0;
}

/* What became of a turn: -1 not scored, 0, or 1 for correct; -2 when it is no turn. */
static int judge(cursor turn) {
  cursor scored, verdict, outcome;
  if (!member(turn, "scored", &scored)) return -2;
  if (next(&scored).kind != 't') return -1;
  if (!member(turn, "verdict", &verdict) || !member(verdict, "outcome", &outcome)) return -2;
  const item name = next(&outcome);
  if (name.kind != 's') return -2;
  return is(name, "correct");
}

static int32_t put(hone_sink* out, const char* bytes, size_t size) {
  return out->write(out->self, bytes, size);
}
#define PUT(out, literal) put(out, literal, sizeof(literal) - 1)

/* A double: tag and eight bytes. 1.0 is 3f f0 00…, and no more than whole numbers up to 65536 are
 * needed. */
static int32_t put_number(hone_sink* out, uint32_t value) {
  const double number = value;
  uint64_t bits;
  char bytes[9] = {(char)0xcb};
  memcpy(&bits, &number, sizeof bits);
  for (int i = 0; i < 8; ++i) bytes[1 + i] = (char)(bits >> (56 - 8 * i) & 0xff);
  return put(out, bytes, sizeof bytes);
}

static int32_t put_list(hone_sink* out, uint64_t size) {
  const char head[5] = {(char)0xdd, (char)(size >> 24 & 0xff), (char)(size >> 16 & 0xff),
                        (char)(size >> 8 & 0xff), (char)(size & 0xff)};
  return put(out, head, sizeof head);
}

static int32_t describe(hone_sink* out, hone_error* error) {
  (void)error;
  /* {"summary": …, "source": …, "range": [0, 1], "parameters": {}} */
  return PUT(out,
             "\x84\xa7summary\xbf"
             "1 for a correct turn and else 0"
             "\xa6source\xac"
             "the template"
             "\xa5range\x92\x00\x01\xaaparameters\x80");
}

static int32_t create(const hone_host* host, hone_bytes config, hone_reward** out,
                      hone_error* error) {
  cursor c = {config.data, config.data + config.size, 0};
  const item map = next(&c);
  (void)host;
  *out = NULL;
  if (c.bad || map.kind != 'm')
    return refuse(error, HONE_INVALID_ARGUMENT, "config: expected a map");
  if (map.size > 0) {
    const item key = next(&c);
    char message[128] = "config: unknown key; this reward has no parameters";
    if (key.kind == 's' && !c.bad && key.size < 64) {
      snprintf(message, sizeof message, "config: unknown key '%.*s'; this reward has no parameters",
               (int)key.size, (const char*)key.text);
    }
    return refuse(error, HONE_INVALID_ARGUMENT, message);
  }
  if (c.at != c.end) return refuse(error, HONE_INVALID_ARGUMENT, "config: expected one map, found more bytes after it");
  *out = &the_reward;
  return HONE_OK;
}

static int32_t score(hone_reward* reward, hone_bytes episode, hone_sink* out, hone_error* error) {
  cursor whole = {episode.data, episode.data + episode.size, 0}, end = whole, turns;
  (void)reward;
  skip(&end, 0);
  if (end.bad || end.at != end.end)
    return refuse(error, HONE_INVALID_ARGUMENT, "episode: no single messagepack value");
  if (!member(whole, "turns", &turns))
    return refuse(error, HONE_INVALID_ARGUMENT, "episode: expected turns");
  const item list = next(&turns);
  if (list.kind != 'a' || list.size == 0 || list.size > kTurnsMax) {
    return refuse(error, HONE_INVALID_ARGUMENT, "episode: turns: expected a list of 1 to 65536");
  }
  uint32_t correct = 0;
  cursor c = turns;
  for (uint64_t i = 0; i < list.size; ++i) {
    const int result = judge(c);
    if (result == -2)
      return refuse(error, HONE_INVALID_ARGUMENT, "episode: turns: expected turns with verdicts");
    correct += result == 1;
    skip(&c, 0);
  }
  /* {"turns": […], "return": the number of correct turns, "returns": that for every scored turn} */
  int32_t failed = PUT(out, "\x83\xa5turns") | put_list(out, list.size);
  c = turns;
  for (uint64_t i = 0; i < list.size; ++i, skip(&c, 0)) {
    const int result = judge(c);
    if (result < 0) {
      failed |= PUT(out, "\xc0");
    } else {
      failed |= PUT(out, "\x82\xa6reward") | put_number(out, (uint32_t)result) |
                PUT(out,
                    "\xaa"
                    "components\x80");
    }
  }
  failed |= PUT(out, "\xa6return") | put_number(out, correct) | PUT(out, "\xa7returns") |
            put_list(out, list.size);
  c = turns;
  for (uint64_t i = 0; i < list.size; ++i, skip(&c, 0)) {
    failed |= judge(c) < 0 ? PUT(out, "\xc0") : put_number(out, correct);
  }
  return failed ? refuse(error, HONE_RESOURCE_EXHAUSTED, "the host's sink is full") : HONE_OK;
}

static void destroy(hone_reward* reward) { (void)reward; }

static const hone_reward_factory factory = {sizeof(hone_reward_factory), describe, create, score,
                                            destroy};

static const void* get_factory(const char* id) {
  return strcmp(id, HONE_REWARD_FACTORY_ID) == 0 ? &factory : NULL;
}

const hone_plugin hone_plugin_entry = {sizeof(hone_plugin), HONE_ABI_MAJOR, HONE_ABI_MINOR,
                                       "my_reward_minimal", "1.0.0",        get_factory};
