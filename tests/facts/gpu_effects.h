/* SPDX-License-Identifier: MIT
 * What pipe registers and GPU registers do, as rows of unit/test_pipe.c. */
/* clang-format off */
/* ---- pipe registers: afuc-machine, 3 and 4 ---- */
{SQES, "WFI_PEND_INCR=0 WFI_PEND_INCR=0 QUERY_PEND_INCR=0 QUERY_PEND_INCR=0 |81:5 ?WFI_PEND_CTR ?QUERY_PEND_CTR |82:6 |82:7 "
 "|82:8 ?WFI_PEND_CTR ?QUERY_PEND_CTR",
 "1 2 1 0, PIPE 81=5, PIPE 82=6, PIPE 82=7, PIPE 82=8"},
/* What orders the pipe counts nothing. */
{BOTH, "WFI_PEND_INCR=0 QUERY_PEND_INCR=0 CACHE_PEND_INCR=0 |80:0 |84:0 |a3=0 ?WFI_PEND_CTR ?QUERY_PEND_CTR "
 "?CACHE_PEND_CTR", "1 1 1, PIPE 80=0, PIPE 84=0, PIPE a3=0"},
{SEVEN, "WFI_PEND_INCR=0 QUERY_PEND_INCR=0 CACHE_PEND_INCR=0 |87:0 |84:0 ?WFI_PEND_CTR ?QUERY_PEND_CTR ?CACHE_PEND_CTR", "1 1 "
 "1, PIPE 87=0, PIPE 84=0"},
/* Data behind a register that acts does not make it act again. */
{SQES, "WFI_PEND_INCR=0 WFI_PEND_INCR=0 |81=0 ?WFI_PEND_CTR", "1, PIPE 81=0, PIPE 81=0"},
/* NRT: an address, then words; low bits of it 1 keep it, and are no part of it; it carries. */
{SQES, "|a0=2000 |a1=1 |a2=5 |a2=6", ", PIPE a0=2000, PIPE a1=1, PIPE a2=5, MEMW nrt 100002000=5, PIPE a2=6, MEMW nrt "
 "100002004=6"},
{SQES, "|a0=2001 |a1=0 |a2=5 |a2=6", ", PIPE a0=2001, PIPE a1=0, PIPE a2=5, MEMW nrt 2000=5, PIPE a2=6, MEMW nrt 2000=6"},
{SQES, "|a0=2002 |a2=5 |a2=6", ", PIPE a0=2002, PIPE a2=5, MEMW nrt 2000=5, PIPE a2=6, MEMW nrt 2004=6"},
{SQES, "|a0=fffffffc |a1=0 |a2=5 |a2=6", ", PIPE a0=fffffffc, PIPE a1=0, PIPE a2=5, MEMW nrt fffffffc=5, PIPE a2=6, MEMW nrt "
 "100000000=6"},
