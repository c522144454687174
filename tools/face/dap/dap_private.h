/* SPDX-License-Identifier: MIT
 * What the files of the debug adapter share. */
#ifndef CPS_DAP_PRIVATE_H
#define CPS_DAP_PRIVATE_H

#include "tools/face/dap/dap.h"
#include "tools/face/dap/dap_wire.h"

/** The lists of points that a client sets as a whole. */
enum dap_list {
    DAP_SOURCE,
    DAP_LISTING,
    DAP_FUNCTION,
    DAP_INSTRUCTION,
    DAP_DATA,
    DAP_EXCEPTION,
    DAP_LISTS
};
#define DAP_MAX_POINTS 256

/** What a reference of variables stands for: 1 + core * DAP_SPACES + space, or fields... */
enum dap_space { DAP_GENERAL, DAP_CONTROL, DAP_SQE, DAP_GPU, DAP_PACKET, DAP_STREAMS, DAP_SPACES };
/** ...of a register: DAP_FIELDS + core << 20 + space << 18 + number. */
#define DAP_FIELDS     (INT64_C(1) << 23)
#define DAP_MAX_FIELDS (INT64_C(1) << 18) /* registers of a space */

struct dap {
    struct debugger *debugger;
    struct dap_wire *wire;
    struct dap_run *run;          /* that the client attaches to; NULL: this is the adapter */
    struct dap_relay *relay;      /* which passes messages on to a run; NULL: it does not */
    struct json_object *hello;    /* arguments of `initialize`, for that run; owned */
    struct json_object *request;  /* that is handled now */
    struct cps_options opt;       /* of `launch`; its texts are in... */
    struct json_object *launched; /* ...this, owned */
    char *capture[1];             /* opt.arg */
    bool open;                    /* there is a session */
    bool stop_on_entry;
    bool done;
    bool lines_from_0; /* the client counts lines from 0 */
    bool columns_from_0;
    bool running; /* in run_on_and_answer() */
    bool pausing; /* a request ends the run */
    bool restarting;
    bool told_running; /* the client knows that the machine runs */
    bool is_neovim;
    unsigned shown_core;    /* of the last stack that the client asked for */
    bool unseen;            /* it has not asked for one since a move that it did not ask for */
    bool ignored;           /* a `continue` that answers such a move */
    bool typed;             /* a command ran, and the client was not told what it did... */
    uint64_t moves;         /* ...behind so many of the debugger's moves */
    struct cps_err *failed; /* of the wire, while running or sending */
    uint64_t start;         /* step that `restart` goes to */
    int point[DAP_LISTS][DAP_MAX_POINTS]; /* ids */
    unsigned point_count[DAP_LISTS];
    struct dap_known *known; /* points that the client was told of; owned */
    size_t known_count;
};

/** Types of arguments, as dap.def names them. */
enum dap_kind { DAP_NUMBER, DAP_TEXT, DAP_BOOL, DAP_LIST, DAP_OBJECT };
/** Whether what a request carries is as dap.def says.
 * @return NULL, or CPS_ERR_INPUT: which argument, what was found, what was expected */
CPS_MUST_USE struct cps_err *dap_check(const char *request, struct json_object *arguments);
/** The same of one value; NULL is fine. */
CPS_MUST_USE struct cps_err *dap_check_kind(const char *request, const char *name,
                                            struct json_object *value, enum dap_kind kind);

/** An integer that counts or names something; one out of all bounds is the nearest that is in
 * them, so that it can be added to. */
int64_t dap_number(struct json_object *from, const char *key, int64_t fallback);
/** Adds "key": "0x..." of at least @p digits digits. */
void dap_put_hex(struct json_object *to, const char *key, uint64_t value, int digits);

/** Sends a message, which it takes over; what becomes of that is in `failed`. */
void dap_send(struct dap *dap, struct json_object *message);
/** Answers one request, and does what it asks for. */
void dap_handle(struct dap *dap, struct json_object *request);
/** Shows a text in the client's console. */
void dap_output(struct dap *dap, const struct cps_buf *text);
/** Sends an event; takes @p body over, of which NULL is one that was lost for lack of memory. */
void dap_event(struct dap *dap, const char *name, struct json_object *body);
/** Tells the client that values may be others now. */
void dap_changed(struct dap *dap);
/** The core of a thread id, or an error. */
CPS_MUST_USE struct cps_err *dap_thread(const struct dap *dap, struct json_object *arguments,
                                        unsigned *ret);
