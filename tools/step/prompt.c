/* SPDX-License-Identifier: MIT
 * A line from a person at a terminal. */
#include "tools/step/prompt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef CPS_HAVE_EDIT
#include <editline/readline.h>

static const struct debugger *completing;

static char *candidate(const char *word, int state)
{
    static unsigned next;
    size_t start = 0;
    (void)word;
    next = state ? next + 1 : 0;
    return command_complete(completing, rl_line_buffer, next, &start);
}

static char **complete(const char *word, int start, int end)
{
    (void)start;
    (void)end;
    rl_attempted_completion_over = 1;
    return rl_completion_matches(word, candidate);
}

char *prompt_line(struct debugger *debugger, const char *prompt)
{
    static char breaks[] = " \t";
    completing = debugger;
    rl_basic_word_break_characters = breaks;
    rl_attempted_completion_function = debugger ? complete : NULL;
    char *line = readline(prompt);
    if (line && *line)
        add_history(line);
    return line;
}

#else

char *prompt_line(struct debugger *debugger, const char *prompt)
{
    char *line = NULL;
    size_t room = 0;
    (void)debugger;
    fputs(prompt, stdout);
    fflush(stdout);
    if (getline(&line, &room, stdin) <= 0) {
        free(line);
        return NULL;
    }
    line[strcspn(line, "\r\n")] = '\0';
    return line;
}

#endif
