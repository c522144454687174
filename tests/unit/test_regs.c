/* SPDX-License-Identifier: MIT
 * Built-in names: numbers to names and back in every space and layout. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "isa/isa.h"
#include "isa/names/table.h"

static struct cps_names *open_names(enum cps_layout layout)
{
    struct cps_names *names = NULL;
    assert_null(cps_names_create(layout, NULL, &names));
    return names;
}

/* name NULL: the number must have none. */
static const struct {
    enum cps_layout layout;
    enum cps_space space;
    uint32_t number;
    const char *name;
    unsigned index;
} named[] = {
    {CPS_LAYOUT_A5XX_PFP, CPS_SPACE_PACKET, 0x04, "PKT4", 0},
    {CPS_LAYOUT_A5XX_PFP, CPS_SPACE_PACKET, 0x0a, NULL, 0},
    {CPS_LAYOUT_A5XX_PFP, CPS_SPACE_PACKET, 0x3f, "CP_INDIRECT_BUFFER_PFE", 0},
    {CPS_LAYOUT_A5XX_PFP, CPS_SPACE_PACKET, 0x50, "CP_PERFCOUNTER_ACTION", 0},
    {CPS_LAYOUT_A5XX_PFP, CPS_SPACE_PACKET, 0x6c, "CP_SET_RENDER_MODE", 0},
    {CPS_LAYOUT_A5XX_ME, CPS_SPACE_PACKET, 0x30, "CP_LOAD_STATE4", 0},
    {CPS_LAYOUT_A6XX, CPS_SPACE_PACKET, 0x0a, "IN_IB_END", 0},
    {CPS_LAYOUT_A6XX, CPS_SPACE_PACKET, 0x0b, "IN_GMU_INTERRUPT", 0},
    {CPS_LAYOUT_A6XX, CPS_SPACE_PACKET, 0x0f, "IN_PREEMPT", 0},
    {CPS_LAYOUT_A6XX, CPS_SPACE_PACKET, 0x3f, "CP_INDIRECT_BUFFER", 0},
    {CPS_LAYOUT_A6XX, CPS_SPACE_PACKET, 0x46, "CP_EVENT_WRITE", 0},
    {CPS_LAYOUT_A6XX, CPS_SPACE_PACKET, 0x50, "CP_START_BIN", 0},
    {CPS_LAYOUT_A6XX, CPS_SPACE_PACKET, 0x6c, "CP_PREEMPT_DISABLE", 0},
    {CPS_LAYOUT_A6XX, CPS_SPACE_PACKET, 0x30, NULL, 0},
    {CPS_LAYOUT_A7XX, CPS_SPACE_PACKET, 0x46, "CP_EVENT_WRITE7", 0},
    {CPS_LAYOUT_A7XX, CPS_SPACE_PACKET, 0x14, "CP_WAIT_TIMESTAMP", 0},
    {CPS_LAYOUT_A7XX, CPS_SPACE_PACKET, 0x13, "CP_WAIT_FOR_ME", 0},
    {CPS_LAYOUT_A8XX, CPS_SPACE_PACKET, 0x46, "CP_EVENT_WRITE7", 0},
    {CPS_LAYOUT_A6XX, CPS_SPACE_PACKET, 0x80, NULL, 0},
    {CPS_LAYOUT_A5XX_PFP, CPS_SPACE_CONTROL, 0x10, "REG_WRITE_ADDR", 0},
    {CPS_LAYOUT_A5XX_PFP, CPS_SPACE_CONTROL, 0xb1, "IB1_BASE", 1},
    {CPS_LAYOUT_A5XX_ME, CPS_SPACE_CONTROL, 0x38, "STORE_HI", 0},
    {CPS_LAYOUT_A5XX_ME, CPS_SPACE_CONTROL, 0x10, NULL, 0},
    {CPS_LAYOUT_A5XX_ME, CPS_SPACE_CONTROL, 0xb1, NULL, 0},
    {CPS_LAYOUT_A6XX, CPS_SPACE_CONTROL, 0x10, "IB1_BASE", 0},
    {CPS_LAYOUT_A6XX, CPS_SPACE_CONTROL, 0x11, "IB1_BASE", 1},
    {CPS_LAYOUT_A6XX, CPS_SPACE_CONTROL, 0x0f, NULL, 0},
    {CPS_LAYOUT_A7XX, CPS_SPACE_CONTROL, 0x18, "IB3_BASE", 0},
    {CPS_LAYOUT_A7XX_GEN3, CPS_SPACE_CONTROL, 0x18, "REG_WRITE_ADDR", 0},
    {CPS_LAYOUT_A8XX, CPS_SPACE_CONTROL, 0x18, "REG_WRITE_ADDR", 0},
    {CPS_LAYOUT_A5XX_PFP, CPS_SPACE_SQE, 0x05, NULL, 0},
    {CPS_LAYOUT_A6XX, CPS_SPACE_SQE, 0x05, "SP", 0},
    {CPS_LAYOUT_A7XX, CPS_SPACE_SQE, 0x04, "PREEMPT_INSTR", 0},
    {CPS_LAYOUT_A6XX, CPS_SPACE_PIPE, 0x80, "WAIT_FOR_IDLE", 0},
    {CPS_LAYOUT_A7XX, CPS_SPACE_PIPE, 0x87, "WAIT_FOR_IDLE", 0},
    {CPS_LAYOUT_A7XX, CPS_SPACE_PIPE, 0xec, "EVENT_TS_DATA", 1},
    {CPS_LAYOUT_A6XX, CPS_SPACE_PIPE, 0xec, NULL, 0},
    {CPS_LAYOUT_A5XX_PFP, CPS_SPACE_GPU, 0x00, NULL, 0},
    {CPS_LAYOUT_A5XX_PFP, CPS_SPACE_GPU, 0x18, "RBBM_CFG_DEBBUS_CTLTM_ENABLE_SHIFT", 0},
    {CPS_LAYOUT_A5XX_PFP, CPS_SPACE_GPU, 0x880, "CP_PROTECT[0].REG", 0},
    {CPS_LAYOUT_A6XX, CPS_SPACE_GPU, 0x850, "CP_PROTECT[0].REG", 0},
    {CPS_LAYOUT_A6XX, CPS_SPACE_GPU, 0x885, "CP_SCRATCH[2].REG", 0},
    {CPS_LAYOUT_A6XX, CPS_SPACE_GPU, 0x801, "CP_RB_BASE", 1},
    {CPS_LAYOUT_A6XX, CPS_SPACE_GPU, 0x122, "RBBM_CLOCK_HYST_TEX_FCHE", 0},
    {CPS_LAYOUT_A7XX, CPS_SPACE_GPU, 0x122, "RBBM_CGC_P2S_STATUS", 0},
    {CPS_LAYOUT_A6XX, CPS_SPACE_GPU, 0x9107, "VPC_UNKNOWN_9107", 0},
    {CPS_LAYOUT_A7XX_GEN3, CPS_SPACE_GPU, 0x9107, "VPC_RAST_STREAM_CNTL", 0},
    {CPS_LAYOUT_A8XX, CPS_SPACE_GPU, 0x9107, NULL, 0},
    {CPS_LAYOUT_A6XX, CPS_SPACE_GPU, 0x8a2, "CP_CONTEXT_SWITCH_SMMU_INFO", 1},
    {CPS_LAYOUT_A6XX, CPS_SPACE_GPU, 0xffffffff, NULL, 0},
    {CPS_LAYOUT_A5XX_PFP, CPS_SPACE_EVENT, 4, "CACHE_FLUSH_TS", 0},
    {CPS_LAYOUT_A5XX_PFP, CPS_SPACE_EVENT, 6, NULL, 0},
    {CPS_LAYOUT_A6XX, CPS_SPACE_EVENT, 26, "PC_CCU_RESOLVE_TS", 0},
    {CPS_LAYOUT_A7XX, CPS_SPACE_EVENT, 26, "CCU_RESOLVE_CLEAN", 0},
    {CPS_LAYOUT_A8XX, CPS_SPACE_EVENT, 26, "CCU_RESOLVE_CLEAN", 0},
    {CPS_LAYOUT_A7XX, CPS_SPACE_EVENT, 1, "DUMMY_EVENT", 0},
};

