/* SPDX-License-Identifier: MIT
 * The mutator of a JSON document as a whole. */
#include "tests/fuzz/mutate.h"

#include "trace/out/json.h"

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    uint32_t state = seed;
    CPS_BUF text = {0};
    cps_buf_add(&text, (const char *)data, size);
    struct json_object *root =
        mutate_below(&state, 8) ? json_tokener_parse(cps_buf_text(&text)) : NULL;
    if (!root)
        return LLVMFuzzerMutate(data, size, room);
    for (unsigned i = 0; i <= mutate_below(&state, 3); i++)
        mutate_json(&state, root);
    cps_buf_clear(&text);
    cps_buf_str(&text, json_object_to_json_string_ext(root, JSON_C_TO_STRING_PLAIN));
    json_object_put(root);
    return mutate_done(&text, data, size, room);
}