/* Events: bit 3, on a7xx bit 13, lowers CACHE. */
{BOTH, "CACHE_PEND_INCR=0 CACHE_PEND_INCR=0 |e7=fff7 ?CACHE_PEND_CTR |e7=8 ?CACHE_PEND_CTR", "2 1, PIPE e7=fff7, PIPE e7=8"},
{SEVEN, "CACHE_PEND_INCR=0 CACHE_PEND_INCR=0 |e7=7ff ?CACHE_PEND_CTR |e7=2000 ?CACHE_PEND_CTR", "2 1, PIPE e7=7ff, PIPE e7=2000"},
/* The word of an event, and its interrupt: CACHE_FLUSH_TS is number 20 of RBBM_INT_0; a7xx names it in 11:7. */
{BOTH, "|ea=700 |e8=2000 |e9=1 |eb=77", ", PIPE ea=700, PIPE e8=2000, PIPE e9=1, PIPE eb=77, MEMW event 100002000=77"},
{BOTH, "|ea=4 |e8=2000 |eb=77", ", PIPE ea=4, PIPE e8=2000, PIPE eb=77, MEMW event 2000=77, IRQ 0=14"},
{SEVEN, "|ea=8 |e8=2000 |e9=1 |eb=77 |ec=88", ", PIPE ea=8, PIPE e8=2000, PIPE e9=1, PIPE eb=77, MEMW event 100002000=77, "
 "PIPE ec=88"},
{SEVEN, "|ea=1c8 |e8=2000 |eb=77", ", PIPE ea=1c8, PIPE e8=2000, PIPE eb=77, MEMW event 2000=77, IRQ 0=3"},
{SEVEN, "|ea=10 |e8=2000 |eb=77 |ec=88", ", PIPE ea=10, PIPE e8=2000, PIPE eb=77, MEMW event 2000=77, PIPE ec=88, MEMW event "
 "2004=88"},
{SEVEN, "|ea=12 |e8=2000 |eb=77 |ec=88", ", PIPE ea=12, PIPE e8=2000, PIPE eb=77, PIPE ec=88"},
{SEVEN, "R883=5 R884=6 |ea=28 |e8=2000 |eb=883 |ec=2",
 ", REG data 883=5, REG data 884=6, PIPE ea=28, PIPE e8=2000, PIPE eb=883, PIPE ec=2, REGR 883=5, MEMW event 2000=5, REGR "
 "884=6, MEMW event 2004=6"},
{SEVEN, "|ea=b |e8=2000 |eb=77", ", PIPE ea=b, PIPE e8=2000, PIPE eb=77"},
{SEVEN, "|ea=c |e8=2000 |eb=77", ", PIPE ea=c, PIPE e8=2000, PIPE eb=77"},
{SEVEN, "|ea=d |e8=2000 |eb=77", ", PIPE ea=d, PIPE e8=2000, PIPE eb=77, ASSUME counter 2000=0, MEMW event 2000=0, MEMW event 2004=0"},
/* Sample counts: begin, sum and end in 64 bits each; the sum grows by end - begin: a3000000a2 + 0 - a1000000a0. */
{SEVEN, "|ea=e |e8=1000 |eb=77", ", PIPE ea=e, PIPE e8=1000, PIPE eb=77, ASSUME counter 1010=0, MEMW event 1010=0, MEMW event 1014=0"},
{SEVEN, "|ea=36 |e8=1000 |eb=77 |ec=88",
 ", PIPE ea=36, PIPE e8=1000, PIPE eb=77, ASSUME counter 1010=0, MEMW event 1010=0, MEMW event 1014=0, MEMR event 1000=a0, MEMR event "
 "1004=a1, MEMR event 1008=a2, MEMR event 100c=a3, ASSUME counter 1008=2, MEMW event 1008=2, MEMW event 100c=2, PIPE ec=88"},
{A67G, "R8927=2000 R8928=0 R9842=b0016 R9842=b0015", ", REG data 8927=2000, REG data 8928=0, REG data 9842=b0016, REG data "
 "9842=b0015, ASSUME counter 2000=0, MEMW event 2000=0, MEMW event 2004=0"},
{A67G, "R9842=15", ", REG data 9842=15"},
{ME, "Re267=2000 Re268=0 Re3a2=5 Re3a2=15 Reba2=15", ", REG data e267=2000, REG data e268=0, REG data e3a2=5, REG data e3a2=15, ASSUME "
 "counter 2000=0, MEMW event 2000=0, MEMW event 2004=0, REG data 10000e3a2=15"},
/* What is launched: the source of indices is in 7:6 of PC_DRAWCALL_CNTL; 2D operations and BLIT are events. */
{A67G, "R9e0b=4 R9840=1 R9e0b=84 R9840=1 R9e0b=c4 R9840=1 R9841=2 R9842=1e R9842=2a R9842=2b",
 ", REG data 9e0b=4, REG data 9840=1, LAUNCH indexed 9840=1, REG data 9e0b=84, REG data 9840=1, LAUNCH draw 9840=1, REG data 9e0b=c4, REG "
 "data 9840=1, LAUNCH feedback 9840=1, REG data 9841=2, LAUNCH dispatch 9841=2, REG data 9842=1e, LAUNCH resolve 9842=1e, REG data 9842=2a, "
 "LAUNCH blit 9842=2a, REG data 9842=2b"},
