/**
 * Which arguments of a program are files. A rule is `reads`, `writes` or `deletes`, then places: `all` operands, `first`,
 * `last`, `rest` (all but the first), `init` (all but the last), or `-o`, the value of an option. `/**` after a place covers
 * everything below. `if:-w` limits a rule to calls with that option. Rules are separated by semicolons.
 */
const table: Readonly<Record<string, string>> = {
  cat: 'reads all',
  tac: 'reads all',
  bat: 'reads all',
  batcat: 'reads all',
  less: 'reads all',
  more: 'reads all',
  head: 'reads all',
  tail: 'reads all',
  nl: 'reads all',
  od: 'reads all',
  xxd: 'reads first; writes rest',
  hexdump: 'reads all',
  strings: 'reads all',
  wc: 'reads all',
  file: 'reads all',
  stat: 'reads all',
  cut: 'reads all',
  paste: 'reads all',
  column: 'reads all',
  fold: 'reads all',
  fmt: 'reads all',
  rev: 'reads all',
  join: 'reads all',
  comm: 'reads all',
  diff: 'reads all',
  cmp: 'reads all',
  sdiff: 'reads all; writes -o',
  md5sum: 'reads all',
  sha1sum: 'reads all',
  sha256sum: 'reads all',
  sha512sum: 'reads all',
  shasum: 'reads all',
  cksum: 'reads all',
  base64: 'reads all; writes -o',
  base32: 'reads all',
  basenc: 'reads all',
  csplit: 'reads first; writes -f',
  date: 'reads -f',
  shuf: 'reads all; writes -o',
  uudecode: 'reads all; writes -o',
  zcat: 'reads all',
  pg_dump: 'writes -f',
  pg_dumpall: 'writes -f',
  pg_restore: 'reads all; writes -f',
  mysqldump: 'writes -r',
  psql: 'writes -o; writes -L; reads -f',
  uuencode: 'reads all',
  grep: 'reads rest; reads -f',
  egrep: 'reads rest; reads -f',
  fgrep: 'reads rest; reads -f',
  rg: 'reads rest',
  ag: 'reads rest',
  jq: 'reads rest',
  yq: 'reads rest; writes rest if:-i',
  ls: 'reads all',
  tree: 'reads all; writes -o',
  du: 'reads all',
  sort: 'reads all; writes -o',
  uniq: 'reads first; writes rest',
  tee: 'writes all',
  touch: 'writes all',
  truncate: 'writes all',
  mkfifo: 'writes all',
  mknod: 'writes first',
  fallocate: 'writes last',
  rmdir: 'deletes all',
  unlink: 'deletes all',
  shred: 'writes all; deletes all if:-u',
  srm: 'deletes all; deletes all/**',
  rimraf: 'deletes all; deletes all/**',
  del: 'deletes all; deletes all/**',
  'del-cli': 'deletes all; deletes all/**',
  trash: 'deletes all; deletes all/**',
  'trash-put': 'deletes all; deletes all/**',
  wipe: 'deletes all; deletes all/**',
  chmod: 'writes rest; writes rest/** if:-R',
  chown: 'writes rest; writes rest/** if:-R',
  chgrp: 'writes rest; writes rest/** if:-R',
  setfacl: 'writes last',
  chattr: 'writes last',
  zstd: 'reads all; writes -o',
  zip: 'writes first; reads rest; reads rest/** if:-r',
  curl: 'writes -o; writes -D; writes -c; writes --trace; writes --trace-ascii; writes --stderr; writes --libcurl; writes --etag-save; reads -T; reads -K; reads -b',
  wget: 'writes -O; writes -o; writes -a; writes -P/**; writes --save-cookies; reads -i; reads --post-file; reads --body-file',
  aria2c: 'writes -o',
  gcc: 'reads all; writes -o',
  cc: 'reads all; writes -o',
  clang: 'reads all; writes -o',
  'g++': 'reads all; writes -o',
  ld: 'reads all; writes -o',
  tsc: 'reads all',
  pandoc: 'reads all; writes -o',
  iconv: 'reads all; writes -o',
  openssl: 'reads -in; writes -out',
  gpg: 'reads all; writes -o',
  prettier: 'reads all; writes all if:-write',
  eslint: 'reads all; writes all if:-fix',
  black: 'writes all',
  isort: 'writes all',
  gofmt: 'reads all; writes all if:-w',
  goimports: 'reads all; writes all if:-w',
  rustfmt: 'writes all',
  sqlite3: 'reads first; writes first',
  ed: 'writes all',
  ex: 'writes all',
  vi: 'writes all',
  vim: 'writes all',
  nvim: 'writes all',
  nano: 'writes all',
  emacs: 'writes all',
  code: 'writes all',
  sudoedit: 'writes all',
  dos2unix: 'writes all',
  unix2dos: 'writes all',
  sponge: 'writes all',
  'git add': 'reads all',
  'git rm': 'deletes all; deletes all/** if:-r',
  'git mv': 'deletes init; writes last',
  'git restore': 'writes all; writes all/**',
  'git diff': 'writes -output',
  'git blame': 'reads all',
  'git annotate': 'reads all',
  'git hash-object': 'reads all',
  'git archive': 'writes -o',
  'git bundle': 'writes rest',
  'git init': 'writes all',
  'git clone': 'writes rest/**',
  'terraform destroy': '',
  'kubectl apply': 'reads -f',
}

export interface FileRule {
  readonly kind: 'reads' | 'writes' | 'deletes'
  readonly place: string
  readonly below: string
  readonly condition?: string
}

const rules = new Map<string, readonly FileRule[]>()

/** The rules of a program; none if it is not in the table. */
export function fileRulesOf(program: string): readonly FileRule[] {
  const known = rules.get(program)
  if (known) return known
  if (!Object.hasOwn(table, program)) return []
  const read = (table[program] ?? '').split('; ').flatMap(readRule)
  rules.set(program, read)
  return read
}

function readRule(text: string): FileRule[] {
  const [kind, place = '', condition] = text.split(' ')
  if (kind !== 'reads' && kind !== 'writes' && kind !== 'deletes') return []
  const below = place.endsWith('/**') ? '/**' : ''
  const rule = { kind, place: below === '' ? place : place.slice(0, -3), below } as const
  return [condition === undefined ? rule : { ...rule, condition: condition.replace(/^if:-+/, '') }]
}