static void a_number_has_the_name_of_its_layout(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++) {
        struct cps_names *names = open_names(named[i].layout);
        unsigned index = 99;
        const char *name = cps_name(names, named[i].space, named[i].number, &index);
        if (!named[i].name) {
            assert_null(name);
            assert_int_equal(index, 99);
        } else {
            assert_non_null(name);
            assert_string_equal(name, named[i].name);
            assert_int_equal(index, named[i].index);
            assert_ptr_equal(cps_name(names, named[i].space, named[i].number, NULL), name);
        }
        cps_names_destroy(names);
    }
}

/* What a number is in each generation, as the XML's variants say; NULL: it must have no name. */
static const struct {
    enum cps_space space;
    uint32_t number;
    const char *name[3]; /* a6xx, a7xx, a8xx */
} per_variant[] = {
    {CPS_SPACE_GPU, 0x0440, {"RBBM_PERFCTR_VFD[6]", "RBBM_PERFCTR2_SP[11]", "RBBM_NC_MODE_CNTL"}},
    {CPS_SPACE_GPU,
     0x044c,
     {"RBBM_PERFCTR_HLSQ[4]", "RBBM_PERFCTR2_TP[5]", "RBBM_PERFCTR_FLUSH_HOST_CMD"}},
    {CPS_SPACE_GPU, 0x0460, {"RBBM_PERFCTR_CCU[2]", "RBBM_PERFCTR_BV_PC[0]", "RBBM_PERFCTR_CNTL"}},
    {CPS_SPACE_GPU, 0x0823, {"CP_INTERRUPT_STATUS", "CP_INTERRUPT_STATUS", NULL}},
    {CPS_SPACE_GPU, 0x084e, {NULL, NULL, "CP_PROTECT_CNTL_PIPE"}},
    {CPS_SPACE_GPU, 0x084f, {"CP_PROTECT_CNTL", "CP_PROTECT_CNTL", "CP_PROTECT_STATUS_PIPE"}},
    {CPS_SPACE_GPU, 0x0850, {"CP_PROTECT[0].REG", "CP_PROTECT[0].REG", "CP_PROTECT_GLOBAL[0].REG"}},
    /* The GMU's file has RSCC_TCS8_DRV0_STATUS here, of a7xx alone. */
    {CPS_SPACE_GPU,
     0x0886,
     {"CP_SCRATCH[3].REG", "CP_SCRATCH[3].REG", "CP_PROTECT_GLOBAL[54].REG"}},
    {CPS_SPACE_GPU, 0x08b5, {NULL, NULL, "CP_INTERRUPT_STATUS_GLOBAL"}},
    {CPS_SPACE_GPU, 0x9107, {"VPC_UNKNOWN_9107", "VPC_RAST_STREAM_CNTL", NULL}},
    {CPS_SPACE_GPU, 0x9303, {"VPC_DS_CNTL", "VPC_DS_CNTL", "VPC_PS_CNTL"}},
    {CPS_SPACE_GPU,
     0x9309,
     {"GPU_GMU_AO_GMU_CGC_MODE_CNTL", "VPC_ATTR_BUF_GMEM_BASE", "VPC_DS_CLIP_CULL_CNTL"}},
    {CPS_SPACE_GPU,
     0x930a,
     {"GPU_GMU_AO_GMU_CGC_DELAY_CNTL", "VPC_UNKNOWN_930A", "VPC_VS_SIV_CNTL"}},
    {CPS_SPACE_GPU,
     0x930d,
     {"GPU_GMU_AO_GPU_CX_BUSY_STATUS2", "GPU_GMU_AO_GPU_CX_BUSY_STATUS2", "VPC_RAST_STREAM_CNTL"}},
    {CPS_SPACE_GPU, 0x9800, {"PC_HS_PARAM_0", "PC_HS_PARAM_0", "PC_DRAW_INITIATOR"}},
    {CPS_SPACE_GPU, 0x9840, {"PC_DRAW_INITIATOR", "PC_DRAW_INITIATOR", NULL}},
    {CPS_SPACE_GPU, 0x9b02, {"PC_GS_CNTL", "PC_GS_CNTL", "PC_VS_CNTL"}},
    {CPS_SPACE_GPU, 0xb987, {"SP_CS_CONST_CONFIG", NULL, NULL}},
    {CPS_SPACE_PACKET, 0x14, {"CP_WAIT_MEM_GTE", "CP_WAIT_TIMESTAMP", "CP_WAIT_TIMESTAMP"}},
    {CPS_SPACE_PACKET, 0x27, {NULL, "CP_SKIP_IB_MODE", "CP_SKIP_IB_MODE"}},
    {CPS_SPACE_PACKET, 0x2d, {NULL, "CP_SET_UNK_BIN_DATA", "CP_SET_UNK_BIN_DATA"}},
    {CPS_SPACE_PACKET, 0x46, {"CP_EVENT_WRITE", "CP_EVENT_WRITE7", "CP_EVENT_WRITE7"}},
    {CPS_SPACE_PACKET, 0x49, {NULL, "CP_MEM_TO_SCRATCH_MEM", "CP_MEM_TO_SCRATCH_MEM"}},
    {CPS_SPACE_PACKET, 0x58, {NULL, NULL, "CP_MEMORY_MAP_UPDATE"}},
    {CPS_SPACE_PACKET, 0x59, {NULL, NULL, "CP_BARRIER"}},
    {CPS_SPACE_PACKET, 0x5d, {NULL, "CP_NON_CONTEXT_REG_BUNCH", "CP_NON_CONTEXT_REG_BUNCH"}},
    {CPS_SPACE_PACKET, 0x6c, {"CP_PREEMPT_DISABLE", "CP_SCOPE_CNTL", "CP_SCOPE_CNTL"}},
    {CPS_SPACE_PACKET, 0x6d, {"CP_REG_WRITE", NULL, NULL}},
    {CPS_SPACE_PACKET, 0x7f, {NULL, "CP_FIXED_STRIDE_DRAW_TABLE", "CP_FIXED_STRIDE_DRAW_TABLE"}},
    {CPS_SPACE_EVENT, 0x01, {"PS_DEALLOC", "DUMMY_EVENT", "DUMMY_EVENT"}},
    {CPS_SPACE_EVENT, 0x1b, {"VS_FETCH_DONE", "VS_FETCH_DONE", "CCH_FAST_CLEAR_CLEAN"}},
    {CPS_SPACE_EVENT, 0x1e, {"BLIT", "CCU_RESOLVE", "CCU_RESOLVE"}},
    {CPS_SPACE_EVENT, 0x26, {"LRZ_FLUSH", "LRZ_CACHE_FLUSH", "LRZ_CACHE_FLUSH"}},
    {CPS_SPACE_EVENT, 0x28, {"BLIT_OP_COPY_2D", "LRZ_CACHE_INVALIDATE", "LRZ_CACHE_INVALIDATE"}},
    {CPS_SPACE_EVENT, 0x31, {"CACHE_INVALIDATE", "CACHE_CLEAN", "CACHE_CLEAN"}},
    {CPS_SPACE_EVENT, 0x36, {NULL, NULL, "SUBPASS_SLICE_FENCE"}},
    {CPS_SPACE_CONTROL, 0x02f, {NULL, NULL, "MEM_READ_ADDR_HI_PREEMPTION"}},
    {CPS_SPACE_CONTROL, 0x05b, {"REG_READ_TEST_RESULT", "REG_READ_TEST_RESULT", "MODE_BITMASK"}},
    {CPS_SPACE_CONTROL, 0x088, {NULL, NULL, "DDE_BR_INSTR_BASE"}},
    {CPS_SPACE_CONTROL, 0x098, {"MARKER", "MARKER", NULL}},
    {CPS_SPACE_CONTROL, 0x12a, {"MARKER_TEMP", NULL, NULL}},
};

