/* SPDX-License-Identifier: MIT
 * Terms and queries of z3. */
#include "tools/explain/prove/smt.h"

#include <stdio.h>

#include "tools/cmd/terminal/oom.h"

void (*smt_out_of_memory)(void);

/* Errors show as answers that are unknown: the default handler would end the program. Without
 * memory there are no terms to go on with. */
static void on_error(Z3_context z, Z3_error_code code)
{
    (void)z;
    if (code == Z3_MEMOUT_FAIL && smt_out_of_memory)
        smt_out_of_memory();
}

void smt_init(struct smt *smt, unsigned effort)
{
    Z3_config config = Z3_mk_config();
    *smt = (struct smt){.z = Z3_mk_context(config)};
    Z3_del_config(config);
    tool_need(smt->z != NULL);
    Z3_set_error_handler(smt->z, on_error);
    Z3_params params = Z3_mk_params(smt->z);
    Z3_params_inc_ref(smt->z, params);
    Z3_params_set_uint(smt->z, params, Z3_mk_string_symbol(smt->z, "rlimit"), effort);
    smt->solver = Z3_mk_simple_solver(smt->z);
    Z3_solver_inc_ref(smt->z, smt->solver);
    Z3_solver_set_params(smt->z, smt->solver, params);
    Z3_params_dec_ref(smt->z, params);
    smt->word = Z3_mk_bv_sort(smt->z, 32);
}

void smt_deinit(struct smt *smt)
{
    if (!smt->z)
        return;
    if (smt->solver)
        Z3_solver_dec_ref(smt->z, smt->solver);
    Z3_del_context(smt->z);
    *smt = (struct smt){0};
}

Z3_ast smt_word(const struct smt *smt, uint32_t value)
{
    return Z3_mk_unsigned_int64(smt->z, value, smt->word);
}

Z3_ast smt_unknown(const struct smt *smt, const char *name, unsigned number)
{
    char text[48];
    snprintf(text, sizeof(text), "%s%u", name, number);
    return Z3_mk_const(smt->z, Z3_mk_string_symbol(smt->z, text), smt->word);
}

Z3_ast smt_plain(const struct smt *smt, Z3_ast term)
{
    return Z3_get_ast_kind(smt->z, term) == Z3_NUMERAL_AST ? term : Z3_simplify(smt->z, term);
}

bool smt_known(const struct smt *smt, Z3_ast term, uint32_t *ret)
{
    uint64_t value = 0;
    if (Z3_get_ast_kind(smt->z, term) != Z3_NUMERAL_AST)
        return false;
    if (!Z3_get_numeral_uint64(smt->z, term, &value))
        return false;
    *ret = (uint32_t)value;
    return true;
}

bool smt_decided(const struct smt *smt, Z3_ast condition, bool *ret)
{
    Z3_lbool value = Z3_get_bool_value(smt->z, condition);
    *ret = value == Z3_L_TRUE;
    return value != Z3_L_UNDEF;
}

Z3_ast smt_equal(const struct smt *smt, Z3_ast a, Z3_ast b)
{
    return a == b ? Z3_mk_true(smt->z) : Z3_simplify(smt->z, Z3_mk_eq(smt->z, a, b));
}

Z3_ast smt_not(const struct smt *smt, Z3_ast condition)
{
    return Z3_simplify(smt->z, Z3_mk_not(smt->z, condition));
}

void smt_push(const struct smt *smt)
{
    Z3_solver_push(smt->z, smt->solver);
}

void smt_pop(const struct smt *smt)
{
    Z3_solver_pop(smt->z, smt->solver, 1);
}

void smt_assert(const struct smt *smt, Z3_ast condition)
{
    Z3_solver_assert(smt->z, smt->solver, condition);
}

static enum smt_answer answer_of(Z3_lbool said)
{
    return said == Z3_L_TRUE ? SMT_YES : said == Z3_L_FALSE ? SMT_NO : SMT_UNKNOWN;
}

enum smt_answer smt_possible(struct smt *smt, Z3_ast condition)
{
    struct smt_model model = {0};
    enum smt_answer answer = smt_model(smt, condition, &model);
    smt_model_release(&model);
    return answer;
}

enum smt_answer smt_model(struct smt *smt, Z3_ast condition, struct smt_model *ret)
{
    *ret = (struct smt_model){.smt = smt};
    smt->queries++;
    smt_push(smt);
    if (condition)
        smt_assert(smt, condition);
    enum smt_answer answer = answer_of(Z3_solver_check(smt->z, smt->solver));
    if (answer == SMT_YES) {
        ret->model = Z3_solver_get_model(smt->z, smt->solver);
        if (ret->model)
            Z3_model_inc_ref(smt->z, ret->model);
    }
    smt_pop(smt);
    return answer;
}

void smt_model_release(struct smt_model *model)
{
    if (model->model)
        Z3_model_dec_ref(model->smt->z, model->model);
    model->model = NULL;
}

uint32_t smt_model_word(const struct smt_model *model, Z3_ast term)
{
    Z3_ast value = NULL;
    uint32_t word = 0;
    if (model->model && Z3_model_eval(model->smt->z, model->model, term, true, &value))
        smt_known(model->smt, value, &word);
    return word;
}