/* BLIT_OP_FILL_2D is 0x27; 0x28 copies up to a6xx, and later invalidates a cache of LRZ, as 0x29 does. */
{A6XX, "R9842=27 R9842=28", ", REG data 9842=27, LAUNCH blit 9842=27, REG data 9842=28, LAUNCH blit 9842=28"},
{A7XX | GEN3, "R9842=27 R9842=28 R9842=29", ", REG data 9842=27, LAUNCH blit 9842=27, REG data 9842=28, REG data 9842=29"},
{A8XX, "R9802=27 R9802=28 R9802=29", ", REG data 9802=27, LAUNCH blit 9802=27, REG data 9802=28, REG data 9802=29"},
{A67G, "R9e0b=4084 R9840=1", ", REG data 9e0b=4084, REG data 9840=1, LAUNCH skipped 9840=1"},
{BOTH, "R9c00=2a R9c00=2b", ", REG data 9c00=2a, LAUNCH blit 9c00=2a, REG data 9c00=2b"},
{A8XX, "R9e00=84 R9800=1 R9801=2 R9802=1e R9802=2a", ", REG data 9e00=84, REG data 9800=1, LAUNCH draw 9800=1, REG data 9801=2, LAUNCH "
 "dispatch 9801=2, REG data 9802=1e, LAUNCH resolve 9802=1e, REG data 9802=2a, LAUNCH blit 9802=2a"},
{ME, "Re3a0=0 Re3a1=0 Re3a2=1e R2080=28 R2080=2b", ", REG data e3a0=0, LAUNCH draw e3a0=0, REG data e3a1=0, LAUNCH dispatch e3a1=0, REG data "
 "e3a2=1e, LAUNCH resolve e3a2=1e, REG data 2080=28, LAUNCH blit 2080=28, REG data 2080=2b"},
{A8XX, "?R1a2 ?R5c5", "3 3" ACK "1a2=3, REGR 1a2=3" ACK "5c5=3, REGR 5c5=3"},
/* The pipe waits for an on-chip word, a wrapping counter (740 0c23..0c42). */
{SEVEN, "SHARED_SCRATCH+10=4 |a4=10 |a5=4 {mov $04, 0x9}", ", PIPE a4=10, PIPE a5=4"},
{SEVEN, "SHARED_SCRATCH+10=4 |a4=10 |a5=5 ?SHARED_SCRATCH+10", "5, PIPE a4=10, PIPE a5=5, ASSUME wait @SHARED_SCRATCH+10=5"},
{SEVEN, "SHARED_SCRATCH+10=4 |a4=10 |a5=80000005 ?SHARED_SCRATCH+10", "4, PIPE a4=10, PIPE a5=80000005"},
/* a530 ME 046a: the command stands in 15:8. */
{ME, "CACHE_PEND_INCR=0 CACHE_PEND_INCR=0 |c7:400 ?CACHE_PEND_CTR |c7:1000 ?CACHE_PEND_CTR |c7:800 ?CACHE_PEND_CTR |c7:800 "
 "|c7:800 ?CACHE_PEND_CTR",
 "2 2 1 0, PIPE c7=400, PIPE c7=1000, PIPE c7=800, PIPE c7=800, PIPE c7=800"},
{A5XX, "CACHE_PEND_INCR=0 CACHE_PEND_INCR=0 {mov $data, 0x1;l: cread $02, [$00 + @CACHE_PEND_CTR];brne $02, 0x1, #l;nop} "
 "?CACHE_PEND_CTR/?data CACHE_PEND_INCR=0 |c7:1800 CACHE_PEND_INCR=0 |c7:2000 ?CACHE_PEND_CTR",
 "1 / 1 1, PIPE c7=1800, PIPE c7=2000"},
{ME, "R883=5 R884=6 |e1=2 {mov $02, 0x10 << 16; or $addr, $02, 0x883} ?reg ?reg {or $addr, $02, 0x884} ?reg", "5 6 6, REG "
 "data 883=5, REG data 884=6, PIPE e1=2, REGR 883=5, REGR 884=6, REGR 884=6"},
/* ---- the ring ---- */
{A67G, "?R800 ?R801 ?R806 ?R807", "f8000000 1ffff 0 0, REGR 800=f8000000, REGR 801=1ffff, REGR 806=0, REGR 807=0"},
{A67G, "$2 ?data ?R806 ?R807 ?data", "70108000 1 2 51, REGR 806=1, REGR 807=2"},
{A67G, "R800=2000 R801=3 ?R800 ?R801", "2000 3, REG data 800=2000, REG data 801=3, REGR 800=2000, REGR 801=3"},
/* RPTR_WR sets the pointer where bit 31 of RB_CNTL lets it, RPTR where not (740 1c12). */
{A67G, "$3 R803=2 ?RB_RPTR R806=1 ?RB_RPTR R802=80000006 R803=2 ?RB_RPTR R806=0 ?RB_RPTR ?data", "0 1 2 2 52, REG data 803=2, "
 "REG data 806=1, REG data 802=80000006, REG data 803=2, REG data 806=0"},
{A7XX | GEN3, "$3 Ra66=2 ?RB_RPTR ?data", "2 52, REG data a66=2"},
/* RB_CNTL has the size as log2 of 8 bytes when the write pointer comes: 16 dwords. */
{A67G, "R802=3 R806=5 R807=21 ?R807 R806=13 ?RB_RPTR R806=1 ?RB_RPTR R807=1", "1 3 1, REG data 802=3, REG data 806=5, REG "
 "data 807=21, REGR 807=1, REG data 806=13, REG data 806=1, REG data 807=1"},