static void a_number_has_the_name_of_its_variant(void **state)
{
    static const enum cps_layout layouts[] = {CPS_LAYOUT_A6XX, CPS_LAYOUT_A7XX, CPS_LAYOUT_A8XX};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct cps_names *names = open_names(layouts[i]);
        for (size_t k = 0; k < sizeof(per_variant) / sizeof(per_variant[0]); k++) {
            const char *name = cps_name(names, per_variant[k].space, per_variant[k].number, NULL);
            const char *expected = per_variant[k].name[i] ? per_variant[k].name[i] : "none";
            assert_string_equal(name ? name : "none", expected);
        }
        cps_names_destroy(names);
    }
    struct cps_names *names = open_names(CPS_LAYOUT_A7XX_GEN3);
    assert_null(cps_name(names, CPS_SPACE_CONTROL, 0x088, NULL)); /* a8xx has more processors */
    cps_names_destroy(names);
}

static const struct {
    enum cps_layout layout;
    enum cps_space space;
    const char *name;
    int64_t number; /* -1: unknown */
} numbered[] = {
    {CPS_LAYOUT_A6XX, CPS_SPACE_PACKET, "CP_INDIRECT_BUFFER_PFD", 0x37},
    {CPS_LAYOUT_A6XX, CPS_SPACE_PACKET, "CP_INDIRECT_BUFFER_PFE", 0x3f},
    {CPS_LAYOUT_A6XX, CPS_SPACE_PACKET, "CP_IM_LOAD", 0x27},
    {CPS_LAYOUT_A6XX, CPS_SPACE_PACKET, "IN_IB_PREFETCH_END", 0x17},
    {CPS_LAYOUT_A6XX, CPS_SPACE_PACKET, "CP_IM_LOA", -1},
    {CPS_LAYOUT_A7XX, CPS_SPACE_PACKET, "CP_MEM_TO_SCRATCH_MEM", 0x49},
    {CPS_LAYOUT_A7XX, CPS_SPACE_PACKET, "CP_MEM_TO_OC_MEM", 0x49},
    {CPS_LAYOUT_A6XX, CPS_SPACE_GPU, "CP_PROTECT_CNTL", 0x84f},
    {CPS_LAYOUT_A7XX, CPS_SPACE_GPU, "VPC_SO_CNTL", 0x9305},
    {CPS_LAYOUT_A8XX, CPS_SPACE_GPU, "VPC_SO_CNTL", 0x9304},
    {CPS_LAYOUT_A8XX, CPS_SPACE_CONTROL, "MARKER", 0x138},
    {CPS_LAYOUT_A6XX, CPS_SPACE_PACKET, "", -1},
    {CPS_LAYOUT_A5XX_ME, CPS_SPACE_CONTROL, "IB1_BASE", 0xb0},
    {CPS_LAYOUT_A5XX_ME, CPS_SPACE_SQE, "SP", -1},
    {CPS_LAYOUT_A6XX, CPS_SPACE_CONTROL, "IB1_BASE", 0x10},
    {CPS_LAYOUT_A7XX_GEN3, CPS_SPACE_CONTROL, "IB1_BASE", 0x20},
    {CPS_LAYOUT_A6XX, CPS_SPACE_GPU, "SP_CS_CONST_CONFIG", 0xb987},
    {CPS_LAYOUT_A7XX, CPS_SPACE_GPU, "SP_CS_CONST_CONFIG", 0xa9cd},
    {CPS_LAYOUT_A7XX, CPS_SPACE_GPU, "VPC_UNKNOWN_9107", 0x9107},
    {CPS_LAYOUT_A7XX, CPS_SPACE_EVENT, "PC_CCU_RESOLVE_TS", 26},
};

