/* SPDX-License-Identifier: MIT
 * What the files of the debug adapter share. */
#ifndef CPS_DAP_PRIVATE_H
#define CPS_DAP_PRIVATE_H

#include <sys/un.h>
#include <time.h>

#include "tools/cmd/render/doc.h"
#include "tools/cmd/terminal/oom.h"
#include "tools/face/dap/dap.h"
#include "tools/face/dap/frame.h"
#include "trace/out/json.h"

/* ---- dap_wire.c: messages, read by a thread of its own, so that a request can interrupt a run
 * ----
 */

struct dap_wire;

/**
 * Starts reading.
 * @param name       of the input, for messages
 * @param interrupt  set to 1 when a request arrives that ends a run: pause, disconnect, terminate,
 *                   restart; or when the input ends
 * @param listener   its clients are refused: one is attached; -1: none
 */
CPS_MUST_USE struct cps_err *dap_wire_open(const char *name, int in, FILE *out,
                                           atomic_int *interrupt, int listener,
                                           struct dap_wire **ret);
/** Ends without waiting for more input. NULL is fine. */
void dap_wire_close(struct dap_wire *wire);
/** Waits for the next message, which the caller releases. *ret is NULL at the end of the input.
 * @param until  of CLOCK_MONOTONIC; NULL: however long it takes
 * @return CPS_ERR_INPUT for what is not the protocol: offset, what was expected; CPS_ERR_OS: that
 * time has passed, whatever has come */
CPS_MUST_USE struct cps_err *dap_wire_next(struct dap_wire *wire, const struct timespec *until,
                                           struct json_object **ret);
/** The next message if one is there; *ret is NULL if not, or at the end of the input. */
CPS_MUST_USE struct cps_err *dap_wire_try(struct dap_wire *wire, struct json_object **ret);
/** While set, every message interrupts, not only those that end a run; also one that waits.
 * Afterwards a waiting one interrupts the next run only if it ends one. */
void dap_wire_listen(struct dap_wire *wire, bool listen);
/** Whether the input has ended and all of it was taken. */
bool dap_wire_ended(struct dap_wire *wire);
/** Sends and releases @p message, to which it adds "seq". */
void dap_wire_send(struct dap_wire *wire, struct json_object *message);
/** The same of one that has its "seq" already. */
void dap_wire_pass(struct dap_wire *wire, struct json_object *message);

/* ---- attach.c: the socket at which a run waits for an editor. It lies in a folder that is its
 * user's alone, and is checked on what was opened: owner, mode, no link; and on both ends whose
 * process the other one is. ---- */

#define ATTACH_NAME 80 /* bytes of a socket's name in its folder */

/** Where a socket is. */
struct attach_socket {
    struct cps_buf path; /**< for people */
    int folder;          /**< descriptor, -1: none */
    char name[ATTACH_NAME];
};

/** Opens the folder of @p path, which must be the user's alone.
 * @return CPS_ERR_OS; the caller calls attach_deinit() in any case */
CPS_MUST_USE struct cps_err *attach_open(const char *path, struct attach_socket *ret);
/** The same of the socket of process @p pid, in the folder "cpscope" of XDG_RUNTIME_DIR, which is
 * made if @p make. */
CPS_MUST_USE struct cps_err *attach_open_pid(long pid, bool make, struct attach_socket *ret);
/** The same where one run alone listens in that folder.
 * @return CPS_ERR_INPUT: none does, or more than one, which are named */
CPS_MUST_USE struct cps_err *attach_open_only(struct attach_socket *ret);
void attach_deinit(struct attach_socket *at);
/** Its address, by the opened folder: the path may be replaced. */
struct sockaddr_un attach_address(const struct attach_socket *at);
/** Whether what has the name is a socket that is the user's alone. *exists: whether anything has
 * it; nothing is no error. */
CPS_MUST_USE struct cps_err *attach_check(const struct attach_socket *at, bool *exists);

/** What the run's end prints first: this, or why not. One line. */
#define ATTACH_HELLO "cpscope: attach"
/** Accepts a client that waits at a listening socket, and sends a line; -1: none waits, or it is
 * another user's. */
int attach_accept(int listener, const char *line);
/** Connects with the run at a socket. @return CPS_ERR_OS, CPS_ERR_INPUT: what it printed instead */
CPS_MUST_USE struct cps_err *attach_connect(const struct attach_socket *at, int *ret);

/* ---- the adapter ---- */

/** A run that clients attach to: they get a session of their own at the position of the run,
 * so that nothing they do is seen in what the run writes. Of a device they get its own. */
struct dap_run {
    struct dap_setup setup;    /**< of the run; every input can be read again */
    struct debugger *debugger; /**< of a device, whose session clients get; NULL: of their own */
    uint64_t clock;            /**< of its engine */
    bool attached;             /**< set when a client did */
    bool ended;                /**< set when one has asked for the end of the run */
    int listener;              /**< others are refused there; -1: there is none */
    int socket;                /**< of the client that is served */
    struct timespec patience_ends; /**< by then it has attached, or is let go */
};
/** The same for a client that comes through a socket, until it lets go or is gone, or has not
 * attached in 5 s.
 * @return CPS_ERR_NOMEM and the like: that of a client is none */
