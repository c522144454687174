/* SPDX-License-Identifier: MIT
 * Cases: those that are built in, and those of a folder. */
#define _GNU_SOURCE
#include "tools/explain/audit/audit.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fw/audit/cases.h"
#include "isa/base/lex.h"
#include "isa/base/within.h"
#include "isa/target.h"
#include "tools/cmd/terminal/oom.h"
#include "trace/capture/stream.h"
#include "trace/form/text.h"

#define CASE_BYTES (1u << 20) /* at most */

static const char mark[] = ";@";
static const char suffix[] = ".pm4";
static const char blanks[] = " \t";

static bool read_number(const char *word, bool *any, uint64_t most, uint64_t *ret)
{
    int64_t value = 0;
    *any = !strcmp(word, "*");
    if (!*any && (!cps_lex_number(&word, &value) || *word || (uint64_t)value > most))
        return false;
    *ret = (uint64_t)value;
    return true;
}

/* Kinds whose events are a place and a value. */
static bool read_kind(const char *word, unsigned *ret)
{
    const uint32_t fit = 1u << CPS_EV_REG | 1u << CPS_EV_PIPE | 1u << CPS_EV_CTRL |
                         1u << CPS_EV_MEMW | 1u << CPS_EV_MEMR | 1u << CPS_EV_REGR |
                         1u << CPS_EV_PROT;
    uint32_t kinds = 0;
    if (strchr(word, ',') || !cps_text_classes(word, &kinds) || !kinds || (kinds & ~fit))
        return false;
    for (*ret = 0; !(kinds >> *ret & 1);)
        ++*ret;
    return true;
}

/* "reg 0x8818 0xa0 why": class, place, value, and a remark. */
static struct cps_err *add_event(struct audit_case *c, bool never, char *line)
{
    struct case_event event = {.never = never};
    char *why = NULL;
    CPS_BUF text = {0};
    const char *kind = strtok_r(line, blanks, &why);
    const char *addr = strtok_r(NULL, blanks, &why);
    const char *value = strtok_r(NULL, blanks, &why);
    uint64_t written = 0;
    if (!value || !read_kind(kind, &event.kind) ||
        !read_number(addr, &event.any_addr, UINT64_MAX, &event.addr) ||
        !read_number(value, &event.any_value, UINT32_MAX, &written) ||
        (event.any_addr && event.any_value))
        return cps_err_new(
            CPS_ERR_INPUT,
            "expected a class of events (reg, pipe, ctrl, memw, memr, regr, prot), a "
            "place and a value, one of which may be *");
    event.value = (uint32_t)written;
    why += strspn(why, blanks);
    cps_buf_printf(&text, "%s %s %s%s%s", kind, addr, value, *why ? ": " : "", why);
    event.text = tool_strdup(tool_text(&text));
    TOOL_ROOM(c->event, c->events);
    c->event[c->events++] = event;
    return NULL;
}

static struct cps_err *add_generations(struct audit_case *c, char *line)
{
    char *rest = NULL;
    for (char *word = strtok_r(line, blanks, &rest); word; word = strtok_r(NULL, blanks, &rest)) {
        enum cps_gen gen = 0;
        if (!cps_gen_parse(word, &gen) || !cps_gen_is_afuc(gen))
            return cps_err_new(CPS_ERR_INPUT, "found \"%s\", expected a5xx, a6xx, a7xx or a8xx",
                               word);
        c->gens |= cps_gen_bit(gen);
    }
    return NULL;
}

static struct cps_err *add_line(struct audit_case *c, char *line)
{
    const struct {
        const char *key;
        char **member;
    } texts[] = {{"flaw", &c->flaw},
                 {"known-as", &c->known},
                 {"packets", &c->packets},
                 {"evidence", &c->evidence}};
    char *rest = NULL;
    const char *key = strtok_r(line, blanks, &rest);
    if (!key)
        return cps_err_new(CPS_ERR_INPUT, "expected a word after \"%s\"", mark);
    rest += strspn(rest, blanks);
    for (unsigned i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (strcmp(key, texts[i].key))
            continue;
        if (*texts[i].member || !*rest)
            return cps_err_new(CPS_ERR_INPUT, "expected one line \"%s\" with something in it", key);
        *texts[i].member = rest;
        return NULL;
    }
    if (!strcmp(key, "generations"))
        return add_generations(c, rest);
    if (!strcmp(key, "needs") || !strcmp(key, "never"))
        return add_event(c, !strcmp(key, "never"), rest);
    return cps_err_new(CPS_ERR_INPUT,
                       "found \"%s\", expected flaw, known-as, generations, packets, needs, never "
                       "or evidence",
                       key);
}

