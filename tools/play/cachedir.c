/* SPDX-License-Identifier: MIT
 * Where this user's cache lies, and what its entries are called by. */
#include "tools/play/cachedir.h"

#include <stdint.h>
#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void cache_hash(const char *text, size_t size, char ret[65])
{
    uint8_t digest[32];
    SHA2_CTX context;
    SHA256Init(&context);
    SHA256Update(&context, (const uint8_t *)text, size);
    SHA256Final(digest, &context);
    for (unsigned i = 0; i < sizeof(digest); i++)
        snprintf(ret + 2 * i, 3, "%02x", digest[i]);
}

void cache_default_dir(char *ret, size_t size)
{
    const char *base = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    if (base && *base)
        snprintf(ret, size, "%s/cpscope", base);
    else
        snprintf(ret, size, "%s/.cache/cpscope", home && *home ? home : "/tmp");
}

void cache_make_dirs(char *path, unsigned mode)
{
    for (char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
        *at = '\0';
        mkdir(path, mode);
        *at = '/';
    }
}