CPS_MUST_USE struct cps_err *dap_serve_run(struct dap_run *run, int socket);

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

/** A reference of variables is 1 + core * DAP_SPACES + space, or fields... */
enum dap_space { DAP_GENERAL, DAP_CONTROL, DAP_SQE, DAP_GPU, DAP_PACKET, DAP_STREAMS, DAP_SPACES };
/** ...of a register: DAP_FIELDS + core << 20 + space << 18 + number. */
#define DAP_FIELDS (INT64_C(1) << 23)

struct dap {
    struct debugger *debugger;
    struct session *session; /* the debugger's */
    struct dap_wire *wire;
    struct dap_run *run;          /* that the client attaches to; NULL: this is the adapter */
    struct dap_relay *relay;      /* which passes messages on to a run; NULL: it does not */
    struct json_object *hello;    /* arguments of `initialize`, for that run; owned */
    struct json_object *request;  /* that is handled now, ... */
    struct json_object *in, *out; /* ...its arguments, and the body of its answer */
    int how;                      /* of its row */
    dap_options *options;         /* reads the arguments of `launch` */
    struct dap_setup setup;       /* of it; its texts are in... */
    struct json_object *launched; /* ...this, owned */
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
    unsigned shown_core;       /* of the last stack that the client asked for */
    bool unseen;               /* it has not asked for one since a move that it did not ask for */
    bool ignored;              /* a `continue` that answers such a move */
    bool typed;                /* a command ran whose effect was not reported yet... */
    uint64_t moves;            /* ...after so many of the debugger's moves */
    struct cps_err *failed;    /* of the wire, while running */
    uint64_t start;            /* step that `restart` goes to */
    struct json_object *lists; /* enum dap_list of points that the client has set, by id; owned */
    struct json_object *known; /* points that were reported, by id; owned */
};

/* The functions that rows of dap.def name. */
#define REQUEST(command, when, run, then, how, arguments) \
    struct cps_err *dap_##run(struct dap *dap);           \
    void dap_##then(struct dap *dap, int how_);
#include "tools/face/dap/dap.def"

/** An integer that counts or names something; one out of all bounds is the nearest that is in
 * them, so that it can be added to. */
int64_t dap_number(struct json_object *from, const char *key, int64_t fallback);
/** A text of the request at hand, or NULL. */
const char *dap_text(const struct dap *dap, const char *key);
/** The core of the request's thread id, if it has one, or an error. */
CPS_MUST_USE struct cps_err *dap_thread(const struct dap *dap, unsigned *ret);

/** Answers one request, and does what it asks for. */
void dap_handle(struct dap *dap, struct json_object *request);
/** Shows a text in the client's console. */
void dap_output(struct dap *dap, const struct cps_buf *text);
/** Sends an event; takes @p body over; NULL: it has none. */
void dap_event(struct dap *dap, const char *name, struct json_object *body);

/* ---- dap_session.c ---- */

/** An answer that the client does not take within @p seconds is dropped; 0: it waits. */
void dap_limit_sending(int socket, unsigned seconds);

/* ---- dap_move.c ---- */

/** Tells what a command of the console did. */
void dap_typed(struct dap *dap);
/** Goes to where the session was opened. */
void dap_restarted(struct dap *dap);

/* ---- dap_points.c ---- */

/** The list that a point belongs to; DAP_LISTS: it was typed. */
int dap_list_of(const struct dap *dap, int id);
/** Takes note of all points. Unless the client was told in an answer, tells it of those that are
 * new, gone, or others now. */
void dap_know_points(struct dap *dap, bool told);

/* ---- dap_code.c ---- */

/** "source" and "line" of a place: in a file that is there, else in the listing; nothing where
 * there is no code. */
void dap_put_source(const struct dap *dap, unsigned core, uint32_t pc, struct json_object *to);
/** The same of the processor's listing. */
void dap_put_listing(const struct dap *dap, unsigned core, uint32_t pc, struct json_object *to);
/** Whether the request at hand is about a listing, and whose: by the reference in its arguments or
 * in their "source"; a source without reference, path and name is that of the last stack: nvim-dap
 * shows listings in buffers without a name. */
CPS_MUST_USE struct cps_err *dap_find_listing(const struct dap *dap, bool *is, unsigned *core);
/** The instruction in a line, from 1. */
CPS_MUST_USE struct cps_err *dap_listing_pc(const struct dap *dap, unsigned core, int64_t line,
                                            uint32_t *ret);
/** Address of an instruction: where the image lies in GPU memory. */
uint64_t dap_code_address(const struct dap *dap, unsigned core, int64_t pc);
/** The core whose image holds @p address, and the dword there; false if none does. */
bool dap_find_code(const struct dap *dap, uint64_t address, unsigned *core, int64_t *pc);
/** "0x..." plus the bytes in arguments' "offset". */
CPS_MUST_USE struct cps_err *dap_reference(struct json_object *arguments, const char *key,
                                           uint64_t *ret);

#endif
