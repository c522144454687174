/* SPDX-License-Identifier: MIT
 * `cpscope help hardware`: rows of the .def files about the hardware as they stand there. A table
 * here only has names for their columns; when a .def file changes a column, its `head` changes. */
#include "tools/cmd/options/help_hardware.h"

#include <stdio.h>
#include <string.h>

#include "tools/cmd/options/help_table.h"
#include "tools/cmd/terminal/report.h"
#include "tools/cmd/terminal/text.h"
#include "trace/out/json.h"

/* All arguments of a row as one text; EXPANDED() is for those of which macros are a part. */
#define AS_WRITTEN(...) #__VA_ARGS__
#define EXPANDED(...)   AS_WRITTEN(__VA_ARGS__)

static const struct help_row control[] = {
#define CTRL(...) {#__VA_ARGS__, {0}},
#include "emu/afuc/control/ctrl.def"
};
static const struct help_row kept[] = {
#define STORAGE(...) {#__VA_ARGS__, {0}},
#include "emu/afuc/control/storage.def"
};
static const struct help_row pipe_registers[] = {
#define PIPE_REG(...) {#__VA_ARGS__, {0}},
#include "emu/afuc/control/pipe.def"
};
static const struct help_row gpu[] = {
#define GPU_REG(id, gens, ...) {#id ", gens, " #__VA_ARGS__, {gens}},
#include "emu/afuc/control/gpu.def"
};
static const struct help_row nvidia[] = {
#define NV_REG(device, gens, ...) {#device ", gens, " #__VA_ARGS__, {gens}},
#include "emu/nv/reg.def"
};
static const struct help_row flags[] = {
#define HWSQ_FLAG(flag, gens, doubtful, ...) \
    {#flag ", gens, doubtful, " #__VA_ARGS__, {gens, doubtful}},
#include "emu/nv/hwsq_flag.def"
};
static const struct help_row pfifo[] = {
#define PFIFO_REG(gens, ...) {"gens, " #__VA_ARGS__, {gens}},
#include "emu/nv/pfifo.def"
};
static const struct help_row pushes[] = {
#define PFIFO_PUSH(...) {#__VA_ARGS__, {0}},
#include "emu/nv/pfifo.def"
};
static const struct help_row vp1[] = {
#define VP1_SR(first, last, gens, ...) {#first ", " #last ", gens, " #__VA_ARGS__, {gens}},
#include "emu/nv/vp1/sr.def"
};
static const struct help_row unknown[] = {
#define UNKNOWN(...) {#__VA_ARGS__, {0}},
#include "trace/event/event.def"
};
static const struct help_row policies[] = {
#define POLICY_FIRST(id, word) word
#define POLICY_WORD(id, word)  " " word
#define POLICY(...)            {EXPANDED(__VA_ARGS__), {0}},
#define POLICY_NUMBER(...)     {#__VA_ARGS__, {0}},
#include "emu/policy.def"
};
static const struct help_row events[] = {
#define EVENT(...) {#__VA_ARGS__, {0}},
#include "trace/event/event.def"
};
static const struct help_row words[] = {
#define SUB(...) {#__VA_ARGS__, {0}},
#include "trace/event/event.def"
};
static const struct help_row generations[] = {
#define GEN(...) {#__VA_ARGS__, {0}},
#include "isa/target.def"
};
static const struct help_row layouts[] = {
#define LAYOUT(...) {EXPANDED(__VA_ARGS__), {0}},
#include "isa/target.def"
};
static const struct help_row chips[] = {
#define TARGET(...) {#__VA_ARGS__, {0}},
#include "isa/target.def"
};
static const struct help_row roles[] = {
#define ROLE(...) {#__VA_ARGS__, {0}},
#include "isa/target.def"
};
static const struct help_row gpus[] = {
#define GPU_CHIP(...) {#__VA_ARGS__, {0}},
#include "isa/target.def"
};
static const struct help_row nv_chips[] = {
#define NV_CHIP(...) {#__VA_ARGS__, {0}},
#include "isa/nv/nvchip.def"
};
static const struct help_row workarounds[] = {
#define WORKAROUND(...) {#__VA_ARGS__, {0}},
#include "isa/target.def"
};

#define ROWS(of) of, sizeof(of) / sizeof((of)[0])

static const struct help_table tables[] = {
    {"control", "control registers of afuc; those without a row only store",
     "register pfp me a6xx a660 a7xx a750 a8xx count read write evidence", ROWS(control), 0},
    {"kept", "control registers of afuc known only by their use",
     "a6xx a660 a7xx a750 a8xx count use evidence", ROWS(kept), 0},
    {"pipe", "pipe registers of afuc", "register a5xx a6xx a7xx void write evidence",
     ROWS(pipe_registers), 0},
    {"gpu", "GPU registers that afuc's emulator does more with than store",
     "register #generations first last read write evidence", ROWS(gpu), CPS_A6XX},
    {"nvidia", "registers of NVIDIA chips that do more than store",
     "device #chips first last read write evidence", ROWS(nvidia), 0},
    {"flags", "what HWSQ's flags force: a bit of one register or two",
     "flag #chips #doubtful register second bit evidence", ROWS(flags), 0},
    {"pfifo", "registers of PFIFO",
     "#chips first count stride name member written seen read effect evidence", ROWS(pfifo),
     CPS_NV1},
    {"pushes", "what PFIFO's pusher does with a write: the first line that holds",
     "line result reason condition meaning", ROWS(pushes), 0},
    {"vp1", "special registers of VP1",
     "first last #chips mov host mask initial read write known evidence", ROWS(vp1), CPS_VP1_G80},
    {"unknown", "what no source documents, and what is done instead", "row word meaning",
     ROWS(unknown), 0},
    {"policies", "policies ('cpscope help policy' shows how to set them)",
     "engines field name words default meaning", ROWS(policies), 0},
    {"events", "what a trace is made of", "event keyword class default columns list meaning",
     ROWS(events), 0},
    {"words", "the words of events", "list word text number meaning", ROWS(words), 0},
    {"generations", "what an encoding or a register can be of",
     "generation set bit option key prefix word number layout files first draws meaning",
     ROWS(generations), 0},
    {"layouts", "numberings of registers, and the tables that have their names",
     "layout generation word chips gpu control sqe pipe packet event flag", ROWS(layouts), 0},
    {"roles", "what parts of a firmware image are for", "role name section first second meaning",
     ROWS(roles), 0},
    {"chips", "chips, by the id of their firmware",
     "id generation layout name identity variant processors evidence", ROWS(chips), 0},
    {"gpus", "generations of GPUs, from this chip id on", "first generation evidence", ROWS(gpus),
     0},
    {"names", "names of NVIDIA's GPUs, and the chip that each engine has",
     "id name code also hwsq pfifo vp1 bios evidence", ROWS(nv_chips), 0},
    {"workarounds", "work-arounds in CP_ME_INIT, by GPU id", "gpu word evidence", ROWS(workarounds),
     0},
};
enum { TABLES = sizeof(tables) / sizeof(tables[0]) };

void help_hardware_names(const char *between, struct cps_buf *out)
{
    for (unsigned i = 0; i < TABLES; i++)
        cps_buf_printf(out, "%s%s", i ? between : "", tables[i].name);
}

static bool is_wanted(const struct help_table *table, int count, char **arg)
{
    for (int i = 0; i < count; i++) {
        if (!strcmp(arg[i], table->name) || !strcmp(arg[i], "all"))
            return true;
    }
    return false;
}

static void list(void)
{
    printf("What is modelled of the hardware, and why we think so, from the rows that the emulator "
           "is made of:\n\n");
    for (unsigned i = 0; i < TABLES; i++)
        printf("  %-11s %4zu rows: %s\n", tables[i].name, tables[i].count, tables[i].title);
    printf("\n'cpscope help hardware TABLE...' prints them, 'all' every one, --json as JSON.\n");
}

static int print(int count, char **arg)
{
    CPS_BUF out = {0};
    for (unsigned i = 0; i < TABLES; i++) {
        if (!is_wanted(&tables[i], count, arg))
            continue;
        cps_buf_str(&out, out.size ? "\n" : "");
        help_layout(&tables[i], help_width(), &out);
    }
    struct cps_err *err = report_text(&out);
    return err ? report_error(err) : 0;
}

/* Without a name beside --json: every table. */
static int print_json(int count, char **arg)
{
    struct json_object *found = json_object_new_object();
    struct json_object *root = json_object_new_object();
    for (unsigned i = 0; i < TABLES; i++) {
        if (count == 1 || is_wanted(&tables[i], count, arg))
            cps_json_add(found, tables[i].name, help_json(&tables[i]));
    }
    cps_json_add(root, "hardware", found);
    struct cps_err *err = report_json(root);
    return err ? report_error(err) : 0;
}

int help_hardware(int count, char **arg)
{
    bool json = false;
    for (int i = 0; i < count; i++) {
        bool known = !strcmp(arg[i], "all") || !strcmp(arg[i], "--json");
        json |= !strcmp(arg[i], "--json");
        for (unsigned j = 0; j < TABLES && !known; j++)
            known = !strcmp(arg[i], tables[j].name);
        if (!known)
            return report_usage("help hardware: no table is called '%s'; try 'cpscope help "
                                "hardware'",
                                arg[i]);
    }
    if (json)
        return print_json(count, arg);
    if (count)
        print(count, arg);
    else
        list();
    return 0;
}
