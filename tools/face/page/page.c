/* SPDX-License-Identifier: MIT
 * The file: style, shell and script around the sections. The policy in its head is a promise:
 * nothing is fetched, and only this style and this script count. */
#include "tools/face/page/view.h"

#include <nettle/sha2.h>
#include <stdint.h>

#include "tools/cmd/render/html.h"
#include "view_script.h"
#include "view_shell.h"
#include "view_style.h"

static void put_bytes(struct cps_buf *out, const unsigned char *bytes, size_t size)
{
    cps_buf_add(out, (const char *)bytes, size - 1); /* without the end */
}

/* 'sha256-...' of what stands between the tags. */
static void put_hash(struct cps_buf *out, const unsigned char *bytes, size_t size)
{
    uint8_t digest[SHA256_DIGEST_SIZE];
    struct sha256_ctx context;
    sha256_init(&context);
    sha256_update(&context, size - 1, bytes);
    sha256_digest(&context, SHA256_DIGEST_SIZE, digest);
    cps_buf_str(out, "'sha256-");
    view_base64(out, digest, sizeof(digest));
    cps_buf_str(out, "'");
}

void view_page_begin(const char *title, struct cps_buf *out)
{
    cps_buf_str(out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                     "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                     "style-src ");
    put_hash(out, view_style, sizeof(view_style));
    cps_buf_str(out, "; script-src ");
    put_hash(out, view_script, sizeof(view_script));
    cps_buf_str(out, "; base-uri 'none'; form-action 'none'\">\n"
                     "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                     "<meta name=\"color-scheme\" content=\"light dark\">\n");
    html_wrap(out, "<title>", title, "</title>\n<style>");
    put_bytes(out, view_style, sizeof(view_style));
    cps_buf_str(out, "</style></head>\n");
    put_bytes(out, view_shell, sizeof(view_shell));
}

void view_page_end(struct cps_buf *out)
{
    cps_buf_str(out, "<script>");
    put_bytes(out, view_script, sizeof(view_script));
    cps_buf_str(out, "</script></body></html>\n");
}