/** "source" and "line" of a place: in a file that is there, else in the listing; nothing where
 * there is no code. */
void dap_put_source(const struct dap *dap, unsigned core, uint32_t pc, struct json_object *to);
/** The same of the processor's listing. */
void dap_put_listing(const struct dap *dap, unsigned core, uint32_t pc, struct json_object *to);
/** Whether arguments are about a listing, and whose. */
struct dap_listing {
    bool is;
    unsigned core;
};
/** By the reference in them or in their "source"; a source without reference, path and name is that
 * of the last stack: nvim-dap shows listings in buffers without a name. */
CPS_MUST_USE struct cps_err *dap_find_listing(const struct dap *dap, struct json_object *arguments,
                                              struct dap_listing *ret);
/** The instruction in a line, from 1. */
CPS_MUST_USE struct cps_err *dap_listing_pc(const struct dap *dap, unsigned core, int64_t line,
                                            uint32_t *ret);
/** Appends the instruction's units in hex. */
void dap_put_bytes(const struct dap *dap, unsigned core, uint32_t pc, struct cps_buf *out);
/** Address of an instruction: where the image lies in GPU memory. */
uint64_t dap_code_address(const struct dap *dap, unsigned core, uint32_t pc);
/** Whether there is code at @p pc of a core. */
bool dap_has_code(const struct dap *dap, unsigned core, int64_t pc);
/** The core whose image holds @p address, and the dword there; false if none does. */
bool dap_find_code(const struct dap *dap, uint64_t address, unsigned *core, int64_t *pc);
/** "0x..." plus the bytes in arguments' "offset". */
CPS_MUST_USE struct cps_err *dap_reference(struct json_object *arguments, const char *key,
                                           uint64_t *ret);

typedef struct cps_err *dap_handler(struct dap *dap, struct json_object *arguments,
                                    struct json_object *body);
/** What follows behind the answer. */
typedef void dap_then(struct dap *dap);
/* dap_launch.c */
dap_handler dap_launch;
dap_then dap_launched, dap_run_script;
/* dap_attach.c */
dap_handler dap_attach, dap_disconnects;
/** An answer that the client does not take within @p seconds is dropped; 0: it waits. */
void dap_limit_sending(int socket, unsigned seconds);
dap_then dap_attached;
/* dap_relay.c */
/** Begins to speak with a run, as the client did. @param socket  becomes the relay's
 * @return CPS_ERR_INPUT: it is over */
CPS_MUST_USE struct cps_err *dap_relay_open(struct dap *dap, int socket, struct dap_relay **ret);
/** Passes the request at hand on, and all that follow, until the client leaves or the run does. */
void dap_relay_run(struct dap *dap);
/* dap_move.c */
dap_handler dap_on_thread, dap_continues, dap_pauses, dap_restarts, dap_goto_targets, dap_goes_to;
dap_then dap_configured, dap_run_on, dap_run_next, dap_run_in, dap_run_out, dap_run_back,
    dap_run_reverse, dap_restarted, dap_went_to;
/** Tells what a command of the console did. */
dap_then dap_typed;
/* dap_state.c */
dap_handler dap_threads, dap_stack_trace, dap_scopes, dap_variables, dap_set_variable,
    dap_set_expression, dap_evaluate, dap_completions;
/* dap_fields.c */
/** A reference to the fields of a register, 0 if it has none. */
int64_t dap_fields_reference(const struct dap *dap, unsigned core, enum dap_space space,
                             uint32_t number);
/** Answers `variables` for such a reference. */
dap_handler dap_fields;
/* dap_listing.c */
dap_handler dap_source, dap_loaded_sources;
/* dap_points.c */
dap_handler dap_set_breakpoints, dap_set_function_breakpoints, dap_set_instruction_breakpoints,
    dap_set_data_breakpoints, dap_data_breakpoint_info, dap_set_exception_breakpoints;
/* dap_known.c */
/** Takes note of all points. Unless the client was told in an answer, tells it of those that are
 * new, gone, or others now. */
void dap_know_points(struct dap *dap, bool told);
/** Whether it stops whenever one processor reaches a place. */
bool dap_is_plain(const struct cps_debug_point *point);
/* dap_memory.c */
dap_handler dap_read_memory, dap_write_memory, dap_disassemble;
/* dap_draw.c */
dap_handler dap_draw_state;
/* dap_why.c */
dap_handler dap_why;

#endif