static void a_name_has_its_number_in_any_variant(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(numbered) / sizeof(numbered[0]); i++) {
        struct cps_names *names = open_names(numbered[i].layout);
        uint32_t number = 0;
        bool found = cps_name_number(names, numbered[i].space, numbered[i].name,
                                     strlen(numbered[i].name), &number);
        assert_int_equal(found, numbered[i].number >= 0);
        if (found)
            assert_int_equal(number, numbered[i].number);
        cps_names_destroy(names);
    }
}

static void a_name_is_compared_by_its_length(void **state)
{
    (void)state;
    struct cps_names *names = open_names(CPS_LAYOUT_A6XX);
    uint32_t number = 0;
    assert_true(cps_name_number(names, CPS_SPACE_SQE, "SP]", 2, &number));
    assert_int_equal(number, 5);
    assert_false(cps_name_number(names, CPS_SPACE_SQE, "SP\0garbage", 10, &number));
    cps_names_destroy(names);
}

/* What is named can be found by its name, in every table and layout. */
static void every_name_leads_back(void **state)
{
    (void)state;
    for (unsigned layout = 0; layout < CPS_LAYOUT_COUNT; layout++) {
        struct cps_names *names = open_names((enum cps_layout)layout);
        for (unsigned space = 0; space < CPS_SPACE_COUNT; space++) {
            for (uint32_t number = 0; number < 0x24000; number++) {
                unsigned index;
                uint32_t back;
                const char *name = cps_name(names, (enum cps_space)space, number, &index);
                if (!name)
                    continue;
                assert_true(
                    cps_name_number(names, (enum cps_space)space, name, strlen(name), &back));
                /* A few names stand for several numbers; those numbers still have that name. */
                if (back + index != number)
                    assert_string_equal(cps_name(names, (enum cps_space)space, back, NULL), name);
            }
        }
        cps_names_destroy(names);
    }
}

