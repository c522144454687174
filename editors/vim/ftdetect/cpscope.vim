" SPDX-License-Identifier: MIT
" Made by editors/make.py from the tables of the program.
function! s:Asm() abort
    for line in getline(1, 60)
        if line =~# '^;\s*\%(\%(a5xx\|a6xx\|a7xx\|a8xx\)\s\+\%(\w\+\s\+\)\=microcode\|g80\s\+hwsq\|g92\s\+hwsq\|nv17\s\+hwsq\|nv41\s\+hwsq\|seq-new\s\+seq\|seq-old\s\+seq\|vp1-g80\s\+vp1\|vp1-nv41\s\+vp1\|vp1-nv44\s\+vp1\)\s*$' || line =~# '^\s*\[0[01]\x\{6}\]'
            set filetype=cpsasm
            return
        endif
    endfor
endfunction
function! s:First() abort
    if getline(1) =~# '^# cpscope-pm4 1'
        set filetype=cpspm4
    endif
    if getline(1) =~# '^# cpscope-trace 1'
        set filetype=cpstrace
    endif
endfunction
au BufNewFile,BufRead *.asm,*.afuc call s:Asm()
au BufNewFile,BufRead *.pm4 setfiletype cpspm4
au BufNewFile,BufRead * call s:First()
