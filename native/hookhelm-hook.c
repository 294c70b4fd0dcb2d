/*
 * hookhelm-hook: the program that a coding agent starts for each of its hooks.
 *
 *   hookhelm-hook <agent> <event> --socket PATH [--spool DIR] [--within MS] [--wait MS] [--observe]
 *                 [--refuse FORMAT] [--fail-open]
 *
 * It reads the agent's payload from stdin, sends it to the gateway's unix socket, and prints the gateway's reply.
 * A gate blocks unless one complete, valid reply arrives in time from a trusted peer. Every other path ends in
 * no_answer(). With --observe nothing is ever blocked, and events that cannot be delivered go to the spool.
 * --within is the time for an answer. If the gateway reports that it asks a person, the client waits for that person up
 * to --wait, and connects again if the gateway restarts meanwhile. If the agent ends first, it withdraws the question.
 *
 * How it is written:
 * - It uses no allocator, no lock and no stdio. Every function that it calls is async-signal-safe, so a signal
 *   handler may end the program as the main path does.
 * - Reads and writes have no timeouts. One alarm covers the whole budget. It interrupts every wait: stdin, the
 *   gateway, a full pipe or a slow disk. Only a pending line of the gateway moves it.
 * - It prints nothing before the reply is complete and valid.
 * - The Node client (src/agents/client/hookhelm-hook.cjs) behaves the same, and one table of tests runs both.
 */
#ifdef __APPLE__
#define _DARWIN_C_SOURCE
#else
#define _GNU_SOURCE
#endif
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#ifdef __APPLE__
#include <sys/sysctl.h>
#endif
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#ifndef HOOKHELM_VERSION
#define HOOKHELM_VERSION "0.0.0"
#endif
#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0
#endif

#define MAX_PAYLOAD (8u << 20)
#define MAX_LINE (MAX_PAYLOAD + (64u << 10))
#define MAX_DEPTH 512
#define MAX_NAME 64
#define MAX_SPOOLED 10000
/* The longest reason, in bytes. Models and people read it, on one line. */
#define MAX_WHY 500
#define DEFAULT_WITHIN_MS 55000
#define MAX_WITHIN_MS 3600000
/* Extra time for spooling after the budget is used up. */
#define GRACE_MS 500
/* The gateway reports that the time of a person is over; the client gives that line this long to arrive. */
#define REPORT_MS 1000
/* Between two attempts to reach a gateway that restarts. */
#define RETRY_MS 100
/* Between two looks whether the caller still waits. */
#define LOOK_MS 500

typedef unsigned char byte;

static const char USAGE[] =
    "usage: hookhelm-hook <agent> <event> --socket PATH [--spool DIR] [--within MS] [--wait MS]\n"
    "                     [--observe] [--refuse FORMAT] [--fail-open]\n"
    "FORMAT is permission, permission-camel, permission-any, decision, prompt or tool.\n";

/* Refusals on stdout, for events where the agent ignores the exit code or hides the reason. `%` is the reason. */
enum refusal { EXIT_2, PERMISSION, PERMISSION_CAMEL, PERMISSION_ANY, DECISION, PROMPT, TOOL };
#define DENIED "\"behavior\":\"deny\",\"message\":\"%\""
#define PERMISSION_OUTPUT \
  "\"hookSpecificOutput\":{\"hookEventName\":\"PermissionRequest\",\"decision\":{" DENIED "}}"
#define TOOL_DENIED "\"permissionDecision\":\"deny\",\"permissionDecisionReason\":\"%\""
static const struct {
  const char *name, *json;
} refusals[] = {
    [EXIT_2] = {"", ""},
    [PERMISSION] = {"permission", "{" PERMISSION_OUTPUT "}\n"},
    [PERMISSION_CAMEL] = {"permission-camel", "{" DENIED "}\n"},
    [PERMISSION_ANY] = {"permission-any", "{" DENIED "," PERMISSION_OUTPUT "}\n"},
    [DECISION] = {"decision", "{\"decision\":\"block\",\"reason\":\"%\"}\n"},
    [PROMPT] = {"prompt",
                "{\"decision\":\"block\",\"reason\":\"%\",\"continue\":false,\"user_message\":\"%\"}\n"},
    [TOOL] = {"tool", "{\"permission\":\"deny\",\"user_message\":\"%\"," TOOL_DENIED
                      ",\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\"," TOOL_DENIED "}}\n"},
};

static struct {
  const char *agent, *event, *socket, *spool;
  long within_ms, wait_ms;
  bool observe, fail_open;
  enum refusal refusal;
} options = {.within_ms = DEFAULT_WITHIN_MS};

/* ---- Text in a fixed buffer: what does not fit is dropped, and the text is marked as cut ---- */

struct text {
  char *at;
  size_t length, room;
  bool cut;
};