static const struct {
    enum cps_layout layout;
    enum cps_space space;
    uint32_t number, value;
    const char *text;
} fielded[] = {
    {CPS_LAYOUT_A6XX, CPS_SPACE_PIPE, 0xea, 0x00000306, "TIMESTAMP INTERRUPT EVENT=RB_DONE"},
    {CPS_LAYOUT_A6XX, CPS_SPACE_PIPE, 0xea, 0, "EVENT=0x0"},
    {CPS_LAYOUT_A6XX, CPS_SPACE_PIPE, 0xa2, 0xffffffff, ""},
    {CPS_LAYOUT_A6XX, CPS_SPACE_PIPE, 0x00, 0xffffffff, ""},
    {CPS_LAYOUT_A6XX, CPS_SPACE_GPU, 0x8005, 0x00000c01,
     "IJ_PERSP_PIXEL COORD_MASK=0x0 no-name=0xc00"},
    {CPS_LAYOUT_A7XX, CPS_SPACE_GPU, 0x8005, 0x00000c01,
     "IJ_PERSP_PIXEL COORD_MASK=0x0 UNK10 UNK11"},
    {CPS_LAYOUT_A6XX, CPS_SPACE_GPU, 0x0c10, 0xffffffff, "X=1023 Y=1023 W=63 H=63"},
    {CPS_LAYOUT_A6XX, CPS_SPACE_GPU, 0x0850, 0x80000010, "BASE_ADDR=0x10 MASK_LEN=0x0 READ"},
    {CPS_LAYOUT_A6XX, CPS_SPACE_GPU, 0x8100, 0xa08,
     "FC_ENABLE DIR=0x0 DISABLE_ON_WRONG_DIR no-name=0x800"},
    {CPS_LAYOUT_A7XX, CPS_SPACE_GPU, 0x8100, 0xa08, "DIR=0x0 Z_FUNC=FUNC_LESS no-name=0x208"},
    {CPS_LAYOUT_A8XX, CPS_SPACE_GPU, 0x8100, 0xa08, ""},
    {CPS_LAYOUT_A8XX, CPS_SPACE_GPU, 0x8212, 0xa08, "DIR=0x0 Z_FUNC=FUNC_LESS no-name=0x208"},
    {CPS_LAYOUT_A7XX, CPS_SPACE_GPU, 0x8090, 0x40001,
     "CULL_FRONT LINEHALFWIDTH=0.0 LINE_MODE=BRESENHAM UNK15=0x0 RENDERTARGETINDEXINCR UNK20=0x0"},
    {CPS_LAYOUT_A8XX, CPS_SPACE_GPU, 0x8209, 0x40001,
     "CULL_FRONT LINEHALFWIDTH=0.0 LINE_MODE=BRESENHAM UNK15=0x0 no-name=0x40000"},
    {CPS_LAYOUT_A7XX, CPS_SPACE_GPU, 0x8871, 0x101, "Z_TEST_ENABLE ZFUNC=FUNC_NEVER no-name=0x100"},
    {CPS_LAYOUT_A8XX, CPS_SPACE_GPU, 0x8871, 0x101,
     "Z_TEST_ENABLE ZFUNC=FUNC_NEVER O_DEPTH_01_CLAMP_EN"},
    {CPS_LAYOUT_A7XX, CPS_SPACE_CONTROL, 0xd5, 0x12310,
     "USEPREEMPTREG PIPE=0x2 CLUSTER=0x3 CONTEXT=0x1"},
};

