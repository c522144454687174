/* SPDX-License-Identifier: MIT
 * The virtual device: what the kernel's msm driver does for its clients, over an emulated command
 * processor. One thread: a loop of poll() answers clients, and lets the GPU run in between.
 *
 *   server.c   connections and messages; questions whose answer has to wait
 *   question.c what connections send
 *   call.c     a function for each ioctl
 *   call_sync.c, call_job.c  those of syncobjs, and those that make jobs
 *   call_kgsl.c, call_kgsl_job.c  those of KGSL; kgsl.c its memory
 *   process.c  the memory of clients' processes
 *   file.c     open files, each a context
 *   memory.c   buffers, handles, address spaces (memory.h)
 *   poison.c   memory that changes under a submission; freed.c  who freed it
 *   sync.c     fences, syncobjs, sync files
 *   queue.c    submit queues and jobs: what runs next
 *   gpu.c      the engine: a job in, its fence out; waits, hangs, recovery
 *   gpu_host.c what the engine asks the device for: memory, time
 *   chip.c     the chips, by chip.def
 *   folder.c   the private folder that clients see, and the program that is started
 *
 * Clients are not trusted: every number is checked, what they hold is counted against limits, and
 * they reach only what they have a handle of. */
#ifndef CPS_DEVICE_H
#define CPS_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "isa/base/err.h"
#include "tools/device/memory.h"
#include "tools/device/protocol.h"
#include "emu/afuc/afuc.h"
#include "tools/run/play.h"

#define DEVICE_PAGE UINT64_C(4096)
/** Addresses that page tables of the GPU reach (kernel: adreno_private_vm_size()); the ring and the
 * firmware's image lie higher. */
#define DEVICE_SPACE_END (UINT64_C(1) << 48)
/** Address ranges that clients choose from (kernel: ADRENO_VM_START, adreno_private_vm_size()). */
#define DEVICE_VA_START UINT64_C(0x100000000)
#define DEVICE_VA_SIZE  UINT64_C(0xffff00000000)
/** Where shaders that access wrong addresses are led to (UCHE_TRAP_BASE). */
#define DEVICE_TRAP_BASE UINT64_C(0x1fffffffff000)

/* ---- chips ---- */

/** A chip, as the kernel describes it to clients. */
struct device_chip {
    const char *name;   /**< "a750" */
    uint32_t gpu_id;    /**< what MSM_PARAM_GPU_ID says: 0 from 0x43.. on */
    uint64_t chip_id;   /**< what MSM_PARAM_CHIP_ID says */
    uint32_t gmem_kib;  /**< on-chip memory */
    uint32_t gmem_base; /**< where it lies */
    uint8_t bank_bit, swizzle, macrotile;
    bool raytracing;
    const char *firmware[2]; /**< files, as the kernel asks for them; a5xx: PFP and ME */
};
/** Notes firmware of another chip. @return CPS_ERR_MISMATCH for that of another generation */
CPS_MUST_USE struct cps_err *device_chip_check(const struct device_chip *chip,
                                               const struct play *play);
/** The row of a name, or NULL. */
const struct device_chip *device_chip_find(const char *name);
/** Row @p index, or NULL behind the last one. */
const struct device_chip *device_chip_at(size_t index);

/* ---- limits of one open file ---- */