#define TEXT(name, size)    \
  static char name##_[size]; \
  struct text name = {name##_, 0, sizeof name##_, false}

#define TEXT_IN_FILE(name, size) \
  static char name##_[size];     \
  static struct text name = {name##_, 0, size, false}

static void put(struct text *text, const char *bytes, size_t count) {
  if (count > text->room - text->length) {
    text->cut = true;
    return;
  }
  memcpy(text->at + text->length, bytes, count);
  text->length += count;
}

static void say(struct text *text, const char *words) { put(text, words, strlen(words)); }

static void say_number(struct text *text, uint64_t number) {
  char digits[20];
  size_t at = sizeof digits;
  do digits[--at] = (char)('0' + number % 10);
  while ((number /= 10) > 0);
  put(text, digits + at, sizeof digits - at);
}

/* ---- UTF-8 ---- */

/* The length of the character at `at`. 0 if it is incomplete, overlong, a surrogate or beyond U+10FFFF. */
static size_t character(const byte *at, const byte *end) {
  byte first = *at;
  if (first < 0x80) return 1;
  size_t count = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || (size_t)(end - at) < count) return 0;
  for (size_t i = 1; i < count; i++)
    if ((at[i] & 0xc0) != 0x80) return 0;
  if (first == 0xe0 && at[1] < 0xa0) return 0;
  if (first == 0xed && at[1] > 0x9f) return 0;
  if (first == 0xf0 && at[1] < 0x90) return 0;
  if (first == 0xf4 && at[1] > 0x8f) return 0;
  return count;
}

static size_t encode(uint32_t point, byte *out) {
  if (point < 0x80) {
    out[0] = (byte)point;
    return 1;
  }
  if (point < 0x800) {
    out[0] = (byte)(0xc0 | point >> 6);
    out[1] = (byte)(0x80 | (point & 0x3f));
    return 2;
  }
  if (point < 0x10000) {
    out[0] = (byte)(0xe0 | point >> 12);
    out[1] = (byte)(0x80 | (point >> 6 & 0x3f));
    out[2] = (byte)(0x80 | (point & 0x3f));
    return 3;
  }
  out[0] = (byte)(0xf0 | point >> 18);
  out[1] = (byte)(0x80 | (point >> 12 & 0x3f));
  out[2] = (byte)(0x80 | (point >> 6 & 0x3f));
  out[3] = (byte)(0x80 | (point & 0x3f));
  return 4;
}

/* One printable line: control characters become spaces, invalid bytes U+FFFD, and the end is clipped. */
static void say_line(struct text *line, const byte *at, size_t count) {
  const byte *end = at + count;
  size_t kept = line->length, limit = line->length + MAX_WHY;
  while (at < end) {
    size_t width = character(at, end);
    const char *shown = (const char *)at;
    size_t shown_width = width;
    if (width == 0) {
      shown = "\xef\xbf\xbd", shown_width = 3, width = 1;
    } else if (*at < 0x20 || *at == 0x7f || (*at == 0xc2 && at[1] < 0xa0)) {
      shown = " ", shown_width = 1;
    }
    if (line->length + shown_width > limit) {
      line->length = kept;
      say(line, "…");
      return;
    }
    put(line, shown, shown_width);
    at += width;
    if (line->length <= limit - 3) kept = line->length;
  }
}

/* Escapes a text for a JSON string. The text comes from say_line, so only these two characters need it. */
static void say_quoted(struct text *text, const struct text *words) {
  for (size_t i = 0; i < words->length; i++) {
    if (words->at[i] == '"' || words->at[i] == '\\') put(text, "\\", 1);
    put(text, words->at + i, 1);
  }
}

/* ---- JSON ---- */

struct cursor {
  byte *at, *end;
};

static bool take(struct cursor *json, char wanted) {
  if (json->at == json->end || *json->at != (byte)wanted) return false;
  json->at++;
  return true;
}

static bool take_word(struct cursor *json, const char *word) {
  size_t count = strlen(word);
  if ((size_t)(json->end - json->at) < count || memcmp(json->at, word, count) != 0) return false;
  json->at += count;
  return true;
}

static bool take_digits(struct cursor *json) {
  byte *from = json->at;
  while (json->at < json->end && *json->at >= '0' && *json->at <= '9') json->at++;
  return json->at > from;
}

/* A number without leading zeros, at most `limit`. */
static bool take_count(struct cursor *json, uint64_t limit, uint64_t *number) {
  byte *from = json->at;
  if (!take_digits(json) || json->at - from > 16 || (*from == '0' && json->at - from > 1)) return false;
  *number = 0;
  for (byte *digit = from; digit < json->at; digit++) *number = *number * 10 + (uint64_t)(*digit - '0');
  return *number <= limit;
}

static bool take_hex(struct cursor *json, uint32_t *unit) {
  if (json->end - json->at < 4) return false;
  *unit = 0;
  for (int i = 0; i < 4; i++) {
    byte digit = *json->at++;
    byte lower = digit | 0x20;
    if (digit >= '0' && digit <= '9') *unit = *unit << 4 | (uint32_t)(digit - '0');
    else if (lower >= 'a' && lower <= 'f') *unit = *unit << 4 | (uint32_t)(lower - 'a' + 10);
    else return false;
  }
  return true;
}

/* Reads what follows `\u`. Half of a surrogate pair is refused, because it cannot be printed. */
static bool take_point(struct cursor *json, uint32_t *point) {
  if (!take_hex(json, point)) return false;
  if (*point < 0xd800 || *point > 0xdfff) return true;
  uint32_t low;
  if (*point > 0xdbff || !take_word(json, "\\u") || !take_hex(json, &low)) return false;
  if (low < 0xdc00 || low > 0xdfff) return false;
  *point = 0x10000 + ((*point - 0xd800) << 10) + (low - 0xdc00);
  return true;
}

/* Decodes a string in place: characters never need more room than their escapes. */
struct string {
  byte *at;
  size_t length;
};

/* Without `out`, only checks the string, which may then contain half of a pair, as JSON allows. */
static bool take_string(struct cursor *json, struct string *out) {
  if (!take(json, '"')) return false;
  byte *from = json->at, *to = json->at;
  while (json->at < json->end) {
    byte first = *json->at;
    if (first == '"') {
      json->at++;
      if (out) *out = (struct string){from, (size_t)(to - from)};
      return true;
    }
    if (first < 0x20) return false;
    if (first != '\\') {
      size_t width = character(json->at, json->end);
      if (width == 0) return false;
      for (size_t i = 0; i < width; i++, json->at++, to++)
        if (out) *to = *json->at;
      continue;
    }
    if (++json->at == json->end) return false;
    byte escaped = *json->at++;
    uint32_t point;
    switch (escaped) {
      case '"': case '\\': case '/': point = escaped; break;
      case 'b': point = '\b'; break;
      case 'f': point = '\f'; break;
      case 'n': point = '\n'; break;
      case 'r': point = '\r'; break;
      case 't': point = '\t'; break;
      case 'u':
        if (!(out ? take_point(json, &point) : take_hex(json, &point))) return false;
        break;
      default: return false;
    }
    if (out) to += encode(point, to);
  }
  return false;
}

static void skip_space(struct cursor *json) {
  while (json->at < json->end &&
         (*json->at == ' ' || *json->at == '\t' || *json->at == '\n' || *json->at == '\r'))
    json->at++;
}

static bool take_number(struct cursor *json) {
  take(json, '-');
  if (!take(json, '0') && !take_digits(json)) return false;
  if (take(json, '.') && !take_digits(json)) return false;
  if (!take(json, 'e') && !take(json, 'E')) return true;
  if (!take(json, '+')) take(json, '-');
  return take_digits(json);
}

static bool take_value(struct cursor *json, int depth);

static bool take_members(struct cursor *json, int depth, bool named) {
  char close = named ? '}' : ']';
  if (depth > MAX_DEPTH) return false;
  skip_space(json);
  if (take(json, close)) return true;
  for (;;) {
    skip_space(json);
    if (named) {
      if (!take_string(json, NULL)) return false;
      skip_space(json);
      if (!take(json, ':')) return false;
      skip_space(json);
    }
    if (!take_value(json, depth)) return false;
    skip_space(json);
    if (take(json, close)) return true;
    if (!take(json, ',')) return false;
  }
}

static bool take_value(struct cursor *json, int depth) {
  if (json->at == json->end) return false;
  switch (*json->at) {
    case '{': json->at++; return take_members(json, depth + 1, true);
    case '[': json->at++; return take_members(json, depth + 1, false);
    case '"': return take_string(json, NULL);
    case 't': return take_word(json, "true");
    case 'f': return take_word(json, "false");
    case 'n': return take_word(json, "null");
    default: return take_number(json);
  }
}

/* Accepts exactly one object. A payload that closes it early could add keys to our request. */
static bool is_one_object(byte *at, size_t count) {
  struct cursor json = {at, at + count};
  skip_space(&json);
  if (json.at == json.end || *json.at != '{' || !take_value(&json, 0)) return false;
  skip_space(&json);
  return json.at == json.end;
}

/* ---- Reading and writing; the alarm interrupts long waits ---- */

static bool must_wait(int file, short events) {
  if (errno == EINTR) return true;
  if (errno != EAGAIN && errno != EWOULDBLOCK) return false;
  /* The parent may have passed a non-blocking descriptor. */
  struct pollfd waited = {file, events, 0};
  poll(&waited, 1, -1);
  return true;
}

static ssize_t read_some(int file, byte *into, size_t room) {
  ssize_t count;
  do count = read(file, into, room);
  while (count < 0 && must_wait(file, POLLIN));
  return count;
}

static bool write_all(int file, const void *bytes, size_t count) {
  const byte *at = bytes;
  while (count > 0) {
    ssize_t written = write(file, at, count);
    if (written < 0 && must_wait(file, POLLOUT)) continue;
    if (written <= 0) return false;
    at += written, count -= (size_t)written;
  }
  return true;
}

static uint64_t read_clock(clockid_t which) {
  struct timespec now;
  clock_gettime(which, &now);
  return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static uint64_t now_ms(void) { return read_clock(CLOCK_REALTIME); }

/* When the client started, by a clock that nobody sets. */
static uint64_t started_ms;

/* How long the client may still wait for a person; at least 1. */
static uint64_t wait_left(void) {
  uint64_t passed = read_clock(CLOCK_MONOTONIC) - started_ms;
  return passed < (uint64_t)options.wait_ms ? (uint64_t)options.wait_ms - passed : 1;
}

static void set_alarm(long ms) {
  struct itimerval timer = {{0, 0}, {ms / 1000, ms % 1000 * 1000}};
  setitimer(ITIMER_REAL, &timer, NULL);
}

/* The end of a request or of a spooled event: it closes the object and the line. */
#define TAIL "}\n"
#define TAIL_LENGTH (sizeof TAIL - 1)

/* Bytes that come from outside. Most fit into the first room; a mapping is made for those that do not. Behind the
   room there is always place for the tail. */
struct bytes {
  byte *at;
  size_t length, room;
};

static bool make_room(struct bytes *bytes, size_t most) {
  if (bytes->length < bytes->room) return true;
  if (bytes->room >= most) return false;
  byte *more = mmap(NULL, most + TAIL_LENGTH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (more == MAP_FAILED) return false;
  memcpy(more, bytes->at, bytes->length);
  *bytes = (struct bytes){more, bytes->length, most};
  return true;
}

/* ---- The payload ---- */

/* The head of the request goes into the room before the payload, so that one write sends both. */
#define HEAD_ROOM 1024

static byte first_room[HEAD_ROOM + (32u << 10)];
static struct bytes payload = {first_room, HEAD_ROOM, sizeof first_room - TAIL_LENGTH};
/* Set once the payload is complete and one object. Until then the spool gets null. */
static volatile sig_atomic_t payload_is_readable;

static byte *payload_start(void) { return payload.at + HEAD_ROOM; }
static size_t payload_length(void) { return payload.length - HEAD_ROOM; }

/* Returns what is wrong with the payload, or NULL. */
static const char *read_payload(void) {
  const size_t most = HEAD_ROOM + MAX_PAYLOAD + 1;
  const char *wrong = NULL;
  for (;;) {
    if (!wrong && !make_room(&payload, most)) wrong = "out of memory";
    /* Reads on even if the payload is too large: the agent must not write into a closed pipe. */
    if (wrong) payload.length = HEAD_ROOM;
    ssize_t count = read_some(STDIN_FILENO, payload.at + payload.length, payload.room - payload.length);
    if (count <= 0) {
      if (wrong) return wrong;
      break;
    }
    payload.length += (size_t)count;
    if (payload_length() > MAX_PAYLOAD) wrong = "the payload has more than 8 MiB";
  }
  if (!is_one_object(payload_start(), payload_length())) return "the payload is not one JSON object";
  /* Valid JSON has line breaks only between tokens. */
  for (byte *at = payload_start(); at < payload.at + payload.length; at++)
    if (*at == '\n' || *at == '\r') *at = ' ';
  atomic_signal_fence(memory_order_release);
  payload_is_readable = 1;
  return NULL;
}

/* ---- The spool: events that the gateway reads later ---- */

/* Counts the files up to the limit. Negative if the folder cannot be read. */
static int count_spooled(int directory) {
#ifdef __linux__
  static _Alignas(struct dirent64) char entries[8192];
  int count = 0;
  ssize_t got;
  while ((got = getdents64(directory, entries, sizeof entries)) > 0 && count <= MAX_SPOOLED + 3)
    for (ssize_t at = 0; at < got; at += ((struct dirent64 *)(entries + at))->d_reclen) count++;
  /* Two of the entries are . and .. */
  return got < 0 ? -1 : count - 2;
#else
  int count = 0, copy = dup(directory);
  DIR *listing = copy < 0 ? NULL : fdopendir(copy);
  if (!listing) return -1;
  while (count <= MAX_SPOOLED + 3 && readdir(listing)) count++;
  closedir(listing);
  return count - 2;
#endif
}

static void say_path(struct text *text, const char *before, uint64_t at) {
  say(text, before);
  say_number(text, at);
  say(text, "-");
  say_number(text, (uint64_t)getpid());
  say(text, ".json");
  put(text, "", 1);
}

/* Writes under another name first, so that the gateway never finds half a file. */
static bool write_spooled(int directory, const struct text *head) {
  TEXT(fresh, 64);
  TEXT(final, 64);
  uint64_t at = now_ms();
  say_path(&fresh, ".new-", at);
  say_path(&final, "", at);
  TEXT(stamp, 32);
  say_number(&stamp, at);
  int file = openat(directory, fresh.at, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0) return false;
  bool native = payload_is_readable;
  /* The head has two parts, before and after the time. */
  size_t before = strlen(head->at);
  bool written = write_all(file, head->at, before) && write_all(file, stamp.at, stamp.length) &&
                 write_all(file, head->at + before + 1, head->length - before - 1) &&
                 write_all(file, native ? (void *)payload_start() : "null", native ? payload_length() : 4) &&
                 write_all(file, TAIL, TAIL_LENGTH) && fsync(file) == 0;
  written = close(file) == 0 && written;
  if (written && renameat(directory, fresh.at, directory, final.at) == 0) {
    fsync(directory);
    return true;
  }
  unlinkat(directory, fresh.at, 0);
  return false;
}

/* Set if the gateway did not listen or ended the connection. The spool says so in a code. */
static volatile sig_atomic_t is_down;

/* Returns why the event is not spooled, or NULL. `mark` is its outcome as JSON members. */
static const char *spool(const struct text *why, const char *mark) {
  if (!options.spool || !options.agent || !options.event) return "there is no --spool";
  mkdir(options.spool, 0700);
  int directory = open(options.spool, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return "the spool cannot be opened";
  int count = count_spooled(directory);
  if (count < 0) return "the spool cannot be read";
  if (count >= MAX_SPOOLED) {
    int mark_file = openat(directory, "overflow", O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (mark_file >= 0) close(mark_file);
    return "the spool is full";
  }
  TEXT(head, 2 * MAX_WHY + 512);
  say(&head, "{\"agent\":\"");
  say(&head, options.agent);
  say(&head, "\",\"event\":\"");
  say(&head, options.event);
  say(&head, "\",\"at\":");
  put(&head, "", 1);
  say(&head, ",\"why\":\"");
  say_quoted(&head, why);
  say(&head, is_down ? "\",\"code\":\"gateway.unreachable\"," : "\",");
  say(&head, mark);
  say(&head, "\"native\":");
  return write_spooled(directory, &head) ? NULL : "the spool cannot be written";
}

/* ---- The end without an answer ---- */

/* Set once the program is ending. A signal then ends it at once. */
static volatile sig_atomic_t is_ending;
/* Set before the first byte goes to stdout: a refusal after half of another text would not be JSON. */
static volatile sig_atomic_t is_printing;
/* Overrides --fail-open: a signal ended the client, or a reply that may be a block is half printed. */
static volatile sig_atomic_t stays_closed;

static bool print_refusal(const struct text *why) {
  /* The longest format has the reason three times, and an escaped reason is twice as long. */
  TEXT(json, 3 * 2 * (MAX_WHY + 64) + 512);
  for (const char *at = refusals[options.refusal].json; *at; at++) {
    if (*at == '%') say_quoted(&json, why);
    else put(&json, at, 1);
  }
  is_printing = 1;
  return write_all(STDOUT_FILENO, json.at, json.length);
}

static void complain(const struct text *why, const char *more, const char *most) {
  TEXT(line, MAX_WHY + 256);
  put(&line, why->at, why->length);
  say(&line, more);
  say(&line, most);
  say(&line, "\n");
  write_all(STDERR_FILENO, line.at, line.length);
}

static _Noreturn void end_gate(const struct text *why, const char *lost) {
  if (lost) complain(why, "; not spooled: ", lost);
  if (options.refusal != EXIT_2 && !is_printing && print_refusal(why)) _exit(0);
  if (!lost) complain(why, "", "");
  _exit(2);
}

/* Ends the client without a reply of the gateway. */
static _Noreturn void end_without_answer(const char *reason, size_t length) {
  is_ending = 1;
  TEXT(why, MAX_WHY + 64);
  say(&why, "hookhelm: ");
  say_line(&why, (const byte *)reason, length);
  bool opens = options.fail_open && !stays_closed;
  const char *mark = options.observe ? "" : opens ? "\"opened\":true," : "\"blocked\":true,";
  const struct text bare = {why.at + strlen("hookhelm: "), why.length - strlen("hookhelm: "), 0, false};
  const char *lost = spool(&bare, mark);
  if (!options.spool && !options.observe) lost = NULL;
  if (options.observe) {
    if (lost) complain(&why, "; the event is lost: ", lost);
    _exit(0);
  }
  if (opens) {
    complain(&why, "; let through because of --fail-open", lost ? ", not spooled" : "");
    _exit(0);
  }
  end_gate(&why, lost);
}

static _Noreturn void no_answer(const char *reason) { end_without_answer(reason, strlen(reason)); }

/* For ends that leave no event behind: it neither spools nor builds texts. */
static _Noreturn void end_at_once(const char *line) {
  struct text why = {(char *)(uintptr_t)line, strlen(line), 0, false};
  if (options.observe) _exit(0);
  if (options.fail_open && !stays_closed) {
    complain(&why, "; let through because of --fail-open", "");
    _exit(0);
  }
  end_gate(&why, NULL);
}

/* ---- Waiting for a person ---- */

/* "apr_" and 16 digits: the first question of this call. A gateway that restarted knows the call by it. */
#define APPROVAL_LENGTH 20
static char approval[APPROVAL_LENGTH + 1];
/* What the gateway said last about the wait, on one line. */
TEXT_IN_FILE(wait_text, MAX_WHY + 64);
/* Set while a person is being asked. */
static volatile sig_atomic_t is_waiting;

/* The open connection to the gateway, or -1. */
static volatile sig_atomic_t gateway = -1;

/* Withdraws the question, so that no person approves a call that nothing waits for. The gateway has recorded the event, so
   it needs no spool. */
static _Noreturn void leave(const char *line) {
  static const char cancel[] = "{\"id\":1,\"cancel\":true}\n";
  is_ending = 1;
  send(gateway, cancel, sizeof cancel - 1, MSG_NOSIGNAL);
  end_at_once(line);
}

/* ---- Signals ---- */

/* The reason when the budget is used up. */
static const char *volatile too_late = "the payload did not end within ";

static _Noreturn void end_late(void) {
  /* The alarm is blocked inside its handler, but it still limits everything after it. */
  sigset_t alarm_only;
  sigemptyset(&alarm_only);
  sigaddset(&alarm_only, SIGALRM);
  sigprocmask(SIG_UNBLOCK, &alarm_only, NULL);
  TEXT(reason, MAX_WHY + 256);
  say(&reason, is_waiting ? "no person answered within " : too_late);
  say_number(&reason, (uint64_t)(is_waiting ? options.wait_ms : options.within_ms));
  say(&reason, " ms");
  if (is_waiting) {
    say(&reason, "; the call ");
    put(&reason, wait_text.at, wait_text.length);
  }
  set_alarm(GRACE_MS);
  end_without_answer(reason.at, reason.length);
}

static void on_fault(int number) {
  (void)number;
  end_at_once("hookhelm: the client crashed");
}

#define INTERRUPTED "hookhelm: interrupted by a signal"

/* The alarm, or a signal that ends the client. */
static void on_end(int number) {
  if (number != SIGALRM) stays_closed = 1;
  if (is_ending || is_printing)
    end_at_once(number == SIGALRM ? "hookhelm: no answer in time" : INTERRUPTED);
  if (number == SIGALRM) end_late();
  if (is_waiting && gateway >= 0) leave(INTERRUPTED);
  no_answer("interrupted by a signal");
}

static const byte faults[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGSYS, SIGTRAP};
static const byte ends[] = {SIGALRM, SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGXCPU, SIGVTALRM, SIGPROF};
/* Ignored, because the failed write returns an error. */
static const byte ignored[] = {SIGPIPE, SIGXFSZ};

static void handle(const byte *numbers, size_t count, void (*handler)(int)) {
  struct sigaction action = {0};
  action.sa_handler = handler;
  action.sa_flags = SA_ONSTACK;
  for (size_t i = 0; i < count; i++) sigaction(numbers[i], &action, NULL);
}

static void trap_signals(void) {
  static byte room[32u << 10];
  stack_t stack = {0};
  stack.ss_sp = room, stack.ss_size = sizeof room;
  sigaltstack(&stack, NULL);
  handle(faults, sizeof faults, on_fault);
  handle(ends, sizeof ends, on_end);
  handle(ignored, sizeof ignored, SIG_IGN);
  /* Unblock the signals that the parent process blocked. */
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
}

/* ---- Arguments ---- */

static _Noreturn void end_with_usage(const char *problem, const char *what) {
  TEXT(line, 1024);
  say(&line, "hookhelm-hook: ");
  say(&line, problem);
  say_line(&line, (const byte *)what, strlen(what));
  say(&line, "\n");
  say(&line, USAGE);
  write_all(STDERR_FILENO, line.at, line.length);
  _exit(2);
}

/* Names of agents and events need no escaping in JSON. */
static bool is_name(const char *word) {
  size_t length = strlen(word);
  for (size_t i = 0; i < length; i++) {
    byte letter = (byte)word[i], lower = letter | 0x20;
    bool plain = (lower >= 'a' && lower <= 'z') || (letter >= '0' && letter <= '9') || letter == '_' ||
                 (i > 0 && (letter == '-' || letter == '.' || letter == ':'));
    if (!plain) return false;
  }
  return length > 0 && length <= MAX_NAME;
}

static long milliseconds(const char *option, const char *word) {
  size_t length = strlen(word);
  struct cursor digits = {(byte *)(uintptr_t)word, (byte *)(uintptr_t)word + length};
  uint64_t number;
  if (!take_count(&digits, MAX_WITHIN_MS, &number) || digits.at != digits.end || number == 0)
    end_with_usage(option, word);
  return (long)number;
}

static enum refusal way_to_refuse(const char *word) {
  for (enum refusal way = PERMISSION; way <= TOOL; way++)
    if (strcmp(word, refusals[way].name) == 0) return way;
  end_with_usage("--refuse does not know ", word);
}

static void read_word(const char *word) {
  if (word[0] == '-') end_with_usage("unknown option ", word);
  if (!is_name(word)) end_with_usage("no name of an agent or event: ", word);
  if (!options.agent) options.agent = word;
  else if (!options.event) options.event = word;
  else end_with_usage("one word too many: ", word);
}

static bool takes_value(const char *word) {
  return strcmp(word, "--socket") == 0 || strcmp(word, "--spool") == 0 || strcmp(word, "--within") == 0 ||
         strcmp(word, "--wait") == 0 || strcmp(word, "--refuse") == 0;
}

static void read_option(const char *word, const char *value) {
  if (!value || value[0] == '\0') end_with_usage("no value for ", word);
  if (strcmp(word, "--socket") == 0) options.socket = value;
  else if (strcmp(word, "--spool") == 0) options.spool = value;
  else if (strcmp(word, "--within") == 0) options.within_ms = milliseconds("--within takes milliseconds, not ", value);
  else if (strcmp(word, "--wait") == 0) options.wait_ms = milliseconds("--wait takes milliseconds, not ", value);
  else options.refusal = way_to_refuse(value);
}

static void read_arguments(int count, char **words) {
  for (int i = 1; i < count; i++) {
    if (takes_value(words[i])) {
      read_option(words[i], i + 1 < count ? words[i + 1] : NULL);
      i++;
    } else if (strcmp(words[i], "--observe") == 0) options.observe = true;
    else if (strcmp(words[i], "--fail-open") == 0) options.fail_open = true;
    else if (strcmp(words[i], "--version") == 0) {
      static const char version[] = "hookhelm-hook " HOOKHELM_VERSION "\n";
      _exit(write_all(STDOUT_FILENO, version, sizeof version - 1) ? 0 : 2);
    } else read_word(words[i]);
  }
  if (!options.event) end_with_usage("an agent and an event are needed", "");
  if (!options.socket) end_with_usage("--socket is needed", "");
  if (options.wait_ms < options.within_ms) options.wait_ms = options.within_ms;
  if (options.observe && (options.fail_open || options.refusal != EXIT_2))
    end_with_usage("--observe refuses nothing: it goes with neither --refuse nor --fail-open", "");
}

/* Opens missing standard descriptors, so that no file or socket of ours becomes stdout. They refuse writes. */
static void fill_standard_ends(void) {
  for (int file = 0; file <= 2; file++)
    if (fcntl(file, F_GETFD) < 0 && open("/dev/null", O_RDONLY) != file) _exit(2);
}

/* ---- The caller ---- */

/* One process above the client. */
struct process {
  pid_t id, parent, group;
  /* With the id it names a process for ever: the system gives ids anew. */
  uint64_t started;
  bool has_ended;
};

/* Returns false if nothing is known about the process. */
static bool look_up(struct process *process) {
#ifdef __linux__
  TEXT(path, 64);
  char stat[1024];
  say(&path, "/proc/");
  say_number(&path, (uint64_t)process->id);
  say(&path, "/stat");
  put(&path, "", 1);
  int file = open(path.at, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  ssize_t count = read_some(file, (byte *)stat, sizeof stat);
  close(file);
  if (count <= 0) return false;
  struct cursor fields = {(byte *)stat, (byte *)stat + count};
  /* The second field is the name, in parentheses, and may hold any character. */
  for (ssize_t at = 0; at < count; at++)
    if (stat[at] == ')') fields.at = (byte *)stat + at + 1;
  uint64_t numbers[23] = {0};
  for (int field = 3; field <= 22; field++) {
    if (!take(&fields, ' ') || fields.at == fields.end) return false;
    if (field == 3) process->has_ended = *fields.at == 'Z' || *fields.at == 'X';
    while (fields.at < fields.end && *fields.at != ' ') {
      if (*fields.at >= '0' && *fields.at <= '9') numbers[field] = numbers[field] * 10 + (uint64_t)(*fields.at - '0');
      fields.at++;
    }
  }
  process->parent = (pid_t)numbers[4], process->group = (pid_t)numbers[5], process->started = numbers[22];
  return true;
#elif defined(__APPLE__)
  int name[] = {CTL_KERN, KERN_PROC, KERN_PROC_PID, process->id};
  struct kinfo_proc found;
  size_t size = sizeof found;
  if (sysctl(name, 4, &found, &size, NULL, 0) != 0 || size != sizeof found) return false;
  const struct timeval start = found.kp_proc.p_starttime;
  process->parent = found.kp_eproc.e_ppid, process->group = found.kp_eproc.e_pgid;
  process->started = (uint64_t)start.tv_sec * 1000000 + (uint64_t)start.tv_usec;
  process->has_ended = found.kp_proc.p_stat == SZOMB;
  return true;
#else
  (void)process;
  return false;
#endif
}

/* The arguments of a process, each with a zero byte behind it; those that do not fit are left out. */
struct words {
  char at[16u << 10];
  size_t length;
};

static void read_words(pid_t id, struct words *words) {
  words->length = 0;
#ifdef __linux__
  TEXT(path, 64);
  say(&path, "/proc/");
  say_number(&path, (uint64_t)id);
  say(&path, "/cmdline");
  put(&path, "", 1);
  int file = open(path.at, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  ssize_t count = read_some(file, (byte *)words->at, sizeof words->at);
  close(file);
  if (count > 0) words->length = (size_t)count;
#elif defined(__APPLE__)
  /* The number of arguments, the path of the program, padding, and the arguments. */
  int name[] = {CTL_KERN, KERN_PROCARGS2, id};
  size_t size = sizeof words->at, start = sizeof(int);
  if (sysctl(name, 3, words->at, &size, NULL, 0) != 0 || size < start) return;
  start += strnlen(words->at + start, size - start);
  while (start < size && words->at[start] == '\0') start++;
  words->length = size - start;
  memmove(words->at, words->at + start, words->length);
#else
  (void)id;
#endif
}

static bool contains(const struct words *words, const char *part, size_t length) {
  for (size_t at = 0; at + length <= words->length; at++)
    if (memcmp(words->at + at, part, length) == 0) return true;
  return false;
}

/* Whether the outer process started its own program again, with the same arguments, as an agent does that sets the
   memory of its runtime. Its start is enough: arguments may be as long as a prompt. */
static bool is_started_again(const struct words *inner, const struct words *outer) {
  size_t first = strnlen(outer->at, outer->length) + 1;
  if (first >= outer->length) return false;
  size_t rest = outer->length - first;
  return contains(inner, outer->at + first, rest < 1024 ? rest : 1024);
}

/* The line from the client up to its agent: the shells that start the client, whose arguments name it, and the first
   process above them. Who started the agent does not matter: it may end before the agent does. */
#define MAX_CALLERS 8
static struct process callers[MAX_CALLERS];
static size_t caller_count;
static pid_t parent;

static void find_callers(const char *program) {
  static struct words words[2];
  const char *name = program;
  for (const char *at = program; *at; at++)
    if (*at == '/') name = at + 1;
  struct words *inner = &words[0], *outer = &words[1];
  bool is_agent = false;
  for (pid_t id = parent; id > 1 && caller_count < MAX_CALLERS; caller_count++) {
    struct process *caller = &callers[caller_count];
    caller->id = id;
    if (!look_up(caller)) return;
    read_words(id, outer);
    if (is_agent && (caller->group != caller[-1].group || !is_started_again(inner, outer))) return;
    is_agent = is_agent || !contains(outer, name, strlen(name));
    struct words *above = inner;
    inner = outer, outer = above;
    id = caller->parent;
  }
}

static bool has_ended(const struct process *caller) {
  struct process now = {.id = caller->id};
  if (kill(caller->id, 0) != 0 && errno == ESRCH) return true;
  return look_up(&now) && (now.has_ended || now.started != caller->started);
}

/* Whether nothing waits for the answer any more. A caller that nothing is known about stays. */
static bool has_caller_left(void) {
  struct pollfd out = {STDOUT_FILENO, 0, 0};
  if (getppid() != parent || (poll(&out, 1, 0) > 0 && out.revents & (POLLERR | POLLHUP))) return true;
  for (size_t i = 0; i < caller_count; i++)
    if (has_ended(&callers[i])) return true;
  return false;
}

/* Returns when the gateway has sent more, or is gone. */
static void watch_caller(int connection) {
  struct pollfd line = {connection, POLLIN, 0};
  while (poll(&line, 1, LOOK_MS) <= 0)
    if (has_caller_left()) leave("hookhelm: the caller left before a person answered");
}

/* ---- The gateway ---- */

/* Trusts this user and root. The kernel reports who listens, so it cannot be forged. */
static bool is_trusted(int connection) {
#ifdef __linux__
  struct ucred peer;
  socklen_t size = sizeof peer;
  if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || size != sizeof peer) return false;
  uid_t uid = peer.uid;
#else
  uid_t uid;
  gid_t gid;
  if (getpeereid(connection, &uid, &gid) != 0) return false;
#endif
  return uid == 0 || uid == geteuid();
}

#define UNTRUSTED (-2)

/* Returns the connection. Below 0: the problem is the text before and after the path of the socket. */
static int reach_gateway(const char **before, const char **after) {
  *before = "the socket ", *after = " cannot be reached";
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  size_t length = strlen(options.socket);
  if (length >= sizeof address.sun_path) return -1;
  memcpy(address.sun_path, options.socket, length);
  int connection = socket(AF_UNIX, SOCK_STREAM, 0);
  if (connection < 0) return -1;
  int failed;
  do failed = connect(connection, (struct sockaddr *)&address, sizeof address);
  while (failed && errno == EINTR);
  if (failed) {
    if (errno == ENOENT || errno == ECONNREFUSED || errno == ENOTDIR)
      *before = "no gateway listens at ", *after = "; start it with \"hookhelm up\"";
    close(connection);
    return -1;
  }
  if (is_trusted(connection)) return connection;
  *before = "another user may be answering at ", *after = ", who is not trusted";
  close(connection);
  return UNTRUSTED;
}

static _Noreturn void end_unreachable(const char *before, const char *after) {
  TEXT(reason, 2048);
  say(&reason, before);
  put(&reason, options.socket, strnlen(options.socket, 1024));
  say(&reason, after);
  end_without_answer(reason.at, reason.length);
}

static int reach_first(void) {
  const char *before, *after;
  int connection = reach_gateway(&before, &after);
  is_down = connection == -1;
  if (connection < 0) end_unreachable(before, after);
  return connection;
}

/* Waits for a gateway that restarts. The alarm ends it. */
static int reach_again(void) {
  for (;;) {
    const char *before, *after;
    poll(NULL, 0, RETRY_MS);
    int connection = reach_gateway(&before, &after);
    if (connection == UNTRUSTED) end_unreachable(before, after);
    if (connection >= 0) return connection;
  }
}

/* The gateway's share of the time that is left, so that it can report itself that the time is over. */
static uint64_t gateway_ms(void) {
  uint64_t left = wait_left();
  uint64_t spare = left / 10 < 1000 ? left / 10 : 1000;
  return left - spare > 0 ? left - spare : 1;
}

/* What proves the run that the agent works for: a runner puts it into the environment. NULL for agents of people. */
static const char *run_proof;

#define MAX_PROOF 512

static void read_environment(char **environment) {
  static const char name[] = "HOOKHELM_RUN=";
  const size_t length = sizeof name - 1;
  for (; *environment; environment++)
    if (strnlen(*environment, length) == length && memcmp(*environment, name, length) == 0)
      run_proof = (*environment)[length] ? *environment + length : NULL;
  /* It must need no escaping in JSON. */
  for (const char *at = run_proof; at && *at; at++)
    if (*at <= ' ' || *at > '~' || *at == '"' || *at == '\\' || at - run_proof >= MAX_PROOF)
      no_answer("HOOKHELM_RUN cannot be read");
}

/* A gateway that closes the connection may have sent a reason, so a failed write is left to the reader. */
static void send_request(int connection) {
  TEXT(head, HEAD_ROOM);
  say(&head, "{\"hookhelm\":1,\"agent\":\"");
  say(&head, options.agent);
  say(&head, "\",\"pid\":");
  say_number(&head, (uint64_t)getpid());
  say(&head, "}\n{\"id\":1,\"event\":\"");
  say(&head, options.event);
  say(&head, "\",\"within_ms\":");
  say_number(&head, gateway_ms());
  if (approval[0]) {
    say(&head, ",\"approval_id\":\"");
    say(&head, approval);
    say(&head, "\"");
  }
  if (run_proof) {
    say(&head, ",\"run\":\"");
    say(&head, run_proof);
    say(&head, "\"");
  }
  say(&head, ",\"native\":");
  const byte *at = payload_start() - head.length;
  memcpy(payload_start() - head.length, head.at, head.length);
  memcpy(payload.at + payload.length, TAIL, TAIL_LENGTH);
  size_t count = head.length + payload_length() + TAIL_LENGTH;
  while (count > 0) {
    ssize_t sent = send(connection, at, count, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return;
    at += sent, count -= (size_t)sent;
  }
}

static byte first_answer_room[32u << 10];
static struct bytes answer = {first_answer_room, 0, sizeof first_answer_room};

static const char UNREADABLE[] = "the gateway's answer cannot be read";

struct reply {
  int exit;
  struct string out, err;
};

/* `{"id":1,"reply":{"exit":0,"stdout":"…","stderr":"…"}}`, to the byte, but for how characters are escaped. */
static bool take_reply(struct cursor *line, struct reply *reply) {
  uint64_t code;
  if (!take_word(line, "{\"id\":1,\"reply\":{\"exit\":") || !take_count(line, 255, &code)) return false;
  reply->exit = (int)code;
  return take_word(line, ",\"stdout\":") && take_string(line, &reply->out) && take_word(line, ",\"stderr\":") &&
         take_string(line, &reply->err) && take_word(line, "}}") && line->at == line->end;
}

/* `{"id":1,"pending":"…","until_ms":123}`: a person is being asked. */
static bool take_pending(struct cursor *line, struct string *who, uint64_t *until) {
  return take_word(line, "{\"id\":1,\"pending\":") && take_string(line, who) && take_word(line, ",\"until_ms\":") &&
         take_count(line, 9999999999999999u, until) && take(line, '}') && line->at == line->end;
}

/* The text ends with the name of the question: "apr_" and 16 digits in base 16. */
static void remember_approval(const struct string *who) {
  if (approval[0] || who->length < APPROVAL_LENGTH) return;
  const byte *name = who->at + who->length - APPROVAL_LENGTH;
  if (memcmp(name, "apr_", 4) != 0) return;
  for (const byte *at = name + 4; at < name + APPROVAL_LENGTH; at++)
    if (!((*at >= '0' && *at <= '9') || (*at >= 'a' && *at <= 'f'))) return;
  memcpy(approval, name, APPROVAL_LENGTH);
}

/* Moves the alarm to the time that the gateway names, but never closer, and never beyond --wait. */
static void extend_alarm(uint64_t until) {
  struct itimerval timer;
  getitimer(ITIMER_REAL, &timer);
  uint64_t set = (uint64_t)timer.it_value.tv_sec * 1000 + (uint64_t)timer.it_value.tv_usec / 1000;
  uint64_t now = now_ms(), most = wait_left();
  uint64_t wanted = until > now ? until - now + REPORT_MS : 0;
  if (wanted > most) wanted = most;
  if (wanted > set) set_alarm((long)wanted);
}

/* A call that a person is asked about does not pass unanswered, whatever --fail-open says. */
static void wait_for_person(const struct string *who, uint64_t until) {
  is_waiting = 0;
  atomic_signal_fence(memory_order_seq_cst);
  wait_text.length = 0;
  say_line(&wait_text, who->at, who->length);
  remember_approval(who);
  atomic_signal_fence(memory_order_seq_cst);
  stays_closed = 1, is_waiting = 1;
  extend_alarm(until);
}

/* `{"id":1,"error":{"code":"…","message":"…",…}}`. An empty message explains nothing. */
static bool take_error(struct cursor *line, struct string *code, struct string *message) {
  return (take_word(line, "{\"id\":1,\"error\":{\"code\":") || take_word(line, "{\"id\":null,\"error\":{\"code\":")) &&
         take_string(line, code) && take_word(line, ",\"message\":") && take_string(line, message) &&
         message->length > 0;
}

static _Noreturn void print_reply(const struct reply *reply) {
  is_printing = 1, stays_closed = 1;
  if (!write_all(STDOUT_FILENO, reply->out.at, reply->out.length)) {
    if (options.observe) _exit(0);
    end_at_once("hookhelm: the answer could not be written to stdout");
  }
  write_all(STDERR_FILENO, reply->err.at, reply->err.length);
  _exit(reply->exit);
}

static bool is_text(const struct string *string, const char *text) {
  return string->length == strlen(text) && memcmp(string->at, text, string->length) == 0;
}

/* Whether the gateway cannot answer now. */
static bool is_temporary(const struct string *code) {
  return is_text(code, "gateway.stopping") || is_text(code, "gateway.busy") || is_text(code, "gateway.rate_limited");
}

/* Handles one line. Returns if the answer is still to come; false if a new connection has to bring it. */
static bool heed(byte *start, size_t length, bool more_follows) {
  struct cursor line = {start, start + length};
  struct string code, message;
  uint64_t until;
  if (take_pending(&line, &message, &until)) {
    wait_for_person(&message, until);
    return true;
  }
  line.at = start;
  if (take_error(&line, &code, &message)) {
    if (approval[0] && is_temporary(&code)) return false;
    end_without_answer((const char *)message.at, message.length);
  }
  line.at = start;
  struct reply reply;
  if (!take_reply(&line, &reply) || more_follows) no_answer(UNREADABLE);
  print_reply(&reply);
}

/* Returns if the connection was lost while a person is being asked. */
static void await_answer(int connection) {
  size_t searched = 0;
  answer.length = 0;
  for (;;) {
    if (!make_room(&answer, MAX_LINE)) no_answer(answer.room >= MAX_LINE ? UNREADABLE : "out of memory");
    if (is_waiting) watch_caller(connection);
    ssize_t count = read_some(connection, answer.at + answer.length, answer.room - answer.length);
    if (count <= 0 && approval[0]) return;
    is_down = count <= 0;
    if (is_down) no_answer("the gateway ended the connection without an answer");
    answer.length += (size_t)count;
    byte *end;
    while ((end = memchr(answer.at + searched, '\n', answer.length - searched))) {
      size_t length = (size_t)(end - answer.at), rest = answer.length - length - 1;
      if (!heed(answer.at, length, rest > 0)) return;
      memmove(answer.at, end + 1, rest);
      answer.length = rest, searched = 0;
    }
    searched = answer.length;
  }
}

int main(int count, char **words, char **environment) {
  started_ms = read_clock(CLOCK_MONOTONIC);
  parent = getppid();
  trap_signals();
  fill_standard_ends();
  read_arguments(count, words);
  set_alarm(options.within_ms);
  const char *wrong = read_payload();
  if (wrong) no_answer(wrong);
  too_late = "the gateway did not answer within ";
  read_environment(environment);
  for (int connection = reach_first();; connection = reach_again()) {
    gateway = connection;
    send_request(connection);
    /* While the gateway decides, so that it takes no time. An observation waits for no person. */
    if (caller_count == 0 && !options.observe) find_callers(words[0]);
    await_answer(connection);
    gateway = -1;
    close(connection);
  }
}
