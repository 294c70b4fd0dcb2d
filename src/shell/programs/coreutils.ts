import { patchFiles } from '../special/apply-patch.ts'
import { tar, unzip } from '../special/archives.ts'
import { changeDisk, compress, copy, install, keepContent, makeFolders, makeTemporary, mount, remove, rename, searchFolders, split, trashFiles } from '../special/changed-files.ts'
import { runPagerCommands } from '../special/own-code.ts'
import { catOutput, echoOutput, mktempOutput, printfOutput, printsNothing, printsWord, pwdOutput } from '../special/printed-output.ts'
import { runAwk, runSed } from '../special/text-editors.ts'
import { family, nothing } from './program.ts'

/** Programs of every system that work on files and text. */
export const coreutils = family(nothing, {
  cat: { reads: ['all'], prints: catOutput, options: 'number=n number-nonblank=b squeeze-blank=s show-all=A show-ends=E show-tabs=T show-nonprinting=v e t u' },
  'tac batcat more nl od hexdump strings wc cut paste column fold fmt rev join comm diff cmp': { reads: ['all'] },
  'md5sum sha1sum sha256sum sha512sum shasum cksum base32 basenc zcat uuencode': { reads: ['all'] },
  bat: { reads: ['all'], code: ['--pager'], options: 'pager:' },
  less: { reads: ['all'], special: runPagerCommands },
  head: { reads: ['all'], options: 'lines=n: bytes=c: quiet=q silent=q verbose=v zero-terminated=z' },
  tail: { reads: ['all'], options: 'lines=n: bytes=c: follow=f F=f sleep-interval=s: pid: retry quiet=q verbose=v zero-terminated=z' },
  'ls du stat': {},
  tree: { writes: ['-o'], options: 'o: L: I: P: a d f i C' },
  file: { reads: ['-f'], options: 'files-from=f: brief=b mime=i mime-type separator=F: magic-file=m:' },
  xxd: { reads: ['first'], writes: ['rest'] },
  sdiff: { reads: ['all'], writes: ['-o'], options: 'output=o: width=w: side=s' },
  base64: { reads: ['all'], writes: ['-o'], options: 'decode=d D=d ignore-garbage=i wrap=w: input=i output=o:' },
  uudecode: { reads: ['all'], writes: ['-o'], options: 'output-file=o:' },
  iconv: { reads: ['all'], writes: ['-o'], options: 'from-code=f: to-code=t: output=o: list=l silent=s verbose c' },
  pandoc: { reads: ['all'], writes: ['-o'], code: ['-F'], options: 'output=o: from=f: to=t: standalone=s template: metadata=M: variable=V: toc filter=F:' },
  shuf: { reads: ['all'], writes: ['-o'], options: 'echo=e input-range=i: head-count=n: output=o: random-source: repeat=r zero-terminated=z' },
  sort: {
    options:
      'output=o: reverse=r numeric-sort=n unique=u key=k: field-separator=t: temporary-directory=T: buffer-size=S: parallel: merge=m check=c stable=s human-numeric-sort=h version-sort=V random-sort=R ignore-case=f general-numeric-sort=g month-sort=M zero-terminated=z compress-program: files0-from: batch-size: random-source: sort: ignore-leading-blanks=b dictionary-order=d ignore-nonprinting=i debug',
    reads: ['all'],
    writes: ['-o'],
    code: ['--compress-program'],
  },
  uniq: { reads: ['first'], writes: ['rest'], options: 'count=c repeated=d unique=u ignore-case=i skip-fields=f: skip-chars=s: check-chars=w: zero-terminated=z all-repeated group' },
  split: { files: split, code: ['--filter'], options: 'number=n: lines=l: bytes=b: line-bytes=C: suffix-length=a: numeric-suffixes=d hex-suffixes=x elide-empty-files=e filter: separator=t: unbuffered=u verbose additional-suffix:' },
  csplit: { reads: ['first'], writes: ['-f'], options: 'prefix=f: suffix-format=b: digits=n: keep-files=k silent=s quiet=s elide-empty-files=z suppress-matched' },
  date: { reads: ['-f'], prints: printsWord(/^(?:-u )?\+[^/]*$/, /%[Dxc]|\s.*\s/), options: 'date=d: file=f: reference=r: set=s: utc=u universal=u iso-8601=I rfc-3339: rfc-email=R debug' },

  'grep egrep fgrep zgrep': {
    options:
      'recursive=r R=r ignore-case=i invert-match=v count=c line-number=n files-with-matches=l files-without-match=L only-matching=o quiet=q silent=q extended-regexp=E fixed-strings=F perl-regexp=P word-regexp=w line-regexp=x no-filename=h with-filename=H no-messages=s regexp=e: file=f: max-count=m: after-context=A: before-context=B: context=C: include: exclude: exclude-dir: exclude-from: directories=d: devices=D: label: binary-files: color colour text=a null=Z null-data=z byte-offset=b unix-byte-offsets=u basic-regexp=G',
    reads: ['rest', '-f'],
    files: searchFolders,
  },
  'rg ag': { reads: ['rest'], files: searchFolders, options: 'hidden no-ignore unrestricted=u regexp=e: file=f: glob=g: type=t: replace=r: context=C: after-context=A: before-context=B: max-count=m: files' },
  jq: { reads: ['rest'] },
  yq: { reads: ['rest'], writes: ['rest if -i'] },
  dasel: { reads: ['-f'], writes: ['-f'], options: 'file=f: value=v: type=t: read=r: write=w: out=o: selector=s:' },
  sed: { files: runSed, options: 'in-place=i quiet=n silent=n expression=e: file=f: regexp-extended=E r=E separate=s null-data=z posix debug sandbox unbuffered=u line-length=l: follow-symlinks' },
  'awk gawk mawk nawk': { files: runAwk, options: '+ field-separator=F: assign=v: file=f: source=e: load=l: include=i: exec=E: dump-variables=d sandbox=S posix=P re-interval=r characters-as-bytes=b' },
  patch: { files: patchFiles, options: 'input=i: strip=p: reverse=R output=o: directory=d: dry-run forward=N silent=s reject-file=r: fuzz=F: batch=t force=f backup=b unified=u prefix=B: suffix=z: remove-empty-files=E get=g: verbose version-control=V: posix ignore-whitespace=l' },

  tee: { files: keepContent, prints: ({ frame }) => frame.stdin, options: 'append=a ignore-interrupts=i p output-error' },
  touch: { writes: ['all'], prints: printsNothing, options: 'no-create=c date=d: reference=r: time: a m t: no-dereference=h' },
  truncate: { writes: ['all'], options: 'size=s: reference=r: no-create=c io-blocks=o' },
  'mkfifo sponge dos2unix unix2dos': { writes: ['all'] },
  mknod: { writes: ['first'] },
  'fallocate setfacl chattr': { writes: ['last'] },
  chmod: { writes: ['rest', 'rest/** if -R'], prints: printsNothing, options: 'recursive=R changes=c silent=f quiet=f verbose=v reference:' },
  chown: { writes: ['rest', 'rest/** if -R'], options: 'recursive=R changes=c silent=f quiet=f verbose=v reference: from: dereference no-dereference=h' },
  chgrp: { writes: ['rest', 'rest/** if -R'], options: 'recursive=R changes=c silent=f quiet=f verbose=v reference:' },
  dd: { files: changeDisk, options: '' },
  mkdir: { files: makeFolders, prints: printsNothing, options: 'parents=p mode=m: verbose=v' },
  mktemp: { files: makeTemporary, prints: mktempOutput, options: 'directory=d dry-run=u quiet=q tmpdir=p: suffix: t' },
  cp: {
    options:
      'archive=a recursive=r R=r force=f interactive=i no-clobber=n update=u verbose=v target-directory=t: suffix=S: parents no-target-directory=T link=l symbolic-link=s preserve no-preserve: backup sparse: dereference=L no-dereference=P one-file-system=x remove-destination strip-trailing-slashes attributes-only reflink',
    files: copy,
  },
  mv: { files: copy, options: 'force=f interactive=i no-clobber=n update=u verbose=v target-directory=t: suffix=S: backup no-target-directory=T strip-trailing-slashes exchange' },
  'ln link': { files: copy, options: 'symbolic=s force=f interactive=i no-dereference=n relative=r target-directory=t: suffix=S: backup verbose=v no-target-directory=T logical=L physical=P directory=d' },
  install: { files: install, options: 'directory=d mode=m: owner=o: group=g: target-directory=t: suffix=S: strip=s verbose=v preserve-timestamps=p compare=C D no-target-directory=T backup strip-program:' },
  mount: { files: mount },
  'rename prename': { files: rename },

  rm: { files: remove, options: 'recursive=r R=r force=f interactive=i verbose=v dir=d one-file-system no-preserve-root preserve-root' },
  rmdir: { deletes: ['all'], options: 'parents=p verbose=v ignore-fail-on-non-empty' },
  unlink: { deletes: ['all'], options: '' },
  shred: { writes: ['all'], deletes: ['all if -u'], options: 'force=f iterations=n: size=s: remove=u verbose=v exact=x zero=z random-source:' },
  'srm rimraf del del-cli trash trash-put wipe': { deletes: ['all', 'all/**'] },
  gio: { files: trashFiles },

  'tar bsdtar gtar': {
    options:
      'extract=x get=x create=c list=t append=r update=u file=f: directory=C: gzip=z bzip2=j xz=J zstd verbose=v exclude: strip-components: to-command: checkpoint checkpoint-action: use-compress-program=I: files-from=T: exclude-from=X: absolute-names=P transform: xform: remove-files overwrite keep-old-files=k to-stdout=O preserve-permissions=p auto-compress=a rsh-command: owner: group: mode: mtime: format: wildcards numeric-owner same-owner no-same-owner index-file: listed-incremental=g: info-script=F: new-volume-script: one-top-level skip-old-files unlink-first=U recursive-unlink warning: sort: delete concatenate=A compare=d',
    files: tar,
  },
  unzip: { files: unzip, options: 'd: o n q l t j p x P: v a' },
  zip: { reads: ['rest', 'rest/** if -r'], writes: ['first'], code: ['-TT'], options: 'r q u d m x: i: j e P: 9 y b: T TT: unzip-command=TT:' },
  'gzip gunzip bzip2 bunzip2 xz unxz': { files: compress },
  zstd: { reads: ['all'], writes: ['-o'], options: 'o: d f k q v T: rm' },
  gpg: { reads: ['all'], writes: ['-o'], options: 'output=o: decrypt=d encrypt=e recipient=r: armor=a sign=s local-user=u: symmetric=c batch yes passphrase: passphrase-file: homedir: keyring: import export verify quiet=q' },
  openssl: { reads: ['-in'], writes: ['-out'], hosts: { options: ['-connect', '-host', '-url'] }, prints: printsWord(/^rand -hex \d+$/), options: '- connect: host: url: servername: CAfile: CApath: cert: key: inkey: in: out: d e a A base64 k: pass: K: iv: md: nosalt salt pbkdf2' },
  ffmpeg: { reads: ['-i'], writes: ['last'], options: '- i: f: c: codec: vf: af: filter: filter_complex: map: ss: t: to: r: s: b: preset: crf: y n an vn loglevel: hide_banner' },
  'convert magick': { reads: ['init'], writes: ['last'] },

  // Their words are names and text, and they never run what the text says.
  echo: { prints: echoOutput },
  printf: { prints: printfOutput },
  pwd: { prints: pwdOutput },
  'true false : sleep': { prints: printsNothing },
  'nproc uuidgen whoami': { prints: printsWord(/^$/) },
  'print test [ [[ wait jobs fg bg umask ulimit times type which whereis whatis apropos info tldr cheat help': {},
  'basename dirname realpath readlink pathchk cal seq yes tr expr bc factor numfmt tput clear locate mdfind': {},
  'ugrep ast-grep semgrep sd comby pgrep pkill killall wall write notify-send say figlet toilet cowsay lolcat': {},
  'dialog whiptail zenity pbcopy wl-copy clip.exe ssh-add history getent id groups hostname uname tty stty ps top': {},
  'htop free uptime lsof llm claude codex gemini aider': {},
  kill: { options: 's: n: l' },
})
