/* SPDX-License-Identifier: MIT
 * What the files of the full-screen view share. A byte of what it shows is a column of the
 * terminal: everything but printable ASCII is escaped before it is laid out. */
#ifndef CPS_SCREEN_PRIVATE_H
#define CPS_SCREEN_PRIVATE_H

#include "tools/cmd/terminal/oom.h"
#include "tools/face/debugger/look.h"
#include "tools/face/screen/screen.h"

#define SCREEN_MIN_WIDTH  40
#define SCREEN_MIN_HEIGHT 8
#define SCREEN_SLOTS      10 /* most of a layout */
#define LINE_SIZE         256
#define LINE_HISTORY      100

enum pane_id {
#define PANE(id, ...) PANE_##id,
#include "tools/face/screen/screen_pane.def"
    PANES
};

enum pane_flag {
    PANE_FITS = 1,  /**< its text is made for a width */
    PANE_WRAPS = 2, /**< long lines go on in the next one */
    PANE_ENDS = 4,  /**< the newest line is the last one */
    PANE_MARKS = 8  /**< the line that begins with "=>" is to be seen */
};

/** A pane: what it holds, and how it is looked at. */
struct pane {
    struct cps_buf raw;  /**< as it was filled */
    struct cps_buf text; /**< lines as they are shown */
    uint32_t *start;     /**< where each begins in `text`, and one more; owned */
    uint32_t lines, room;
    uint64_t filled;            /**< screen.changes then */
    int width;                  /**< that `text` is for */
    int raw_width;              /**< that `raw` is for */
    int wish_width, wish_lines; /**< the most that it had since the layout is this one */
    int top, left;              /**< of the view */
    int cursor;                 /**< line, or -1: nobody chose one */
    int height;                 /**< lines that were shown last */
    char asked[LINE_SIZE];      /**< what it shall show; "": what it does by itself */
    uint64_t recent;            /**< when it was chosen, by screen.chosen */
};

struct rectangle {
    int x, y, width, height; /**< the first line is its title */
};

/** A place of the layout: panes that share it. */
struct slot {
    enum pane_id pane[PANES];
    unsigned panes;
    enum pane_id shown;
    int column; /**< or SCREEN_BELOW */
    struct rectangle at;
};
enum { SCREEN_BELOW = 9 };

/** What the line at the bottom is being typed for. */
enum entering { ENTERING_NOTHING, ENTERING_COMMAND, ENTERING_SEARCH, ENTERING_ASKED };

/** The line at the bottom: text, history, completion. */
struct screen_line {
    char text[LINE_SIZE];
    char history[LINE_HISTORY][LINE_SIZE];
    unsigned count, back;  /* lines kept; how far back the user has gone */
    unsigned candidate;    /* of the completion */
    char typed[LINE_SIZE]; /* what was typed of it */
};

/** What parts of the picture look like. */
enum paint_id {
    LOOKS_PLAIN,
    LOOKS_TITLE,
    LOOKS_FOCUS, /**< title of the pane that has the keys */
    LOOKS_HEAD,
    LOOKS_NAME,
    LOOKS_CHANGE,
    LOOKS_FAINT,
    LOOKS_NOW,   /**< runs next */
    LOOKS_POINT, /**< breakpoint */
    LOOKS_CURSOR,
    LOOKS_MATCH,
    LOOKS
};

struct screen {
    struct debugger *debugger;
    struct pane pane[PANES];
    struct cps_buf output;  /**< of commands */
    struct cps_buf message; /**< one line, at the bottom */
    enum pane_id focus, back;
    uint64_t changes; /**< what panes hold may be something else since */
    uint64_t chosen;
    struct slot slot[SCREEN_SLOTS];
    unsigned slots;
    bool zoom, help, all, done, colours;
    int help_top;
    uint32_t cursor, base; /**< code: at the cursor, and in the first line; units */
    enum entering entering;
    enum pane_id asking;
    char search[LINE_SIZE];
    bool unasked; /**< the output shows itself: until the machine moves */
    bool found;   /**< what was searched for is shown */
    struct screen_line line;
    uint64_t written; /**< memory, last */
    bool written_known;
    unsigned events;   /**< how far back they are shown */
    uint64_t long_way; /**< step at which panes that retrace a long way shall do so */
};

