/* SPDX-License-Identifier: MIT
 * XML files as trees, with expat. */
#include <expat.h>
#include <stdarg.h>
#include <stdio.h>

#include "isa/base/within.h"
#include "isa/names/rnn_read.h"

/* Bytes of all files of a reading, whose trees are kept; the real database has a tenth. */
#define MAX_BYTES ((size_t)64 << 20)
/* Elements of a file; the real database has a thirtieth. */
#define MAX_NODES 1000000u
/* Memory is taken in blocks of so many bytes, so that many small things are few objects. */
#define BLOCK_BYTES ((size_t)64 << 10)

struct cps_rnn_block {
    struct cps_rnn_block *older;
    size_t used, size; /* of data */
    max_align_t data[];
};

void *cps_rnn_alloc_(struct cps_rnn *rnn, size_t size)
{
    struct cps_rnn_block *block = rnn->block;
    size = (size + sizeof(void *) - 1) / sizeof(void *) * sizeof(void *);
    if (!block || block->size - block->used < size) {
        size_t room = size > BLOCK_BYTES ? size : BLOCK_BYTES;
        block = malloc(sizeof(*block) + room);
        if (!block)
            return NULL;
        *block = (struct cps_rnn_block){.older = rnn->block, .size = room};
        rnn->block = block;
    }
    block->used += size;
    return (char *)block->data + block->used - size;
}

const char *cps_rnn_copy_(struct cps_rnn *rnn, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = cps_rnn_alloc_(rnn, size);
    return copy ? memcpy(copy, text, size) : NULL;
}

void cps_rnn_free_all_(struct cps_rnn *rnn)
{
    for (struct cps_rnn_block *older; rnn->block; rnn->block = older) {
        older = rnn->block->older;
        free(rnn->block);
    }
}

struct builder {
    struct cps_rnn *rnn;
    XML_Parser parser;
    const char *file;
    struct cps_err *err; /* the first one; then expat has been told to stop */
    unsigned depth;
    unsigned nodes;
    struct cps_rnn_node *open[CPS_RNN_MAX_DEPTH + 1];  /* by depth, from 1 */
    struct cps_rnn_node **next[CPS_RNN_MAX_DEPTH + 1]; /* where the next child goes */
};

static uint32_t line_of(const struct builder *b)
{
    return (uint32_t)XML_GetCurrentLineNumber(b->parser);
}

static CPS_PRINTF(2, 3) void fail(struct builder *b, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (!b->err)
        b->err = cps_err_within_(cps_err_vnew_(CPS_ERR_INPUT, format, args), "%s: line %u", b->file,
                                 (unsigned)line_of(b));
    va_end(args);
    XML_StopParser(b->parser, XML_FALSE);
}

static struct cps_rnn_node *make_node(struct cps_rnn *rnn, const char *name, const char **from)
{
    size_t count = 0;
    while (from[count])
        count++;
    struct cps_rnn_node *node = cps_rnn_alloc_(rnn, sizeof(*node));
    const char **to = cps_rnn_alloc_(rnn, (count + 1) * sizeof(*to));
    bool good = node && to;
    if (good)
        *node = (struct cps_rnn_node){.name = cps_rnn_copy_(rnn, name), .attributes = to};
    for (size_t i = 0; good && i < count; i++)
        good = (to[i] = cps_rnn_copy_(rnn, from[i]));
    if (good)
        to[count] = NULL;
    return good && node->name ? node : NULL;
}

static void XMLCALL start_node(void *context, const char *name, const char **attributes)
{
    struct builder *b = context;
    if (b->depth == CPS_RNN_MAX_DEPTH)
        fail(b, "elements are nested more than %u deep", CPS_RNN_MAX_DEPTH);
    else if (++b->nodes > MAX_NODES)
        fail(b, "more than %u elements", MAX_NODES);
    if (b->err)
        return;
    struct cps_rnn_node *node = make_node(b->rnn, name, attributes);
    if (!node) {
        b->err = cps_err_nomem();
        XML_StopParser(b->parser, XML_FALSE);
        return;
    }
    node->line = line_of(b);
    *b->next[b->depth] = node;
    b->next[b->depth++] = &node->next;
    b->open[b->depth] = node;
    b->next[b->depth] = &node->child;
}

static void XMLCALL end_node(void *context, const char *name)
{
    struct builder *b = context;
    (void)name;
    if (!b->err)
        b->open[b->depth--]->end_line = line_of(b);
}

/* rnndb has no document type; refusing one refuses every entity trick with it. */
static void XMLCALL refuse_doctype(void *context, const char *name, const char *system,
                                   const char *public, int has_internal)
{
    struct builder *b = context;
    (void)name;
    (void)system;
    (void)public;
    (void)has_internal;
    fail(b, "a document type declaration, which rnndb files do not have");
}

struct cps_err *cps_rnn_tree_(struct cps_rnn *rnn, const char *file, const void *data, size_t size,
                              struct cps_rnn_node **ret)
{
    if (size > MAX_BYTES - rnn->read)
        return cps_err_input(file, 0, "with the files before it larger than %zu MiB",
                             MAX_BYTES >> 20);
    rnn->read += size;
    struct builder b = {.rnn = rnn, .parser = XML_ParserCreate(NULL), .file = file, .next = {ret}};
    if (!b.parser)
        return cps_err_nomem();
    XML_SetUserData(b.parser, &b);
    XML_SetElementHandler(b.parser, start_node, end_node);
    XML_SetStartDoctypeDeclHandler(b.parser, refuse_doctype);
    bool good = XML_Parse(b.parser, data, (int)size, 1) == XML_STATUS_OK;
    enum XML_Error code = XML_GetErrorCode(b.parser);
    if (!good && code == XML_ERROR_NO_MEMORY && !b.err)
        b.err = cps_err_nomem();
    else if (!good)
        fail(&b, "%s", XML_ErrorString(code));
    XML_ParserFree(b.parser);
    return b.err;
}
