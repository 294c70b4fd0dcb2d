/** Programs that macOS installs with a `g` in front, because it has others of the same name. */
const gnuPrograms = new Set(
  `rm rmdir mv cp ln cat ls chmod chown chgrp dd tee shred truncate unlink install mkdir mktemp touch env timeout nice nohup stdbuf
  sort split head tail cut tr date sed tar xargs find grep egrep fgrep awk make`.split(/\s+/),
)

/** The name under which the tables have a program: `grm`, `rm.exe` and `zf_rm` of zsh are `rm`. */
export function programName(written: string): string {
  const name = written.replace(/(?<=.)\.exe$/i, '').replace(/^zf_(?=.)/, '')
  const plain = name.slice(1)
  return name.startsWith('g') && name !== 'gawk' && gnuPrograms.has(plain) ? plain : name
}

/** Shells, also those whose language is another one: most of their simple commands look the same. */
const shells = /^(?:r?(?:ba|da|z|k|mk|lk|pdk|ok|a|fi|c|tc|ya|po|hu|sa|o|y)?sh[0-9.]*|nu|elvish|xonsh|murex)$/

export function isShell(program: string): boolean {
  return shells.test(program)
}