static inline struct session *session_of(const struct screen *s)
{
    return &s->debugger->session;
}

/* ---- screen_terminal.c ---- */

/** Whether the terminal at hand can show the view. */
bool screen_has_terminal_(void);

/* ---- screen_pane.c ---- */

struct pane_row {
    char key;
    const char *title;
    unsigned flags;
    int wish;
    bool (*offered)(const struct session *session);
    void (*fill)(struct screen *s, struct cps_buf *out);
    void (*enter)(struct screen *s, const char *line);
    const char *asks, *help;
};
extern const struct pane_row screen_panes_[PANES];

/** Whether the engine has something for a pane. */
bool screen_offers_(const struct screen *s, enum pane_id pane);
/** The pane of a key, PANES if there is none or it is not offered. */
enum pane_id screen_pane_of_(const struct screen *s, int key);
/** Sees to it that a pane's text is that of now, in lines for @p width. */
void screen_make_(struct screen *s, enum pane_id pane, int width);
/** Asks a pane for the width that it would like to have, from then on at least. */
void request_width(struct screen *s, enum pane_id pane);
/** A line of what it shows, without its end. */
const char *screen_line_of_(const struct pane *pane, uint32_t line, size_t *length);
/** Appends text as columns: what is no printable ASCII as \xHH, tabulators as blanks. */
void screen_plain_(struct cps_buf *out, const char *text);
/** Appends it with lines of at most @p width; what goes on in the next one begins @p indent further
 * right. */
void screen_wrap_(struct cps_buf *out, const char *text, int width, size_t indent);

/* ---- screen_fill.c ---- */

#define PANE(id, key, title, flags, wish, offered, fill, enter, asks, help) \
    bool screen_has_##offered##_(const struct session *session);            \
    void screen_fill_##fill##_(struct screen *s, struct cps_buf *out);      \
    void screen_enter_##enter##_(struct screen *s, const char *line);
#include "tools/face/screen/screen_pane.def"

/** Whether there is code at a unit of the image. */
bool screen_is_code_(const struct session *session, uint64_t at);
/** The line of a listing that shows dword @p pc; -1: none does. */
int screen_code_line_(const char *text, uint32_t pc);
/** Puts the cursor's line into a view of @p rows. */
void screen_settle_(struct screen *s, int rows);
/** Moves the cursor, as far as there is code. */
void screen_move_code_(struct screen *s, int lines);
/** To position of the run. */
void screen_follow_(struct screen *s);
/** Looks at another processor. */
void screen_choose_core_(struct screen *s, unsigned core);

/* ---- screen_layout.c ---- */

/** Places all panes in the terminal as it is. */
void screen_lay_out_(struct screen *s);
/** Forgets how much panes wished: another size, another layout. */
void screen_new_layout_(struct screen *s);
/** The slot that shows a pane; NULL: none does. */
const struct slot *screen_slot_of_(const struct screen *s, enum pane_id pane);
/** Shows a pane and gives it the keys. */
void screen_choose_(struct screen *s, enum pane_id pane);

/* ---- screen_draw.c ---- */

void screen_draw_(struct screen *s);
/** The tab at column @p x of a slot's title; PANES: none is there. */
enum pane_id screen_tab_at_(const struct slot *slot, int x);
void screen_paint_start_(struct screen *s);

/* ---- screen_view.c ---- */

/** Lets the pane that has the keys do what Enter does. */
void screen_act_(struct screen *s);
/** Moves its cursor. */
void screen_move_(struct screen *s, int lines);
void screen_mouse_(struct screen *s);
/** Which of its events are wanted. */
unsigned long screen_mouse_events_(void);
/** To the next line that has what is searched for; -1: the one before. */
void screen_search_(struct screen *s, int direction);
/** Where a text stands in a line, whatever the case; -1: nowhere. */
int screen_find_in_(const char *line, size_t length, const char *what);

/* ---- screen_key.c ---- */

void screen_take_(struct screen *s, int key);
/** Runs a command; what a move prints is on the screen anyway, the rest goes to the output. */
void screen_command_(struct screen *s, const char *line, bool quiet);
/** Asks what a pane shall show. */
void screen_ask_(struct screen *s, enum pane_id pane);
/** The page of help. */
void screen_help_text_(const struct screen *s, struct cps_buf *out);

#endif