static void fields_are_named_and_bits_without_a_name_are_not_lost(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(fielded) / sizeof(fielded[0]); i++) {
        struct cps_names *names = open_names(fielded[i].layout);
        CPS_BUF text = {0};
        cps_buf_str(&text, "> ");
        cps_name_fields(names, fielded[i].space, fielded[i].number, fielded[i].value, &text);
        assert_string_equal(cps_buf_text(&text) + 2, fielded[i].text);
        cps_names_destroy(names);
    }
}

/* Words that drivers of each generation write, read by the packets' documents. */
static const struct {
    enum cps_layout layout;
    uint32_t opcode;
    uint32_t words[8];
    unsigned count;
    const char *text;
} packets[] = {
    {CPS_LAYOUT_A6XX, 0x3f, {0x1000, 1, 0x1234}, 3, "IB_BASE=0x100001000 IB_SIZE=4660"},
    {CPS_LAYOUT_A5XX_PFP, 0x3f, {0x1000, 1, 2}, 3, "IB_BASE=0x100001000 IB_SIZE=2"},
    {CPS_LAYOUT_A7XX, 0x65, {0x101}, 1, "MARKER_MODE=SET_IFPC_MODE IFPC_MODE=IFPC_DISABLE"},
    {CPS_LAYOUT_A7XX, 0x65, {0x4}, 1, "MARKER_MODE=SET_RENDER_MODE MODE=RM6_BIN_RENDER_START"},
    {CPS_LAYOUT_A6XX,
     0x43,
     {0x00600013, 0x1000, 1, 0x01040000, 0, 0},
     6,
     "COUNT=19 GMEM SYSMEM GROUP_ID=0 ADDR=0x100001000 "
     "COUNT=0 DISABLE_ALL_GROUPS GROUP_ID=1 ADDR=0x0"},
    {CPS_LAYOUT_A6XX,
     0x3c,
     {0x13, 0x1000, 1, 5, 0xffffffff, 16},
     6,
     "FUNCTION=WRITE_EQ POLL=POLL_MEMORY POLL_ADDR=0x100001000 REF=0x5 MASK=0xffffffff "
     "DELAY_LOOP_CYCLES=0x10"},
    {CPS_LAYOUT_A6XX,
     0x21,
     {0x80008c01, 0xff, 1},
     3,
     "DST_REG=RB_A2D_PIXEL_CNTL ROTATE=0 SRC0_IS_REG SRC0=255 SRC1=1"},
    {CPS_LAYOUT_A6XX,
     0x34,
     {0x03618010, 0x1000, 1},
     3,
     "DST_OFF=16 STATE_TYPE=ST6_UBO STATE_SRC=SS6_BINDLESS STATE_BLOCK=SB6_VS_SHADER NUM_UNIT=13 "
     "EXT_SRC_ADDR=0x100001000"},
    {CPS_LAYOUT_A6XX, 0x5c, {0x8820, 1}, 2, "REG=RB_MRT[0].CONTROL VALUE=0x1"},
    {CPS_LAYOUT_A6XX, 0x7f, {1, 2}, 2, ""},
};

