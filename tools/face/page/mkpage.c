/* SPDX-License-Identifier: MIT
 * Build tool: files, one behind the other, as an array of bytes.
 * Usage: mkpage OUT NAME FILE... */
#include <stdio.h>

static int put_file(FILE *out, const char *path)
{
    FILE *in = fopen(path, "rb");
    unsigned column = 0;
    int c;
    if (!in)
        return perror(path), 1;
    while ((c = getc(in)) != EOF)
        fprintf(out, "%d,%s", c, ++column % 24 ? "" : "\n");
    int bad = ferror(in);
    fclose(in);
    return bad;
}

int main(int argc, char **argv)
{
    FILE *out = argc > 3 ? fopen(argv[1], "w") : NULL;
    int bad = !out;
    if (out) {
        fprintf(out, "static const unsigned char %s[] = {\n", argv[2]);
        for (int i = 3; i < argc; i++)
            bad |= put_file(out, argv[i]);
        fputs("0};\n", out);
        bad |= ferror(out);
        bad |= fclose(out);
    }
    return bad;
}