/* ---- what reads do not give back ---- */
{A67G, "R833=11 ?R833", "0, REG data 833=11" ACK "833=0, REGR 833=0"},
{SQES | A5XX, "REG_WRITE_ADDR=3800 REG_WRITE=5 REG_WRITE=6 ?R3801", "5, REG ctrl 3800=5, REG ctrl 3801=6" ACK "3801=5, REGR "
 "3801=5"},
{SQES, "R3c45=5 ?R3c46", "5, REG data 3c45=5" ACK "3c46=5, REGR 3c46=5"},
{A67G, "R16=5 ?R17", "5, REG data 16=5" ACK "17=5, REGR 17=5"},
{A8XX, "Ra=5 ?Rb", "5, REG data a=5" ACK "b=5, REGR b=5"},
/* The first read of VSC's: what policy says; sizes 0 is no overflow. */
{SQES, "Rc38=1 ?Rc38 ?Rc57", "ffffffff ffffffff, REG data c38=1" SEEN "c38=ffffffff, REGR c38=ffffffff" SEEN "c57=ffffffff, "
 "REGR c57=ffffffff"},
{SQES, "#Rc38=1 ?Rc38 ?Rc57", "1 0, REG data c38=1" SEEN "c38=1, REGR c38=1" SEEN "c57=0, REGR c57=0"},
{SQES, "Rc58=7 ?Rc58 ?Rc97", "7 0, REG data c58=7, ASSUME counter c58=7, REGR c58=7, ASSUME counter c97=0, REGR c97=0"},
/* A memory read that has not arrived: 256 words are here, the rest is left. */
{A67G, "MEM_READ_ADDR=12 MEM_READ_ADDR+1=34 ?R931 ?R932 ?R933 ?R946 ?R94c", "12 34 0 0 0, REGR 931=12, REGR 932=34, REGR "
 "933=0, REGR 946=0, REGR 94c=0"},
{A67G, "MEM_READ_ADDR=1000 MEM_READ_ADDR+1=0 MEM_READ_DWORDS=2 ?R94c ?mem ?R94c ?mem",
 "20000 a0 10000 a1, MEMR memdata 1000=a0, MEMR memdata 1004=a1, REGR 94c=20000, REGR 94c=10000"},
/* CP_SQE_STAT: general registers by number, 1c $rem; each read moves on to the next. */
{SQES, "{mov $11, 0x44; mov $12, 0x55} R908=11 ?R909 ?R909 {mov $rem, 0x66} R908=1c ?R909", "44 55 66, REG data 908=11, REGR "
 "909=44, REGR 909=55, REG data 908=1c, REGR 909=66"},
{A7XX | GEN3, "{mov $11, 0x44; mov $12, 0x55} Ra87=11 ?Ra88 ?Ra88", "44 55, REG data a87=11, REGR a88=44, REGR a88=55"},
/* 24 to 26 are the headers of this packet and of the two before; those around them are 0. */
{SQES, "$1 PACKET_TABLE_WRITE_ADDR=10 {mov $02, #h;cwrite $02, [$00 + @PACKET_TABLE_WRITE];waitin;mov $01, $data;h:} R908=23 "
 "?R909 ?R909 ?R909 ?R909 ?R909",
 "0 70108000 0 0 0, PKT rb 1fffff8000000=70108000, REG data 908=23, REGR 909=0, REGR 909=70108000, REGR 909=0, REGR 909=0, "
 "REGR 909=0"},