/* What passes has to be seen to have been tried. */
static struct cps_err *check_case(const struct audit_case *c)
{
    size_t never = 0;
    for (size_t i = 0; i < c->events; i++)
        never += c->event[i].never;
    if (!c->flaw || !c->evidence || !c->gens)
        return cps_err_new(CPS_ERR_INPUT,
                           "expected lines \"%s flaw\", \"generations\" and \"evidence\"", mark);
    if (!never || never == c->events)
        return cps_err_new(
            CPS_ERR_INPUT,
            "%s: expected an event that it needs, by which a run without the flaw is "
            "told from one that did not come that far, and one that must never be",
            c->name);
    return NULL;
}

/* @p path  of the file, for messages. @p bytes  @p size, which may hold NULs. */
static struct cps_err *add_case(struct audit_cases *cases, const char *path, const char *bytes,
                                size_t size)
{
    const char *slash = strrchr(path, '/');
    TOOL_ROOM(cases->item, cases->count);
    struct audit_case *c = &cases->item[cases->count++];
    *c = (struct audit_case){.name = tool_strdup(slash ? slash + 1 : path), .size = size};
    char *end = strrchr(c->name, '.');
    if (end && !strcmp(end, suffix))
        *end = '\0';
    if (memchr(bytes, '\0', size))
        return cps_err_new(CPS_ERR_INPUT, "%s: found a byte 0x00, expected text", path);
    c->text = memcpy(tool_alloc(size + 1, 1), bytes, size);
    c->head = tool_strdup(c->text);
    char *at = c->head;
    unsigned number_of_line = 0;
    for (char *line; (line = files_line(&at));) {
        number_of_line++;
        if (!strncmp(line, mark, strlen(mark)))
            CPS_TRY(
                cps_err_within_(add_line(c, line + strlen(mark)), "%s:%u", path, number_of_line));
    }
    return cps_err_within_(check_case(c), "%s", path);
}

static struct cps_err *load_file(struct audit_cases *ret, const char *dir, const char *name)
{
    CPS_BUF path = {0};
    CPS_FREE uint8_t *bytes = NULL;
    size_t size = 0;
    cps_buf_printf(&path, "%s/%s", dir, name);
    CPS_TRY(cps_stream_read_file(tool_text(&path), CASE_BYTES, &bytes, &size));
    return add_case(ret, tool_text(&path), (const char *)bytes, size);
}

static int is_case(const struct dirent *entry)
{
    const char *end = strrchr(entry->d_name, '.');
    return end && end != entry->d_name && !strcmp(end, suffix);
}

struct cps_err *audit_cases_load(const char *dir, struct audit_cases *ret)
{
    struct dirent **entry = NULL;
    struct cps_err *err = NULL;
    for (size_t i = 0; !dir && i < cps_audit_text_count; i++) {
        const struct cps_audit_text *text = &cps_audit_texts[i];
        CPS_TRY(add_case(ret, text->name, (const char *)text->text, text->size));
    }
    if (!dir)
        return NULL;
    int count = scandir(dir, &entry, is_case, alphasort);
    if (count < 0)
        return cps_err_os(dir, "read the folder");
    for (int i = 0; i < count; i++) {
        err = err ? err : load_file(ret, dir, entry[i]->d_name);
        free(entry[i]);
    }
    free(entry);
    if (!err && !count)
        err = cps_err_new(CPS_ERR_INPUT, "%s: expected cases, files *%s", dir, suffix);
    return err;
}

void audit_cases_deinit(struct audit_cases *cases)
{
    for (size_t i = 0; i < cases->count; i++) {
        struct audit_case *c = &cases->item[i];
        for (size_t k = 0; k < c->events; k++)
            free(c->event[k].text);
        free(c->name);
        free(c->text);
        free(c->head);
        free(c->event);
    }
    free(cases->item);
}