enum {
    DEVICE_MAX_HANDLES = 1 << 16,  /**< buffers, and as many syncobjs */
    DEVICE_MAX_QUEUES = 256,       /**< submit queues */
    DEVICE_MAX_JOBS = 4096,        /**< that have not ended; of the device four times as many */
    DEVICE_MAX_CMDS = 4096,        /**< command buffers of a job */
    DEVICE_MAX_POINTS = 4096,      /**< that wait on a timeline */
    DEVICE_MAX_MAPPINGS = 1 << 16, /**< of an address space */
    DEVICE_MAX_CLIENTS = 1024,     /**< connections of the device */
    DEVICE_MAX_SYNC_FILES = 16384, /**< of the device */
    DEVICE_MAX_TEXT = 4096,        /**< bytes of a name or of metadata */
};
/** The same of the device, whose memory all clients share. */
enum {
    DEVICE_MAX_FILES = 4096,
    DEVICE_MAX_SLOTS = 1 << 19,        /**< of tables of handles, free or not */
    DEVICE_MAX_ALL_POINTS = 1 << 20,   /**< of timelines, and of merged fences */
    DEVICE_MAX_ALL_MAPPINGS = 1 << 20, /**< of address spaces */
    DEVICE_MAX_ITEMS = 1 << 20,        /**< buffers, commands and changes of jobs */
    DEVICE_MAX_WAITED = 1 << 16,       /**< handles that questions wait for */
    DEVICE_MAX_MESSAGES = 256 << 20,   /**< bytes of questions and answers */
    DEVICE_MAX_OUT = 1 << 20,          /**< bytes of an array of an answer */
};
/** What counts against these. */
struct device_use {
    size_t files, slots, points, mappings, items, waited, messages;
};
/** Bytes of buffers, of all clients. */
#define DEVICE_MAX_MEMORY (UINT64_C(16) << 30)

/* ---- sync.c ---- */

struct device;

/** Done, or not yet: device_fence_done() says it. Counted by those who hold it. */
struct device_fence {
    struct device *device;
    unsigned refs;
    bool done;
    bool merged; /**< done when all parts are */
    struct device_fence **part;
    size_t part_count;
};
struct device_fence *device_fence_new(struct device *device, bool done); /**< NULL: no memory */
struct device_fence *device_fence_ref(struct device_fence *fence);       /**< NULL is fine */
void device_fence_unref(struct device_fence *fence);                     /**< NULL is fine */
bool device_fence_done(struct device_fence *fence);
/** Makes @p to wait for @p fence, too. False: no memory, or too many. */
bool device_fence_add(struct device_fence *to, struct device_fence *fence);

/** A point of a syncobj; a binary one has only point 0. */
struct device_point {
    uint64_t point;
    struct device_fence *fence;
};
/** Counted by handles, by jobs that wait, and by the device once it was exported. */
struct device_syncobj {
    struct device *device;
    unsigned refs;
    struct device_point *list; /**< by `point`, ascending */
    size_t count;
    uint64_t reached; /**< all points up to here are done and no longer in the list */
    int write_end;    /**< of the pipe whose other end clients have; -1: never exported */
    uint64_t inode;   /**< of that */
};
/** A descriptor that becomes readable when its fence is done: a pipe. */
struct device_sync_file {
    int write_end;
    uint64_t inode;
    bool told;
    struct device_fence *fence;
};

/* ---- queue.c ---- */

struct device_queue {
    uint32_t id, flags, priority;
    uint32_t seqno;   /**< of the last job */
    uint32_t retired; /**< jobs up to here have ended */
    uint32_t faults;
    /** Fences of numbers that have not been reached, which clients hold. */
    struct device_queue_point *point;
    size_t point_count;
    /* of a context of KGSL */
    bool user_timestamps;           /**< the client chooses numbers */
    uint32_t faults_told;           /**< of `faults` */
    uint64_t hangs_told;            /**< of those of the device */
    struct device_fence *next_wait; /**< of its next job; or NULL */
};
struct device_queue_point {
    uint32_t seqno;
    struct device_fence *fence;
};

struct device_cmd {
    uint64_t iova;
    uint32_t dwords;
};

/** A submission, or changes of an address space. */
struct device_job {
    struct device_file *file; /**< lives until its last job has ended */
    uint32_t queue, seqno, priority;
    bool preemptible;          /**< a job of another group of priorities may interrupt it */
    uint64_t number;           /**< of the device: the order in which they came */
    struct device_fence *wait; /**< merged: what has to be done before it begins */
    struct device_fence *done;
    struct device_cmd *cmd;
    size_t cmd_count;
    struct device_bo **bo; /**< that it uses, without EN_VM_BIND */
    size_t bo_count;
    struct msm_vm_bind_op *bind; /**< an address space's changes, and no commands */
    struct device_bo **bind_bo;  /**< the buffer of each */
    size_t bind_count, bind_next;
    bool first;                       /**< no job of its queue is before it */
    size_t items;                     /**< that count against DEVICE_MAX_ITEMS */
    uint64_t profile;                 /**< where its times go (struct kgsl_profile); 0: nowhere */
    int64_t came;                     /**< device_now(); for poison.c, as the next one */
    struct device_snapshot *snapshot; /**< or NULL */
    struct device_job *next;
};

