/* SPDX-License-Identifier: MIT
 * The mutator of the debug adapter's input: requests are removed, copied, moved, and their members
 * changed; the lengths in front of them are right. The first byte belongs to the target. */
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/mutate.h"
#include "trace/out/json.h"

enum { MESSAGES = 128 };

static const char key[] = "Content-Length: ";

/* The messages of a stream, up to the first that is none. */
static unsigned take_apart(const char *at, struct json_object *ret[MESSAGES])
{
    unsigned count = 0;
    while (count < MESSAGES && !strncmp(at, key, sizeof(key) - 1)) {
        size_t size = strtoul(at + sizeof(key) - 1, (char **)&at, 10);
        CPS_BUF text = {0};
        at += strspn(at, "\r\n");
        size = strlen(at) < size ? strlen(at) : size;
        cps_buf_add(&text, at, size);
        struct json_object *message = json_tokener_parse(cps_buf_text(&text));
        if (!message)
            break;
        ret[count++] = message;
        at += size;
    }
    return count;
}

static void put_together(struct json_object *const list[], unsigned count, struct cps_buf *out)
{
    for (unsigned i = 0; i < count; i++) {
        const char *text = json_object_to_json_string_ext(list[i], JSON_C_TO_STRING_PLAIN);
        cps_buf_printf(out, "%s%zu\r\n\r\n%s", key, strlen(text), text);
    }
}

/* @return how many there are then */
static unsigned change(uint32_t *state, struct json_object *list[MESSAGES], unsigned count)
{
    unsigned a = mutate_below(state, count);
    unsigned b = mutate_below(state, count);
    struct json_object *moved = list[a];
    switch (mutate_below(state, 6)) {
    case 0:
        list[a] = list[b];
        list[b] = moved;
        return count;
    case 1:
        json_object_put(moved);
        memmove(list + a, list + a + 1, (count - a - 1) * sizeof(*list));
        return count - 1;
    case 2:
        if (count < MESSAGES)
            list[count++] = json_object_get(moved);
        return count;
    default:
        mutate_json(state, list[a]);
        return count;
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    struct json_object *list[MESSAGES];
    uint32_t state = seed;
    CPS_BUF stream = {0};
    cps_buf_add(&stream, (const char *)data, size);
    unsigned count = size ? take_apart(cps_buf_text(&stream) + 1, list) : 0;
    if (!count || mutate_below(&state, 8) == 0) {
        size = LLVMFuzzerMutate(data, size, room);
    } else {
        for (unsigned i = 0; count && i <= mutate_below(&state, 3); i++)
            count = change(&state, list, count);
        stream.size = 1;
        put_together(list, count, &stream);
        size = mutate_done(&stream, data, size, room);
    }
    while (count)
        json_object_put(list[--count]);
    return size;
}
