" SPDX-License-Identifier: MIT
" Made by editors/make.py from the tables of the program.
if exists("b:current_syntax")
    finish
endif
syn case match
syn match cpstraceEvent /^\%(\%(aqe\|bv\|dde_br\|dde_bv\|host\|hwsq\|hwsqb\|lpac\|me\|pfifo\|pfp\|seq\|sqe\|vp1\) \)\=\%(ASSUME\|CTRL\|END\|EXIT\|IRQ\|LAUNCH\|MEMR\|MEMW\|METHOD\|PIPE\|PKT\|PROT\|RECOVER\|REG\|REGR\|SQE\|STEP\|STEPX\|SUBMIT\|TICK\|UNMODELLED\|WAIT\|WORD\)\>/ contains=cpstraceProcessor
syn match cpstraceProcessor /^\%(aqe\|bv\|dde_br\|dde_bv\|host\|hwsq\|hwsqb\|lpac\|me\|pfifo\|pfp\|seq\|sqe\|vp1\)\>/ contained
syn match cpstraceNumber /\<\%(0x\x\+\|\d\+\)\>/
syn match cpstracePlace / pc=0x\x\+/ contained
syn match cpstraceHead /^#.*/
syn match cpstraceComment /;.*/ contains=cpstracePlace
hi def link cpstraceEvent Statement
hi def link cpstraceProcessor Type
hi def link cpstraceNumber Number
hi def link cpstracePlace Special
hi def link cpstraceHead PreProc
hi def link cpstraceComment Comment
let b:current_syntax = "cpstrace"