/** What every open of the node has. */
struct device_file {
    struct device *device;
    uint8_t token[DEVICE_TOKEN];
    int memfd;     /**< the node that its client has */
    unsigned refs; /**< connections that hold it */
    uint32_t context;
    bool vm_bind; /**< the client manages addresses */
    bool broken;  /**< its address space is unusable after a fault: EPIPE */
    struct device_space space;
    struct device_handle *handle;
    size_t handle_count, free_handle; /**< none before `free_handle` is free */
    struct device_syncobj **syncobj;  /**< by handle - 1 */
    size_t syncobj_count, free_syncobj;
    struct device_queue *queue;
    size_t queue_count;
    uint32_t next_queue;
    uint64_t next_iova; /**< for clients that let the kernel choose */
    uint32_t jobs, faults;
    struct device_record *record;     /**< of its own, or NULL */
    struct device_kgsl *kgsl;         /**< of KGSL; NULL: of msm */
    struct device_snapshot *snapshot; /**< of its last job, for the next one; or NULL */
    pid_t pid;
    char comm[64], *cmdline; /**< as SET_PARAM said, or the process */
    struct device_file *next;
};

/* ---- gpu.c ---- */

enum device_gpu_state {
    GPU_IDLE,
    GPU_RUNS,
    GPU_WAITS, /**< for memory that somebody else writes */
    GPU_ENDED, /**< the job has ended, and is still there */
    GPU_HELD,  /**< the job is a debugger's, until device_gpu_end() */
};

struct device;
/** A debugger, which executes jobs in the place of device_gpu_run(). */
struct device_debugger {
    /** Whether device_serve() shall return; asked again after `timeout`. */
    bool (*wants_turn)(struct device_debugger *debugger, const struct device *device);
    uint64_t (*time)(const struct device_debugger *debugger); /**< device_gpu_time() */
    int timeout;                                              /**< milliseconds */
};

/** The packet in which the processor was at an access. */
struct device_access {
    uint32_t header, level; /**< the level as cps_afuc_level() has it */
    uint64_t packet;        /**< its address */
};

/** A job that has begun. */
struct device_run {
    struct device_job *job;
    size_t next_cmd; /**< of the job: what has not been fed; `cmd_count` is its fence */
    uint32_t fence;  /**< its own, once it was fed; else 0 */
    uint64_t ticks;  /**< that the engine has worked on it */
    uint64_t fault;  /**< as in struct device_gpu */
    struct device_access fault_by;
    bool fault_told;
};

/** Set in an address of a fault: page 0 is one, too. */
#define DEVICE_FAULTED UINT64_C(1)

/** Words of memory that the processors of a GPU wait for. */
struct device_waits {
    uint64_t iova[16]; /**< up to three of each processor */
    uint32_t value[16];
    unsigned count;
};

/** The engine, and the job that it has. */
struct device_gpu {
    struct play *play;
    enum device_gpu_state state;
    struct device_job *job;
    struct device_space *space;       /**< of the job's context */
    struct device_debugger *debugger; /**< executes jobs; NULL: the engine of `play` */
    size_t next_cmd;     /**< of the job: what has not been fed; `cmd_count` is its fence */
    uint32_t fence;      /**< the last one that was given to a job */
    uint64_t began;      /**< ticks of the engine when the job came; later by those of other jobs */
    uint32_t ring_began; /**< dword of the ring where its words begin */
    uint32_t own_fence;  /**< the job's, once it was fed; else 0 */
    unsigned ring;       /**< of the engine, in which the job is */
    /** Jobs in the other rings: interrupted, or fed and about to interrupt. NULL: there is none. */
    struct device_run other[CPS_AFUC_RINGS];
    bool switches; /**< the firmware was asked for ring `target` */
    bool within;   /**< also within a packet */
    unsigned target, refused;
    uint64_t asked;               /**< ticks of the engine when it was asked first */
    struct device_record *record; /**< of the job, or NULL */
    int64_t waits_since;          /**< nanoseconds of CLOCK_MONOTONIC */
    int64_t waited;               /**< nanoseconds of the job's waits that are over */
    struct device_waits waits;    /**< with the words that were there */
    uint64_t fault; /**< page of the job that it could not access, with DEVICE_FAULTED; 0: none */
    struct device_access fault_by; /**< of the first one */
    bool fault_told;
    bool hung; /**< the job that ended did so by a hang */
    /** Pages of the process, at its own addresses, that the job reads: ascending. */
    uint64_t *page;
    size_t page_count;
    bool off; /**< nothing is executed: jobs end at once */
};

