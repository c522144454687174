" SPDX-License-Identifier: MIT
" Made by editors/make.py from the tables of the program.
if exists("b:current_syntax")
    finish
endif
syn case match
syn keyword cpsasmMnemonic aadd abra abs adb add addhi addo addr addrlo addv and ando andr anop b babs babsu badd baddu band
syn keyword cpsasmMnemonic be9 beb bec bed bee beq bf1 bf2 bf3 bf4 bf5 bf6 bf7 bf8 bf9 bfa bfb bfc bfd bfe bfi bgt bic bitop bl
syn keyword cpsasmMnemonic blt bmax bmaxu bmin bminu bmul bmula bmulau bmulu bne bneg bnegu bnop bor bra breq brne bsar bshr
syn keyword cpsasmMnemonic bsub bsubu bvec bvecmad bvecmadsel bxor call clrbit cmp cmpo cread cwrite data datalo end ewait exit
syn keyword cpsasmMnemonic fbpause fbresume iret irqoff irqon ishr jump jumpa jumpd ldas ldavh ldavv ldaxh ldaxv ldr lds ldv
syn keyword cpsasmMnemonic ldvh ldvv load loadp max min mov msb mul mul16 mul8 neg nop not or oro orr popcount preemptleave
syn keyword cpsasmMnemonic read ret rot s s00 s03 s06 s07 s10 s13 s14 s15 s16 s17 s1f s20 s23 s2f s30 s33 s34 s35 s36 s37 s3f
syn keyword cpsasmMnemonic s40 s43 s44 s46 s47 s50 s52 s53 s54 s55 s56 s57 s5f s60 s66 s67 s6f s70 s72 s73 s74 s76 s77 s7f sar
syn keyword cpsasmMnemonic set set0 set1 setbit sethi setlo setregs setsecure shl shr snop sread sret star stas stavh stavv sti
syn keyword cpsasmMnemonic store storep sts stv stvh stvv sub subhi swrite ts ubfx unk2d unset ushr vabs vabsu vadd vadd9 vaddu
syn keyword cpsasmMnemonic vand vbitop vclip vcmpad vec vecms vlrp vlrp2 vlrp4a vlrp4b vlrp4bu vlrpf vmac vmac2 vmac2a vmac2u
syn keyword cpsasmMnemonic vmac2x vmac2xa vmac2xau vmaca vmacau vmacu vmad2 vmad2a vmad2u vmax vmaxu vmin vminabs vminu vmov
syn keyword cpsasmMnemonic vmul vmula vmulau vmulu vneg vnop vor vsar vshr vsub vsubu vswz vxor wait waitin waitmask waits
syn keyword cpsasmMnemonic waitst write xdbar xdld xdst xdwait xor
syn match cpsasmLabel /^\s*\%(\h\w*:\s*\)*\h\w*:/
syn match cpsasmDirective /\.\%(align\|jumptbl\|lead\|names\|noend\|section\)\>/
syn match cpsasmSection /\(\.section\s\+\)\@<=\%(BV\|DDE\|LPAC\)\>/
syn match cpsasmPrefix /(\%(alt\|peek\|rep\|sds\d\+\|xmov\d\+\))/
syn match cpsasmRegister /\$\w\+/
syn match cpsasmControl /[@%]\h\w*/
syn match cpsasmReference /#\h\w*/
syn match cpsasmNumber /\<\%(0x\x\+\|\d\+\|b\d\+\)\>/
syn match cpsasmWord /\[\x\{2,8}\]/
syn match cpsasmComment /;.*/ contains=@Spell
hi def link cpsasmMnemonic Statement
hi def link cpsasmLabel Function
hi def link cpsasmDirective PreProc
hi def link cpsasmSection Type
hi def link cpsasmPrefix Special
hi def link cpsasmRegister Identifier
hi def link cpsasmControl Constant
hi def link cpsasmReference Function
hi def link cpsasmNumber Number
hi def link cpsasmWord Number
hi def link cpsasmComment Comment
let b:current_syntax = "cpsasm"
