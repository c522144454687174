/* SPDX-License-Identifier: MIT
 * What the files of the full-screen view share. A byte of what it shows is a column of the
 * terminal: everything but printable ASCII is escaped before it is laid out. */
#ifndef CPS_SCREEN_PRIVATE_H
#define CPS_SCREEN_PRIVATE_H

#include "tools/face/screen/screen.h"

#define SCREEN_MIN_WIDTH  40
#define SCREEN_MIN_HEIGHT 8
#define SCREEN_SLOTS      10 /* most of a layout */
#define SCREEN_BELOW      9  /* the column of slots below all others */
#define LINE_SIZE         256

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

struct screen;

/** A row of screen_pane.def. */
struct pane_row {
    char key;
    const char *title;
    unsigned flags;
    bool (*offered)(const struct session *session);
    void (*fill)(struct screen *s, struct cps_buf *out);
    const char *asks, *help;
};
extern const struct pane_row screen_panes_[PANES];

/** A pane: its text, and how it is looked at. */
struct pane {
    struct cps_buf raw;  /**< as it was filled */
    struct cps_buf text; /**< lines as they are shown, each with a NUL */
    uint32_t *start;     /**< where each begins in `text`; owned */
    uint32_t lines;
    uint64_t filled;            /**< screen.changes then */
    int width;                  /**< that `text` is for */
    int raw_width;              /**< that `raw` is for */
    int wish_width, wish_lines; /**< the most that it had since the layout is this one */
    int top, left;              /**< of the view */
    int cursor;                 /**< line, or -1: none was chosen */
    int height;                 /**< lines that were shown last */
    char asked[LINE_SIZE];      /**< what it shall show; "": its default */
    uint64_t recent;            /**< when it was chosen, by screen.chosen */
};

/** A place of the layout: panes that share it. */
struct slot {
    enum pane_id pane[PANES];
    unsigned panes;
    enum pane_id shown;
    int column;              /**< or SCREEN_BELOW */
    int x, y, width, height; /**< the first line is its title */
};

/** What the line at the bottom is being typed for. */
enum entering { ENTERING_NOTHING, ENTERING_COMMAND, ENTERING_SEARCH, ENTERING_ASKED };

/** The line at the bottom: text, history, completion. */
struct screen_line {
    char text[LINE_SIZE];
    char (*history)[LINE_SIZE]; /* owned */
    unsigned count, back;       /* lines of it; how far back the user has gone */
    unsigned candidate;         /* of the completion */
    char typed[LINE_SIZE];      /* what was typed of it */
};

struct screen {
    struct debugger *debugger;
    struct pane pane[PANES];
    struct cps_buf output;  /**< of commands */
    struct cps_buf message; /**< one line, at the bottom */
    enum pane_id focus, back;
    uint64_t changes; /**< contents of panes may be others since */
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
    bool found;   /**< matches of the search are painted */
    struct screen_line line;
    uint64_t written; /**< memory, last */
    bool written_known;
    unsigned events;   /**< how far back they are shown; 0: the last few */
    uint64_t long_way; /**< step at which panes that retrace a long way shall do so */
};

static inline struct session *session_of(const struct screen *s)
{
    return &s->debugger->session;
}

/** Whether the terminal at hand can show the view. */
bool screen_has_terminal_(void);

/* ---- screen_pane.c ---- */

#define PANE(id, key, title, flags, offered, fill, ...)          \
    bool screen_has_##offered##_(const struct session *session); \
    void screen_fill_##fill##_(struct screen *s, struct cps_buf *out);
#include "tools/face/screen/screen_pane.def"

/** The pane of a key, PANES if there is none or the engine has nothing for it. */
enum pane_id screen_pane_of_(const struct screen *s, int key);
/** Sees to it that a pane's text is that of now, in lines for @p width. */
void screen_make_(struct screen *s, enum pane_id pane, int width);
/** Asks a pane for the width that it would like to have, from then on at least. */
void screen_request_width_(struct screen *s, enum pane_id pane);
/** A line of what it shows, "" where there is none. */
const char *screen_line_of_(const struct pane *pane, int line);
/** Appends text as columns: what is no printable ASCII as \xHH, tabulators as blanks. */
void screen_plain_(struct cps_buf *out, const char *text);
/** Appends it with lines of at most @p width; what goes on in the next one begins @p indent further
 * right. */
void screen_wrap_(struct cps_buf *out, const char *text, int width, size_t indent);
/** Whether there is code at a unit of the image. */
bool screen_is_code_(const struct session *session, uint64_t at);
/** Whether a line of a listing shows the instruction at @p pc. */
bool screen_shows_code_(const char *line, uint32_t pc);
/** Puts the cursor's line into a view of @p rows. */
void screen_settle_(struct screen *s, int rows);
/** Moves the cursor, as far as there is code. */
void screen_move_code_(struct screen *s, int lines);
/** To the place of the run. */
void screen_follow_(struct screen *s);
/** Looks at another processor. */
void screen_choose_core_(struct screen *s, unsigned core);

/* ---- screen_draw.c ---- */

void screen_paint_start_(struct screen *s);
void screen_paint_end_(void);
void screen_draw_(struct screen *s);
/** Forgets how much panes wished: another size, another layout. */
void screen_new_layout_(struct screen *s);
/** The slot that shows a pane; NULL: none does. */
const struct slot *screen_slot_of_(const struct screen *s, enum pane_id pane);
/** Shows a pane and gives it the keys. */
void screen_choose_(struct screen *s, enum pane_id pane);
/** The tab at column @p x of a slot's title; PANES: none is there. */
enum pane_id screen_tab_at_(const struct slot *slot, int x);

/* ---- screen_key.c ---- */

void screen_take_(struct screen *s, int key);
/** Runs a command; what a move prints is on the screen anyway, the rest goes to the output. */
void screen_command_(struct screen *s, const char *line, bool quiet);
/** Asks what a pane shall show. */
void screen_ask_(struct screen *s, enum pane_id pane);
/** The page of help. */
void screen_help_text_(const struct screen *s, struct cps_buf *out);

/* ---- screen.c ---- */

/** Lets the pane that has the keys do what Enter does. */
void screen_act_(struct screen *s);
/** Moves its cursor. */
void screen_move_(struct screen *s, int lines);
void screen_mouse_(struct screen *s);
/** To the next line that has what is searched for; -1: the one before. */
void screen_search_(struct screen *s, int direction);

#endif