/* ---- the device ---- */

struct device_config {
    const struct device_chip *chip;
    int64_t hang_after;        /**< nanoseconds that a wait on memory may last */
    const char *record_folder; /**< each open file is recorded there; or NULL */
    bool kgsl;                 /**< be KGSL, not msm */
    bool no_vm_bind;           /**< refuse EN_VM_BIND, as older kernels do */
};

/** Policies of a run on a device, unless options say something else. */
#define DEVICE_POLICY "ring=msm waits=registers preempt=on"

/** Priorities that share a ring, as the kernel has it: only jobs of another ring interrupt. */
#define DEVICE_PRIORITIES_OF_RING 3u

/** What the summary says. */
struct device_counts {
    uint64_t files, submits, jobs, hangs, faults, waits, binds, buffers, preemptions;
    uint64_t poisoned;   /**< findings of poison.c */
    uint64_t unwritten;  /**< words that were read, and that nothing on this device wrote */
    int64_t nanoseconds; /**< in firmware */
};

/** A range that a client freed. */
struct device_freed {
    uint32_t context;
    uint64_t iova, size;
    uint64_t job; /**< jobs from this number on came later */
    const char *how;
};
enum { DEVICE_FREED = 1024 };

struct device_client;
struct device_poison;
struct device_record;

struct device {
    struct device_config config;
    struct device_gpu gpu;
    struct device_client *clients;
    size_t client_count;
    struct pollfd *polls;
    int listener;
    int64_t deaf_until;      /**< in CLOCK_MONOTONIC: no new connections until then */
    int64_t paused, resumed; /**< when device_serve() returned, and was called again */
    struct device_file *files;
    uint32_t next_context;
    struct device_job *jobs; /**< that have not begun, oldest first */
    uint32_t job_count;      /**< that have not ended */
    bool changing;           /**< the first job changes an address space, and has not done so */
    uint64_t next_job;
    struct device_bo **bo; /**< all, to find one that comes back as a descriptor */
    size_t bo_count;
    uint64_t bytes; /**< of all buffers */
    struct device_syncobj **exported;
    size_t exported_count, exported_sweep;
    struct device_sync_file *sync_file;
    size_t sync_file_count, sync_file_sweep;
    struct device_use use;
    struct device_counts counts;
    struct device_record *record; /**< gets every submission, or NULL */
    /** Is told of each hang and each fault, while the engine stands there. */
    void (*hang)(struct device *device, const char *what, const char *why);
    struct device_poison *poison; /**< or NULL */
    /** Is told of what it finds. */
    void (*poisoned)(struct device *device, const char *why);
    struct device_freed freed[DEVICE_FREED]; /**< the last ones, in a ring */
    uint64_t freed_count;
    struct cps_err *late;   /**< is told when the program has ended */
    struct cps_err *failed; /**< ends the device: its own trouble, not a client's */
};