static void words_of_packets_are_taken_apart(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(packets) / sizeof(packets[0]); i++) {
        struct cps_names *names = open_names(packets[i].layout);
        CPS_BUF text = {0};
        cps_packet_fields(names, packets[i].opcode, packets[i].words, packets[i].count, &text);
        assert_string_equal(cps_buf_text(&text), packets[i].text);
        cps_names_destroy(names);
    }
}

static void generations_have_names(void **state)
{
    (void)state;
    static const char *const good[] = {"a5xx", "a6xx", "a7xx", "a8xx"};
    for (unsigned i = 0; i < 4; i++) {
        enum cps_gen gen;
        char digit[2] = {good[i][1], '\0'};
        assert_true(cps_gen_parse(good[i], &gen));
        assert_string_equal(cps_gen_name(gen), good[i]);
        assert_true(cps_gen_parse(digit, &gen));
        assert_int_equal(gen, CPS_A5XX + i);
    }
    static const char *const bad[] = {"", "a", "4", "9", "a6", "a6xxx", "A6XX", "66"};
    for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        enum cps_gen gen;
        assert_false(cps_gen_parse(bad[i], &gen));
    }
    assert_int_equal(cps_layout_gen(CPS_LAYOUT_A5XX_ME), CPS_A5XX);
    assert_int_equal(cps_layout_gen(CPS_LAYOUT_A7XX_GEN3), CPS_A7XX);
    assert_int_equal(cps_layout_gen(CPS_LAYOUT_A8XX), CPS_A8XX);
}

