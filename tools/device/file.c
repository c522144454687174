/* SPDX-License-Identifier: MIT
 * Open files: each is a context of its own, with handles, queues and an address space. */
#include "tools/device/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "isa/base/list.h"
#include "isa/base/within.h"
#include "tools/device/poison.h"
#include "tools/device/record.h"

void device_text_clean(char *text)
{
    for (; *text; text++) {
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            *text = '?';
    }
}

/* A program that qemu runs: the first word of its command line that is no option of qemu's. */
static void name_guest(struct device_file *file, pid_t pid)
{
    char path[64];
    char line[4096] = "";
    snprintf(path, sizeof(path), "/proc/%ld/cmdline", (long)pid);
    FILE *in = fopen(path, "re");
    size_t size = in ? fread(line, 1, sizeof(line) - 1, in) : 0;
    if (in)
        fclose(in);
    for (size_t at = strlen(line) + 1; at < size; at += strlen(line + at) + 1) {
        const char *slash = strrchr(line + at, '/');
        if (line[at] == '-') {
            at += strlen(line + at) + 1; /* -L and -E have a value */
            continue;
        }
        snprintf(file->comm, sizeof(file->comm), "%s", slash ? slash + 1 : line + at);
        return;
    }
}

void device_file_name(struct device_file *file, pid_t pid)
{
    char path[64];
    file->pid = pid;
    snprintf(path, sizeof(path), "/proc/%ld/comm", (long)pid);
    FILE *in = fopen(path, "re");
    if (in && fgets(file->comm, sizeof(file->comm), in))
        file->comm[strcspn(file->comm, "\n")] = 0;
    if (!strncmp(file->comm, "qemu-", 5))
        name_guest(file, pid);
    device_text_clean(file->comm);
    if (in)
        fclose(in);
}

struct device_file *device_file_new(struct device *device)
{
    if (device->use.files >= DEVICE_MAX_FILES)
        return NULL;
    struct device_file *file = calloc(1, sizeof(*file));
    if (!file)
        return NULL;
    *file = (struct device_file){.device = device,
                                 .context = ++device->next_context,
                                 .next_queue = 1,
                                 .next_iova = UINT64_C(0x100000000),
                                 .next = device->files};
    if (!CPS_LIST_ROOM(file->queue, file->queue_count) ||
        getrandom(file->token, sizeof(file->token), 0) != sizeof(file->token)) {
        free(file->queue);
        free(file);
        return NULL;
    }
    /* Queue 0 is there from the beginning, of middle priority. */
    file->queue[file->queue_count++] = (struct device_queue){.priority = 4};
    device->files = file;
    device->use.files++;
    device->counts.files++;
    return file;
}

void device_file_free(struct device *device, struct device_file *file)
{
    struct device_file **at = &device->files;
    while (*at != file)
        at = &(*at)->next;
    *at = file->next;
    device->use.files--;
    device->use.slots -= file->handle_count + file->syncobj_count;
    for (size_t i = 0; i < file->handle_count; i++)
        device_bo_unref(device, file->handle[i].bo);
    for (size_t i = 0; i < file->syncobj_count; i++)
        device_syncobj_unref(file->syncobj[i]);
    device_gpu_forget(device, file);
    device_snapshot_unref(file->snapshot);
    device_space_deinit(device, &file->space);
    device_kgsl_close(device, file);
    while (file->queue_count)
        device_queue_close(file, &file->queue[file->queue_count - 1]);
    device->failed = cps_err_first_(device->failed, device_record_close(file->record));
    free(file->handle);
    free(file->syncobj);
    free(file->queue);
    free(file->cmdline);
    free(file);
}

void device_file_unref(struct device *device, struct device_file *file)
{
    if (file->refs && --file->refs)
        return;
    device_jobs_drop(device, file, DEVICE_ALL_QUEUES);
    /* The job that the GPU has ends first. */
    if (!file->jobs)
        device_file_free(device, file);
}

struct device_file *device_file_find(struct device *device, const uint8_t *token)
{
    struct device_file *file = device->files;
    while (file && memcmp(file->token, token, DEVICE_TOKEN) != 0)
        file = file->next;
    return file && file->refs ? file : NULL;
}
