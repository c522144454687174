/* SPDX-License-Identifier: MIT
 * Interrupts of PFIFO. */
#include "emu/nv/pfifo_irq.h"

void pfifo_tell_(struct nv *e, uint32_t before)
{
    struct pfifo *p = pfifo_of_(e);
    const struct cps_by by = pfifo_by_(e);
    uint32_t now = p->intr & p->intr_enable;
    for (unsigned bit = 0; bit <= INTR_DMA_PTE; bit += 4) {
        if ((now & ~before) >> bit & 1)
            cps_bus_put(e->bus, CPS_EV_IRQ, 0, &by, 0, bit);
    }
    p->line = now != 0;
}

void pfifo_raise_(struct nv *e, unsigned bit)
{
    struct pfifo *p = pfifo_of_(e);
    uint32_t before = p->intr & p->intr_enable;
    p->intr |= UINT32_C(1) << bit;
    pfifo_tell_(e, before);
}