/* sync.c */
/** Nanoseconds of CLOCK_MONOTONIC, which clients' timeouts count in. */
int64_t device_now(void);
bool device_point_done(struct device_syncobj *sync, uint64_t point);
/** The fences of a point (all up to it); false if it was never submitted. */
bool device_syncobj_has(const struct device_syncobj *sync, uint64_t point);
/** A fence that is done when the point is; NULL: no memory. Only of a point that it has. */
struct device_fence *device_syncobj_fence(struct device_syncobj *sync, uint64_t point);
/** The point that a timeline has reached, or the last one that was @p submitted. */
uint64_t device_syncobj_payload(struct device_syncobj *sync, bool submitted);
/** Whether device_syncobj_put() of a point has room, if @p more others come first. */
bool device_syncobj_has_room(struct device_syncobj *sync, uint64_t point, size_t more);
/** Puts a fence at a point; at 0 it replaces everything. Takes a reference of its own. */
bool device_syncobj_put(struct device_syncobj *sync, uint64_t point, struct device_fence *fence);
void device_syncobj_reset(struct device_syncobj *sync);
struct device_syncobj *device_syncobj_new(struct device *device);
void device_syncobj_unref(struct device_syncobj *sync);
/** The syncobj of a handle, or NULL. */
struct device_syncobj *device_syncobj_find(const struct device_file *file, uint32_t handle);
/** A handle for it, whose reference it takes; 0: too many. */
uint32_t device_syncobj_handle(struct device_file *file, struct device_syncobj *sync);
/** A descriptor for a client that names it; -1: too many. */
int device_syncobj_export(struct device *device, struct device_syncobj *sync);
/** The syncobj of a descriptor that a client sent: a reference; NULL: it is none. */
struct device_syncobj *device_syncobj_of_fd(struct device *device, int fd);
/** A descriptor for a client; -1: too many. */
int device_sync_file_new(struct device *device, struct device_fence *fence);
/** The fence of a descriptor that a client sent; NULL: it is none of ours. A reference. */
struct device_fence *device_sync_file_fence(struct device *device, int fd);
/** Makes descriptors readable whose fences are done, and forgets those that nobody has any more. */
void device_sync_files_tell(struct device *device);
void device_sync_files_deinit(struct device *device);

/* file.c */
struct device_file *device_file_new(struct device *device);
/** The file of a token, if somebody holds it; or NULL. */
struct device_file *device_file_find(struct device *device, const uint8_t *token);
/** Replaces control characters of a client's text, which goes to terminals and into dumps. */
void device_text_clean(char *text);
/** Gives it the name of a process. */
void device_file_name(struct device_file *file, pid_t pid);
/** Nobody but its jobs holds it any more: those that have not begun go. */
void device_file_unref(struct device *device, struct device_file *file);
void device_file_free(struct device *device, struct device_file *file);

/* queue.c */
struct device_queue *device_queue_find(struct device_file *file, uint32_t id);
/** Ends a queue; its jobs go on. */
void device_queue_close(struct device_file *file, struct device_queue *queue);
/** A fence that is done when job @p seqno of the queue is. A reference; NULL: no memory, or too
 * many. */
struct device_fence *device_queue_fence(struct device *device, struct device_queue *queue,
                                        uint32_t seqno);
/** Changes an address space. 0 or -errno. */
int device_bind(struct device *device, struct device_space *space, const struct msm_vm_bind_op *op,
                struct device_bo *bo);
/** Takes a job. */
void device_job_add(struct device *device, struct device_job *job);
/** Takes back a job that has begun, to begin it again. */
void device_job_again(struct device *device, struct device_job *job);
void device_job_free(struct device *device, struct device_job *job);
/** Ends a job that had begun; @p hung  by a hang. */
void device_job_finish(struct device *device, struct device_job *job, bool hung);
/** Ends a job: its fence is done. */
void device_job_end(struct device *device, struct device_job *job);
/** Lets what can begin begin. */
void device_schedule(struct device *device);
/** A file goes, or a context: what it had not begun goes with it. */
enum { DEVICE_ALL_QUEUES = -1 };
void device_jobs_drop(struct device *device, struct device_file *file, int64_t queue);

/* gpu.c */
/** Prepares the engine's host; before play_open(). */
void device_gpu_host(struct device *device, struct cps_host *ret);
/** Boots the firmware. */
CPS_MUST_USE struct cps_err *device_gpu_boot(struct device *device);
/** Notes a page that the job reads, for dumps: they have the memory of buffers, and pages of the
 * process that no buffer has, as many as fit. */
void device_gpu_note_page(struct device_gpu *gpu, uint64_t iova);
/** Which jobs it takes now: those of a priority below this number. */
uint32_t device_gpu_limit(const struct device *device);
/** Gives it such a job. If it has one, that is interrupted as soon as the firmware can. */
void device_gpu_begin(struct device *device, struct device_job *job);
/** It is idle, and no job comes before one that was interrupted: goes on with that. False: there is
 * none. */