static const struct {
    const char *text;
    unsigned chips;
} variants[] = {
    {"", CPS_CHIPS_ALL},
    {"A2XX", 0x01},
    {"A5XX", 0x08},
    {"A6XX-", 0xf0},
    {"A2XX-A4XX", 0x07},
    {"-A3XX", 0x03},
    {"A2XX A7XX", 0x21},
    {"A6XX,A8XX", 0x50},
    {"A740", CPS_CHIPS_ALL},
    {"A740 A6XX", 0x10},
    {"A7XX-A5XX", CPS_CHIPS_ALL},
    {"-", CPS_CHIPS_ALL},
};

static void variants_are_sets_of_generations(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(variants) / sizeof(variants[0]); i++)
        assert_int_equal(cps_chips_parse_(variants[i].text), variants[i].chips);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_number_has_the_name_of_its_layout),
        cmocka_unit_test(a_number_has_the_name_of_its_variant),
        cmocka_unit_test(a_name_has_its_number_in_any_variant),
        cmocka_unit_test(a_name_is_compared_by_its_length),
        cmocka_unit_test(every_name_leads_back),
        cmocka_unit_test(fields_are_named_and_bits_without_a_name_are_not_lost),
        cmocka_unit_test(words_of_packets_are_taken_apart),
        cmocka_unit_test(generations_have_names),
        cmocka_unit_test(variants_are_sets_of_generations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
