/* SPDX-License-Identifier: MIT
 * A model of a device around the command processor, against the installed library: it has memory, a
 * file of registers and an interrupt line of its own. Its driver puts packets into a ring, writes
 * ring pointers, and waits for fences.
 * Usage: device FIRMWARE (.fw, or .afuc to assemble) */
#include <cpscope/cpscope.h>

#include <stdio.h>
#include <string.h>

#define MEMORY_AT   UINT64_C(0x101000000) /* addresses of the GPU */
#define MEMORY_SIZE 0x10000u
#define RING_AT     (MEMORY_AT + 0x0000)
#define RING_DWORDS 256u
#define IB_AT       (MEMORY_AT + 0x2000)
#define FENCE_AT    (MEMORY_AT + 0x3000)
#define RESULT_AT   (MEMORY_AT + 0x4000)

enum { CP_RB_BASE = 0x800, CP_RB_CNTL = 0x802, CP_RB_RPTR = 0x806, CP_RB_WPTR = 0x807 };
enum { CP_MEM_WRITE = 0x3d, CP_REG_TO_MEM = 0x3e, CP_INDIRECT_BUFFER = 0x3f };
enum { CP_EVENT_WRITE = 0x46, CP_ME_INIT = 0x48 };
enum { OWN_REGISTERS = 0x8800, COUNTER = 0x8830, CACHE_FLUSH_TS = 4, IRQ_FENCE = 20 };

static unsigned failures;

static void expect(const char *claim, uint64_t found, uint64_t expected)
{
    failures += found != expected;
    if (found != expected)
        printf("%s: found 0x%llx, expected 0x%llx\n", claim, (unsigned long long)found,
               (unsigned long long)expected);
}

static void check(struct cps_err *err)
{
    if (!err)
        return;
    fprintf(stderr, "device: %s\n", err->message);
    exit(1);
}

/* The device. */
struct device {
    struct cps_engine *engine;
    uint8_t memory[MEMORY_SIZE];
    uint32_t reg[0x100]; /* those from OWN_REGISTERS on */
    uint32_t interrupts[32];
    uint32_t counter;
    uint32_t fence_at_interrupt;
    uint32_t wptr;
    uint32_t seqno;
};

static bool device_read(void *context, uint64_t iova, uint8_t *to)
{
    struct device *device = context;
    if (iova < MEMORY_AT || iova - MEMORY_AT > MEMORY_SIZE - CPS_HOST_PAGE)
        return false;
    memcpy(to, device->memory + (iova - MEMORY_AT), CPS_HOST_PAGE);
    return true;
}

static bool device_write(void *context, uint64_t iova, const uint8_t *from, uint32_t size)
{
    struct device *device = context;
    memcpy(device->memory + (iova - MEMORY_AT), from, size);
    return true;
}

static bool device_read_register(void *context, uint32_t offset, uint32_t *ret)
{
    struct device *device = context;
    if (offset == COUNTER)
        *ret = ++device->counter;
    else if (offset >= OWN_REGISTERS && offset < OWN_REGISTERS + 0x100)
        *ret = device->reg[offset - OWN_REGISTERS];
    else
        return false;
    return true;
}

static bool device_write_register(void *context, uint32_t offset, uint32_t value)
{
    struct device *device = context;
    if (offset < OWN_REGISTERS || offset >= OWN_REGISTERS + 0x100)
        return false;
    device->reg[offset - OWN_REGISTERS] = value;
    return true;
}

