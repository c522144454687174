/* SPDX-License-Identifier: MIT
 * What the files of the language server share. Offsets are bytes of a document's text; positions
 * are the protocol's lines and characters, which only text.c knows. */
#ifndef CPS_LSP_PRIVATE_H
#define CPS_LSP_PRIVATE_H

#include "fw/asm/asm.h"
#include "isa/base/buf.h"
#include "tools/cmd/render/doc.h"
#include "tools/cmd/terminal/oom.h"
#include "tools/face/lsp/lsp.h"
#include "tools/face/dap/frame.h"
#include "trace/out/json.h"

/** Codes of JSON-RPC and of the protocol. */
enum lsp_code {
    LSP_PARSE_ERROR = -32700,
    LSP_INVALID_REQUEST = -32600,
    LSP_METHOD_NOT_FOUND = -32601,
    LSP_INVALID_PARAMS = -32602,
    LSP_NOT_INITIALIZED = -32002,
};

enum lsp_kind { LSP_ASM, LSP_PM4 };

enum { LSP_MOST_PLACES = 20000 /**< of one answer */ };

/** A byte of a line, and the units of UTF-16 before it there. */
struct lsp_mark {
    size_t line, at, units;
};

/** A text that the client has open. */
struct lsp_document {
    struct lsp_document *next;
    char *uri;
    int64_t version;
    enum lsp_kind kind;
    struct cps_buf text; /**< UTF-8 */
    size_t *line;        /**< where each line begins; at least one */
    size_t lines, line_room;
    struct lsp_mark *last;      /**< where the last position that was sent is; owned */
    struct cps_asm_check check; /**< of assembly: what the assembler made of the text */
    enum cps_layout layout;     /**< whose names it has */
};

enum lsp_state { LSP_NEW, LSP_READY, LSP_SHUT };

struct lsp {
    struct frame frame;
    FILE *out;
    enum lsp_state state;
    bool done;
    bool utf8;         /**< positions count bytes, not units of UTF-16 */
    bool markdown;     /**< the client shows it in a hover */
    bool hierarchical; /**< the client knows symbols with ranges */
    struct cps_run_config config;
    lsp_options *options;
    const void *context;
    unsigned gen;              /**< enum cps_gen of assembly that does not say it; 0: none */
    struct json_object *named; /**< options of the client, which texts of `config` point into */
    struct lsp_document *documents;
    size_t bytes; /**< of all documents */
    struct cps_names *names[CPS_LAYOUT_COUNT];
    struct cps_err *failed; /**< what ends the session */
};

/** What a request gets: its parameters, and where the result goes. */
struct lsp_request {
    struct json_object *params;
    struct lsp_document *document; /**< that the parameters name, if the row of lsp.def wants one */
    size_t offset;                 /**< of the position, if it wants one */
    struct json_object *result;    /**< owned until it is sent; NULL: null */
};

/* ---- serve.c ---- */

/** Sends a notification; takes @p params over. */
void lsp_notify(struct lsp *l, const char *method, struct json_object *params);

/* ---- start.c: answers to `initialize` ---- */

CPS_MUST_USE struct cps_err *lsp_initialize(struct lsp *l, struct lsp_request *r);
/** The names of a layout; NULL if they cannot be had, which ends the session. */
const struct cps_names *lsp_names(struct lsp *l, enum cps_layout layout);

/* ---- document.c: what is open ---- */

struct lsp_document *lsp_find(struct lsp *l, const char *uri);
/** Releases all. */
void lsp_forget(struct lsp *l);
CPS_MUST_USE struct cps_err *lsp_open(struct lsp *l, struct lsp_request *r);
CPS_MUST_USE struct cps_err *lsp_change(struct lsp *l, struct lsp_request *r);
CPS_MUST_USE struct cps_err *lsp_close(struct lsp *l, struct lsp_request *r);

/* ---- text.c: positions ---- */

/** Finds the lines again after a change. */
void lsp_index(struct lsp_document *d);
/** The byte of a position; of a line after the last one the text's end, of a character after the
 * line's end that. @return false if @p position is none */
bool lsp_offset(const struct lsp *l, const struct lsp_document *d, struct json_object *position,
                size_t *ret);
/** The bytes of a range, in their order. */
bool lsp_range(const struct lsp *l, const struct lsp_document *d, struct json_object *range,
               size_t ret[2]);
/** Makes a range a member of @p to. */
void lsp_put_range(const struct lsp *l, const struct lsp_document *d, struct json_object *to,
                   const char *key, size_t from, size_t end);
/** The end of the line that byte @p offset is in, without its line end. */
size_t lsp_line_end(const struct lsp_document *d, size_t offset);
/** The line, from 0, that byte @p offset is in. */
size_t lsp_line_of(const struct lsp_document *d, size_t offset);

/* ---- token.c: words of a line ---- */

struct lsp_token {
    size_t from, end; /**< bytes; with the sigil */
    char sigil;       /**< '@', '%', '#', '$', '.', or 0 */
    bool is_number;
    bool in_comment;
    bool is_label;  /**< a colon follows */
    unsigned index; /**< in its line from 1, labels and prefixes, which have 0, not counted */
};

/** The next word or number of the line after token->end; false if there is none. A token of zeros
 * but for `end`, the line's start, begins. */
bool lsp_next_token(const struct lsp_document *d, struct lsp_token *token);
/** The token that byte @p offset is in or directly after. */
bool lsp_token_at(const struct lsp_document *d, size_t offset, struct lsp_token *ret);
/** Its text without the sigil. */
const char *lsp_token_text(const struct lsp_document *d, const struct lsp_token *token,
                           size_t *length);
bool lsp_token_is(const struct lsp_document *d, const struct lsp_token *token, const char *text);
/** The first token of the line that is no label and no prefix; false if a comment or nothing is
 * there. */
bool lsp_first_token(const struct lsp_document *d, size_t offset, struct lsp_token *ret);

/* ---- check.c ---- */

/** Reads the document again, and sends its diagnostics. */
CPS_MUST_USE struct cps_err *lsp_check(struct lsp *l, struct lsp_document *d);
/** Sends that there are none. */
void lsp_uncheck(struct lsp *l, const struct lsp_document *d);

/* ---- place.c: labels and buffers ---- */

/** What a document gives a name: a label, or a buffer of PM4 text. */
struct lsp_name {
    size_t from, end; /**< bytes of the name */
    unsigned section; /**< of labels */
};
/** All names that are given, in the order of the text; the caller frees them. */
struct lsp_name *lsp_names_given(const struct lsp_document *d, size_t *count);
/** Where the name of a request's place is given: its first byte. False: it is none. */
bool lsp_given_at(const struct lsp_request *r, size_t *ret);
CPS_MUST_USE struct cps_err *lsp_definition(struct lsp *l, struct lsp_request *r);
CPS_MUST_USE struct cps_err *lsp_references(struct lsp *l, struct lsp_request *r);
CPS_MUST_USE struct cps_err *lsp_symbols(struct lsp *l, struct lsp_request *r);

/* ---- hover.c, complete.c ---- */

CPS_MUST_USE struct cps_err *lsp_hover(struct lsp *l, struct lsp_request *r);
CPS_MUST_USE struct cps_err *lsp_complete(struct lsp *l, struct lsp_request *r);

#endif