bool device_gpu_resume(struct device *device);
/** Whether it has begun a job of a queue. */
bool device_gpu_has(const struct device *device, const struct device_file *file, uint32_t queue);
/** A file goes. */
void device_gpu_forget(struct device *device, const struct device_file *file);
/** Runs for a while. */
void device_gpu_run(struct device *device);
/** Ends the job that it has; @p hung as after a hang. Whoever waits is told by device_serve(). */
void device_gpu_end(struct device *device, bool hung);
/** The words of memory that processors wait for after a deadlock, without their values. */
void device_waits_find(struct cps_engine *engine, struct device_waits *ret);
/** Gives up the job that it has. */
void device_gpu_drop(struct device *device);
/** Milliseconds until it has to run again; -1: when something happens. */
int device_gpu_timeout(const struct device *device);
/** The counter that firmware reads, too. */
uint64_t device_gpu_time(const struct device *device);

/* call.c */
struct device_message;
/** What an answer has to wait for is tried again when something has happened. */
enum { DEVICE_LATER = 1 };
/** Answers an ioctl: fills in the message.
 * @return 0, -errno or DEVICE_LATER */
int device_call(struct device *device, struct device_file *file, struct device_message *message);
/** The same of an ioctl of KGSL (call_kgsl.c). */
int device_kgsl_call(struct device *device, struct device_file *file,
                     struct device_message *message);
/** A question and its answer. Of DEVICE_IOCTL the pieces are checked: their sizes fit the
 * structure. */
struct device_message {
    struct device_head head;
    uint8_t *structure; /**< that of the row: comes, and goes */
    size_t structure_size;
    uint8_t *array[DEVICE_MAX_ARRAYS + 1]; /**< the last one: what the special three have */
    uint32_t size[DEVICE_MAX_ARRAYS + 1];
    bool out[DEVICE_MAX_ARRAYS + 1];      /**< it goes */
    bool owned[DEVICE_MAX_ARRAYS + 1];    /**< it is no part of what came */
    int fd[DEVICE_MAX_FDS];               /**< that came */
    int answer_fd;                        /**< that goes; -1: none; closed after it was sent */
    bool begun;                           /**< it was asked before: only the waiting is left */
    const struct device_process *process; /**< that asks; of KGSL only */
    int64_t deadline;                     /**< of DEVICE_LATER, in CLOCK_MONOTONIC */
};

/* kgsl.c */
/** Bytes of a node of KGSL: 32 bits of number, 12 of page. */
#define DEVICE_KGSL_NODE (UINT64_C(1) << 44)
/** Makes an open file one of KGSL, of a process. @p process and @p node  stay the caller's. 0 or
 * -errno: then device_kgsl_close() still has to be called. */
int device_kgsl_open(struct device_file *file, const struct device_process *process, int node);
/** NULL and a file of msm are fine. */
void device_kgsl_close(struct device *device, struct device_file *file);

/* server.c */
/** When a question is late that a client wants answered by @p deadline: a debugger's time at its
 * prompt does not count. */
int64_t device_deadline(const struct device *device, const struct device_message *message,
                        int64_t deadline);
CPS_MUST_USE struct cps_err *device_listen(struct device *device, const char *path);
/** Takes over a connected socket as a client's. False: too many, and it is closed. */
bool device_connect(struct device *device, int fd, pid_t pid);
/** Waits for at most @p most milliseconds (-1: for ever) until there is something to do, and does
 * it. @p child and @p ended  as device_serve() has them. @return false: poll() fails, or no memory
 */
bool device_step(struct device *device, int child, bool *ended, int most);
/** Serves clients until the last one has gone and the program has ended, a signal comes or the
 * device fails. @p child  a pidfd, readable when the program has ended, which sets @p ended */
CPS_MUST_USE struct cps_err *device_serve(struct device *device, int child, bool *ended);
void device_deinit(struct device *device);

/* folder.c */
/** Makes the private folder, with the tree that clients see, of msm or of @p kgsl. @p path  gets
 * it, at least 108 bytes */
CPS_MUST_USE struct cps_err *device_folder_make(char *path, size_t size, bool kgsl);
void device_folder_remove(const char *path);

#endif
