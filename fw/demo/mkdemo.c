/* SPDX-License-Identifier: MIT
 * Build-time tool: assembles the demo firmware and writes it, and the demo's command stream, as C
 * arrays. Usage: mkdemo SOURCE.afuc STREAM.pm4 > demo.c */
#include <stdio.h>

#include "isa/base/le.h"
#include "fw/fw.h"

static bool read_text(const char *path, struct cps_buf *ret)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        return false;
    }
    char chunk[4096];
    for (size_t n; (n = fread(chunk, 1, sizeof(chunk), file)) > 0;)
        cps_buf_add(ret, chunk, n);
    bool ok = !ferror(file) && !ret->failed;
    if (!ok)
        fprintf(stderr, "%s: cannot read\n", path);
    fclose(file);
    return ok;
}

static void put_array(const char *name, const char *bytes, size_t size)
{
    printf("const unsigned char %s[] = {", name);
    for (size_t i = 0; i < size; i++)
        printf("%s%u,", i % 20 ? " " : "\n    ", (unsigned char)bytes[i]);
    printf("\n};\nconst size_t %s_size = sizeof(%s);\n", name, name);
}

static bool put_firmware(const char *path)
{
    CPS_BUF text = {0};
    struct cps_asm program = {0};
    if (!read_text(path, &text))
        return false;
    struct cps_err *err = cps_assemble(path, cps_buf_text(&text), text.size, 0, &program);
    if (err) {
        fprintf(stderr, "%s\n", err->message);
        cps_err_free(err);
        return false;
    }
    CPS_BUF bytes = {0};
    for (uint32_t i = 0; i < program.count; i++) {
        uint8_t word[4];
        cps_put_le32(word, program.words[i]);
        cps_buf_add(&bytes, (const char *)word, sizeof(word));
    }
    free(program.words);
    if (!bytes.failed)
        put_array("cps_demo_fw", bytes.data, bytes.size);
    return !bytes.failed;
}

static bool put_stream(const char *path)
{
    CPS_BUF text = {0};
    if (!read_text(path, &text))
        return false;
    put_array("cps_demo_pm4", cps_buf_text(&text), text.size);
    return true;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: mkdemo SOURCE.afuc STREAM.pm4\n");
        return 2;
    }
    printf("#include \"fw/demo/demo.h\"\n\n");
    return put_firmware(argv[1]) && put_stream(argv[2]) && fflush(stdout) == 0 ? 0 : 1;
}
