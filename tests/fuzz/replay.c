/* SPDX-License-Identifier: MIT
 * Runs a fuzz target as a plain test: the files named, then 2,000 made-up inputs. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint32_t next(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

int main(int argc, char **argv)
{
    static uint8_t data[65536];
    uint32_t seed = 1;
    for (int i = 1; i < argc; i++) {
        FILE *file = fopen(argv[i], "rb");
        if (!file)
            return 1;
        LLVMFuzzerTestOneInput(data, fread(data, 1, sizeof(data), file));
        fclose(file);
    }
    for (unsigned round = 0; round < 2000; round++) {
        size_t size = next(&seed) % 256;
        for (size_t i = 0; i < size; i++)
            data[i] = (uint8_t)(next(&seed) % (round & 1 ? 256 : 20));
        LLVMFuzzerTestOneInput(data, size);
    }
    return 0;
}
