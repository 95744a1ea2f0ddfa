let g:loaded = 1
let s:counter = 0
const s:limit = 3

" Sets up.
function! sample#setup(opts) abort
  let l:x = 1
  return a:opts
endfunction

function s:helper() abort
endfunction

command! -nargs=1 Sample call sample#setup(<q-args>)

augroup sample
  autocmd!
augroup END
