" SPDX-License-Identifier: MIT
" Made by editors/make.py from the tables of the program.
if exists("b:current_syntax")
    finish
endif
syn case match
syn match cpspm4Keyword /^\s*\%(buffer\|chip\|gpu\|init\|reg\|reset\|ring\|start\|submit\)\>/
syn match cpspm4Keyword /^\s*\.word\>/
syn match cpspm4Packet /^\s*\u\w*/
syn match cpspm4Register /\(^\s*\%(reg\|start\)\s\+\)\@<=\h[^ \t;]*/
syn match cpspm4Reference /[@#]\h\w*/
syn match cpspm4Reference /\(^\s*\%(submit\|ring\|buffer\s\+\w\+\)\s\+\)\@<=\h\w*/
syn match cpspm4Number /\<\%(0x\x\+\|\d\+\)\>/
syn match cpspm4Head /\%1l# cpscope-pm4.*/
syn match cpspm4Comment /;.*/ contains=@Spell
hi def link cpspm4Keyword Keyword
hi def link cpspm4Packet Statement
hi def link cpspm4Register Identifier
hi def link cpspm4Reference Function
hi def link cpspm4Number Number
hi def link cpspm4Head PreProc
hi def link cpspm4Comment Comment
let b:current_syntax = "cpspm4"