/* Where images lie: the ME's is 16 MiB behind the PFP's. */
{A5XX, "?R835 ?R836 ?R838 ?R839", "f0000000 1ffff f1000000 1ffff, REGR 835=f0000000, REGR 836=1ffff, REGR 838=f1000000, REGR "
 "839=1ffff"},
{A67G, "?R830 ?R831", "f0000000 1ffff, REGR 830=f0000000, REGR 831=1ffff"},
{A8XX, "?R816 ?R817", "f0000000 1ffff, REGR 816=f0000000, REGR 817=1ffff"},
/* ---- banks of a530: bit 11 of e000 to efff, bit 10 of 2000 to 27ff; in bit 32 of the event ---- */
{ME, "Rdfff=1 Re000=2 Re7ff=3 Re800=4 Refff=5 Rf000=6", ", REG data dfff=1, REG data e000=2, REG data e7ff=3, REG data "
 "10000e000=4, REG data 10000e7ff=5, REG data f000=6"},
{ME, "R1fff=1 R2000=2 R23ff=3 R2400=4 R27ff=5 R2800=6", ", REG data 1fff=1, REG data 2000=2, REG data 23ff=3, REG data "
 "100002000=4, REG data 1000023ff=5, REG data 2800=6"},
/* Read-modify-write: mask, rotation of 5 bits, or-value; through the port for packets (a530 ME). */
{ME, "R883=ff00ff0f {mov $08, 0x883;mov $09, 0x9 << 20;or $usraddr, $08, $09;mov $02, 0xffff << 16;mov $data, $02;mov $04, "
 "0x1 << 23;mov $07, 0x1f;or $usraddr, $07, $04;mov $data, 0x3}",
 ", REG data 883=ff00ff0f, REGR 883=ff00ff0f, REG user 883=7f800003"},
{ME, "R883=ff00ff0f {mov $08, 0x883;mov $09, 0x9 << 20;or $usraddr, $08, $09;mov $data, 0xff;mov $usraddr, 0x80 << 16;mov "
 "$data, 0x300}",
 ", REG data 883=ff00ff0f, REGR 883=ff00ff0f, REG user 883=30f"},
/* ---- the memory paths of a530's ME ---- */
{ME, "R80d=1000 R80e=0 R80f=2 ?mem ?mem", "a0 a1, REG data 80d=1000, REG data 80e=0, REG data 80f=2, MEMR memdata 1000=a0, "
 "MEMR memdata 1004=a1"},
{ME, "R810=2000 R811=1 R812=5 R812=6", ", REG data 810=2000, REG data 811=1, REG data 812=5, MEMW nrt 100002000=5, REG data "
 "812=6, MEMW nrt 100002004=6"},
{ME, "R810=fffffffc R811=1 R812=5 R812=6", ", REG data 810=fffffffc, REG data 811=1, REG data 812=5, MEMW nrt 1fffffffc=5, "
 "REG data 812=6, MEMW nrt 200000000=6"},
{ME, "R813=4 R814=2000 R815=1 R816=77", ", REG data 813=4, REG data 814=2000, REG data 815=1, REG data 816=77, MEMW event "
 "100002000=77, IRQ 0=14"},
/* The names of the database: address, then reads of $addr; the high half changes at 4 GiB. */
{ME, "R80d=fffffffc R80e=0 ?mem ?mem", "0 0, REG data 80d=fffffffc, REG data 80e=0, UNMODELLED mem fffffffc=0, MEMR memdata "
 "fffffffc=0, UNMODELLED mem 100000000=0, MEMR memdata 100000000=0"},
{A5XX, "WFI_PEND_INCR=0 WFI_PEND_INCR=0 QUERY_PEND_INCR=0 QUERY_PEND_INCR=0 {mov $data, 0x1;l: cread $02, [$00 + "
 "@QUERY_PEND_CTR];brne $02, 0x1, #l;nop} ?WFI_PEND_CTR ?QUERY_PEND_CTR/?data Rb16=0",
 "2 1 / 1, REG data b16=0"},
{A5XX, "WFI_PEND_INCR=0 WFI_PEND_INCR=0 QUERY_PEND_INCR=0 QUERY_PEND_INCR=0 {mov $data, 0x1;l: cread $02, [$00 + "
 "@WFI_PEND_CTR];brne $02, 0x1, #l;nop} ?WFI_PEND_CTR ?QUERY_PEND_CTR/?data Rb15=0",
 "1 2 / 1, REG data b15=0"},
/* Nobody is there who could start: 6dc, CP_LPAC_SQE_CNTL. */
{BOTH, "Rb82=1234 Rb83=5 Rb81=2 Rb81=1", ", REG data b82=1234, REG data b83=5, REG data b81=2, REG data b81=1, UNMODELLED mem "
 "500001234=0"},
