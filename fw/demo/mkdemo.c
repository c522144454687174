/* SPDX-License-Identifier: MIT
 * Build-time tool: assembles the demo firmware and writes it, the demo's command stream, and the
 * cases of `audit` as C arrays. Usage: mkdemo SOURCE.afuc STREAM.pm4 CASE.pm4... > demo.c */
#include <stdio.h>
#include <string.h>

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

static void put_bytes(const char *name, const char *bytes, size_t size)
{
    printf("const unsigned char %s[] = {", name);
    for (size_t i = 0; i < size; i++)
        printf("%s%u,", i % 20 ? " " : "\n    ", (unsigned char)bytes[i]);
    printf("\n};\n");
}

static void put_array(const char *name, const char *bytes, size_t size)
{
    put_bytes(name, bytes, size);
    printf("const size_t %s_size = sizeof(%s);\n", name, name);
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

static bool put_cases(int count, char **path)
{
    for (int i = 0; i < count; i++) {
        CPS_BUF text = {0};
        char name[16];
        if (!read_text(path[i], &text))
            return false;
        snprintf(name, sizeof(name), "case%d", i);
        printf("static ");
        put_bytes(name, text.data, text.size);
    }
    printf("const struct cps_audit_text cps_audit_texts[] = {\n");
    for (int i = 0; i < count; i++) {
        const char *slash = strrchr(path[i], '/');
        printf("    {\"%s\", case%d, sizeof(case%d)},\n", slash ? slash + 1 : path[i], i, i);
    }
    printf("};\nconst size_t cps_audit_text_count = %d;\n", count);
    return true;
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: mkdemo SOURCE.afuc STREAM.pm4 CASE.pm4...\n");
        return 2;
    }
    printf("#include \"fw/audit/cases.h\"\n#include \"fw/demo/demo.h\"\n\n");
    return put_firmware(argv[1]) && put_stream(argv[2]) && put_cases(argc - 3, argv + 3) &&
                   fflush(stdout) == 0
               ? 0
               : 1;
}