static uint32_t memory_word(const struct device *device, uint64_t iova)
{
    const uint8_t *b = device->memory + (iova - MEMORY_AT);
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static void set_memory_word(struct device *device, uint64_t iova, uint32_t value)
{
    for (unsigned i = 0; i < 4; i++)
        device->memory[iova - MEMORY_AT + i] = (uint8_t)(value >> 8 * i);
}

static void device_interrupt(void *context, unsigned number)
{
    struct device *device = context;
    device->interrupts[number]++;
    device->fence_at_interrupt = memory_word(device, FENCE_AT);
}

/* Its driver. */
static void write_register(struct device *device, uint32_t offset, uint32_t value)
{
    struct cps_item item = {.kind = CPS_ITEM_WRITE};
    item.host.where = CPS_HOST_REG;
    item.host.size = 4;
    item.host.addr = offset;
    item.host.value = value;
    check(cps_engine_feed(device->engine, &item));
}

static uint32_t read_register(struct device *device, uint32_t offset)
{
    struct cps_item item = {.kind = CPS_ITEM_READ};
    item.host.where = CPS_HOST_REG;
    item.host.addr = offset;
    check(cps_engine_feed(device->engine, &item));
    return device->engine->answer;
}

static void ring(struct device *device, uint32_t word)
{
    set_memory_word(device, RING_AT + 4 * device->wptr, word);
    device->wptr = (device->wptr + 1) % RING_DWORDS;
}

/* Moves the write pointer and lets the processor work. */
static void kick(struct device *device)
{
    write_register(device, CP_RB_WPTR, device->wptr);
    enum cps_stop stop = cps_engine_run(device->engine, 1000000);
    expect("the processor has done all", stop, CPS_STOP_IDLE);
    expect("the read pointer", read_register(device, CP_RB_RPTR), device->wptr);
}

static void start(struct device *device)
{
    write_register(device, CP_RB_BASE, (uint32_t)RING_AT);
    write_register(device, CP_RB_BASE + 1, (uint32_t)(RING_AT >> 32));
    write_register(device, CP_RB_CNTL, 7); /* log2 of 8 bytes: 256 dwords */
    expect("boot", cps_engine_run(device->engine, 1000000), CPS_STOP_IDLE);
    const uint32_t init[] = {cps_pm4_type7(CP_ME_INIT, 8), 0x2f, 3, 0x20000000, 0, 0, 0, 0, 0};
    for (size_t i = 0; i < sizeof(init) / sizeof(init[0]); i++)
        ring(device, init[i]);
    kick(device);
}

/* An indirect buffer with three packets, then a fence with an interrupt. */
static void submit(struct device *device, uint32_t value)
{
    const uint32_t ib[] = {
        cps_pm4_type4(OWN_REGISTERS + 0x10, 2),
        value,
        value + 1,
        cps_pm4_type7(CP_MEM_WRITE, 3),
        (uint32_t)RESULT_AT,
        (uint32_t)(RESULT_AT >> 32),
        ~value,
        cps_pm4_type7(CP_REG_TO_MEM, 3),
        COUNTER | 1u << 18,
        (uint32_t)RESULT_AT + 4,
        (uint32_t)(RESULT_AT >> 32),
    };
    const uint32_t words = sizeof(ib) / sizeof(ib[0]);
    for (uint32_t i = 0; i < words; i++)
        set_memory_word(device, IB_AT + 4 * i, ib[i]);
    const uint32_t packets[] = {
        cps_pm4_type7(CP_INDIRECT_BUFFER, 3),
        (uint32_t)IB_AT,
        (uint32_t)(IB_AT >> 32),
        words,
        cps_pm4_type7(CP_EVENT_WRITE, 4),
        CACHE_FLUSH_TS | 1u << 31,
        (uint32_t)FENCE_AT,
        (uint32_t)(FENCE_AT >> 32),
        ++device->seqno,
    };
    for (size_t i = 0; i < sizeof(packets) / sizeof(packets[0]); i++)
        ring(device, packets[i]);
    kick(device);
}

static struct cps_fw *load_firmware(const char *path)
{
    struct cps_asm program = {NULL, 0};
    struct cps_fw *fw = NULL;
    uint8_t *text = NULL;
    size_t size = strlen(path);
    if (size < 5 || strcmp(path + size - 5, ".afuc") != 0) {
        check(cps_fw_load(path, 0, &fw));
        return fw;
    }
    check(cps_stream_read_file(path, 1 << 20, &text, &size));
    check(cps_assemble(path, (const char *)text, size, CPS_A6XX, &program));
    check(cps_fw_parse(path, program.words, 4 * (size_t)program.count, 0, &fw));
    free(program.words);
    free(text);
    return fw;
}

int main(int argc, char **argv)
{
    static struct device device;
    struct cps_config config = {.policy = cps_policy_default()};
    struct cps_engine *copy = NULL;
    if (argc != 2)
        return 2;
    struct cps_fw *fw = load_firmware(argv[1]);
    cps_config_firmware(&config, fw, NULL);
    config.policy.waits = CPS_WAITS_STOP; /* what others write, others are there to write */
    config.host = (struct cps_host){.context = &device,
                                    .read = device_read,
                                    .write = device_write,
                                    .read_register = device_read_register,
                                    .write_register = device_write_register,
                                    .interrupt = device_interrupt};
    check(cps_engine_create(&config, &device.engine));
    cps_fw_destroy(fw);
    start(&device);
    for (uint32_t i = 0; i < 60; i++) { /* more than once round the ring */
        submit(&device, 0xabc0 + i);
        expect("the fence", memory_word(&device, FENCE_AT), i + 1);
        expect("interrupts of the fence", device.interrupts[IRQ_FENCE], i + 1);
        expect("the fence, when the interrupt came", device.fence_at_interrupt, i + 1);
        expect("a register of the device", device.reg[0x10], 0xabc0 + i);
        expect("the register behind it", device.reg[0x11], 0xabc0 + i + 1);
        expect("memory that a packet wrote", memory_word(&device, RESULT_AT), ~(0xabc0 + i));
        expect("what the firmware read", memory_word(&device, RESULT_AT + 4), i + 1);
    }
    struct cps_err *err = cps_engine_clone(device.engine, &copy);
    expect("a copy is refused", err ? err->code : CPS_ERR_NOMEM, CPS_ERR_UNSUPPORTED);
    cps_err_free(err);
    cps_engine_destroy(device.engine);
    printf("%u fences, %u failures\n", device.seqno, failures);
    return failures != 0;
}
