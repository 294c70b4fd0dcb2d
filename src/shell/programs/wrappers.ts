import { runFind, runParallel, runXargs } from '../special/find-and-xargs.ts'
import { runCrontab, runScheduledTask } from '../special/installed-code.ts'
import { marks, recordTypescript, runBindings, runJob, runScreenCommands } from '../special/own-code.ts'
import { family, nothing, type Program, type Programs } from './program.ts'

const wrapper: Program = { options: '+', runs: {} }

const plainWrappers = family(wrapper, {
  'nohup builtin noglob nocorrect toybox linux32 linux64 fakechroot eatmydata torify catchsegv': {},
  // A hyphen in front of a command gives zsh another name for it.
  '-': {},
  command: { runs: { inert: ['-v', '-V'] }, options: '+ p v V' },
  exec: { options: '+ a: c l' },
  repeat: { runs: { after: 1 } },
  emulate: { code: ['-c'], runs: { after: 1 }, options: '+ c: L R' },
  busybox: { runs: { inert: ['--list', '--list-full'] }, options: '+ list list-full install: s' },
  coreutils: { runs: { program: '--coreutils-prog' }, options: '+ coreutils-prog:' },
  // The loader of programs runs the one that it is given.
  'ld.so': {
    options: '+ library-path: preload: audit: argv0: list verify inhibit-cache',
    runs: { loads: ['--preload', '--audit'] },
  },

  sudo: {
    options:
      '+ user=u: group=g: prompt=p: close-from=C: host=h: role=r: type=t: command-timeout=T: other-user=U: chdir=D: chroot=R: shell=s login=i background=b preserve-env=E non-interactive=n stdin=S askpass=A set-home=H reset-timestamp=k remove-timestamp=K list=l validate=v edit=e preserve-groups=P bell=B no-update=N help version=V',
    runs: { assignments: true, joinOptions: ['-s', '-i'], inert: ['-l', '-v', '-K', '-V', '--help'] },
    folder: '-D',
  },
  doas: { runs: { assignments: true }, options: '+ u: C: a: n s L' },
  pkexec: { options: '+ user: disable-internal-agent' },
  su: {
    options: 'command=c: session-command: login=l l shell=s: preserve-environment=p m fast=f group=g: supp-group=G: pty=P whitelist-environment=w:',
    code: ['-c', '--session-command'],
    runs: { mixed: true, fallback: 'sh' },
  },
  runuser: {
    options: '+ user=u: command=c: session-command: login=l shell=s: preserve-environment=p m fast=f group=g: supp-group=G: pty=P',
    code: ['-c', '--session-command'],
  },
  sg: { code: ['-c'], runs: { after: 1, joins: 'joined' } },
  newgrp: { runs: { after: 1, fallback: 'sh' } },
  setpriv: {
    options: '+ reuid: regid: groups: clear-groups keep-groups init-groups inh-caps: ambient-caps: bounding-set: securebits: no-new-privs reset-env pdeathsig: selinux-label: apparmor-profile: ruid: euid: rgid: egid:',
  },
  'gosu su-exec envchain': { runs: { after: 1 } },
  env: {
    options: '+ unset=u: chdir=C: split-string=S: ignore-environment=i null=0 debug=v argv0=a: block-signal default-signal ignore-signal list-signal-handling',
    runs: { assignments: true },
    folder: '-C',
  },
  'cross-env': { runs: { assignments: true } },
  'cross-env-shell': { runs: { assignments: true, joins: 'joined' } },
  dotenv: { options: '+ e: c: v: p: o' },

  time: { writes: ['-o'], options: '+ output=o: format=f: append=a verbose=v portability=p quiet=q' },
  timeout: {
    options: '+ signal=s: kill-after=k: foreground=f preserve-status=p verbose=v',
    runs: { after: 1 },
  },
  nice: { options: '+ adjustment=n: 0 1 2 3 4 5 6 7 8 9' },
  ionice: { options: '+ class=c: classdata=n: pid=p: ignore=t pgid=P: uid=u:' },
  chrt: { runs: { after: 1 }, options: '+ a b f i m o r d R T: P: D: p v' },
  taskset: { runs: { after: 1 }, options: '+ a p cpu-list=c' },
  setarch: {
    options: '+ addr-no-randomize=R 3gb=B uname-2.6 verbose=v short-inode=I fdpic-funcptrs=F',
    runs: { after: 1 },
  },
  numactl: {
    options: '+ interleave=i: membind=m: cpunodebind=N: physcpubind=C: localalloc=l preferred: show=s hardware=H',
  },
  prlimit: {
    options: '+ pid=p: output=o: noheadings raw verbose nofile nproc as core cpu data fsize stack',
  },
  setsid: { options: '+ ctty=c fork=f wait=w' },
  stdbuf: { options: '+ input=i: output=o: error=e:' },
  unbuffer: { options: '+ p' },
  flock: {
    options: '+ shared=s exclusive=x e unlock=u nonblock=n nb wait=w: timeout=w: conflict-exit-code=E: close=o no-fork=F verbose command=c:',
    code: ['-c'],
    runs: { after: 1 },
  },
  'systemd-run': {
    options: '+ user system scope slice: unit=u: property=p: description: uid: gid: nice: working-directory=d: setenv=E: service-type: machine=M: host=H: wait pipe=P pty=t shell=S quiet=q collect=G remain-after-exit=r same-dir no-block on-active: on-boot: on-calendar: timer-property:',
    folder: '-d',
  },
  'systemd-inhibit': { options: '+ what: who: why: mode: list' },
  'start-stop-daemon': {
    options: '+ start=S stop=K exec=x: startas=a: name=n: user=u: group=g: chuid=c: pidfile=p: make-pidfile=m background=b chdir=d: chroot=r: nicelevel=N: oknodo=o quiet=q test=t verbose=v signal=s: retry=R: output=O: umask=k:',
    runs: { program: '-x' },
  },
  caffeinate: { options: '+ d i m s u t: w:' },
  cgexec: { options: '+ g: sticky' },
  'xvfb-run': {
    options: '+ a n: s: f: e: w: p: auto-servernum server-args: server-num: error-file: auth-file: listen-tcp wait:',
  },
  'dbus-run-session': { options: '+ config-file: dbus-daemon:' },
  'ssh-agent': { runs: { inert: ['-k'] }, options: '+ a: t: E: O: P: c s D d k' },
  torsocks: { options: '+ i isolate' },
  'proxychains proxychains4': { options: '+ f: q' },
  strace: {
    options: '+ o: e: p: s: u: E: P: a: O: S: I: b: X: f F c C r t T v x y Y i k q n D z Z d w tt ttt trace: inject: output=o: attach: quiet',
    writes: ['-o'],
  },
  ltrace: { writes: ['-o'], options: '+ o: e: p: s: u: a: A: D: F: l: n: w: x: X: f c C i L r S t T V b' },
  valgrind: { writes: ['--log-file'] },
  logsave: { writes: ['first'], runs: { after: 1 }, options: '+ a s v' },

  fakeroot: { options: '+ s: i: l: b: f: u' },
  firejail: {
    options: '+ list tree top netstats quiet noprofile version help',
    runs: { inert: ['--list', '--tree', '--top', '--version', '--help'] },
  },
  proot: {
    options: '+ rootfs=r: bind=b: cwd=w: qemu=q: kernel-release=k: root-id=0 change-id=i: R: S:',
    folder: '-w',
  },
  chroot: { runs: { remote: true, fallback: 'sh' }, options: '+ userspec: groups: skip-chdir' },
  unshare: {
    options: '+ mount=m uts=u ipc=i net=n pid=p user=U cgroup=C time=T fork=f map-root-user=r map-current-user=c map-auto map-users: map-groups: map-user: map-group: mount-proc keep-caps propagation: setgroups: root=R: wd=w: setuid=S: setgid=G: kill-child',
    runs: { fallback: 'sh' },
  },
  nsenter: {
    options: '+ target=t: all=a mount=m uts=u ipc=i net=n pid=p user=U cgroup=C time=T setuid=S: setgid=G: preserve-credentials root=r wd=w no-fork=F follow-context=Z',
    runs: { fallback: 'sh' },
  },
  'systemd-nspawn': {
    options: '+ directory=D: image=i: user=u: machine=M: bind: bind-ro: quiet=q boot=b ephemeral=x',
  },
  wsl: { options: '+ distribution=d: user=u: cd: exec=e shell-type: system' },

  watch: {
    options: '+ interval=n: differences=d beep=b errexit=e chgexit=g color=c precise=p no-title=t exec=x no-wrap=w equexit=q:',
    runs: { joins: 'joined' },
  },
  entr: { runs: { joinOptions: ['-s'] }, options: '+ a c d n p r s z' },
  nodemon: {
    options: 'exec=x: ext=e: watch=w: ignore=i: delay=d: signal=s: quiet=q verbose=V legacy-watch=L config:',
    code: ['-x'],
    runs: { mixed: true },
  },
  hyperfine: {
    options: 'warmup=w: runs=r: min-runs=m: max-runs=M: prepare=p: setup=s: cleanup=c: parameter-scan=P: parameter-list=L: export-json: export-markdown: export-csv: shell=S: N style: time-unit=u: command-name=n: ignore-failure=i show-output output: input:',
    code: ['-p', '-s', '-c'],
    runs: { joins: 'each' },
  },
  concurrently: {
    options: 'names=n: kill-others=k kill-others-on-fail raw=r prefix=p: prefix-colors=c: max-processes=m: success=s: restart-tries: group=g hide: default-input-target: handle-input=i',
    runs: { joins: 'each' },
  },
  script: {
    options: 'append=a command=c: return=e flush=f force quiet=q timing=t log-io=B: log-in=I: log-out=O: log-timing=T: output-limit=o: echo=E: m:',
    writes: ['-B', '-I', '-O', '-T'],
    code: ['-c'],
    runs: { mixed: true },
    special: recordTypescript,
  },
  screen: {
    options: '+ d m D r R S: t: c: h: L T: U x A a e: f i l n O p: q s: v w X',
    special: runScreenCommands,
  },
  man: {
    options: 'pager=P: html=H: preprocessor=p: all=a default=d locate=w where=w apropos=k whatis=f',
    code: ['-P', '-H'],
    runs: { mixed: true },
  },
  'nix-shell': {
    options: 'run: command: packages=p: attr=A: pure keep: I: option: arg: argstr: expr=E',
    code: ['--run', '--command'],
    runs: { mixed: true },
  },
})

/** Programs that run the command in their words on this machine, in another environment or later. */
export const wrappers: Programs = {
  ...plainWrappers,
  xargs: { run: runXargs, options: '+ replace=i I: max-args=n: max-procs=P: max-lines=l L: delimiter=d: arg-file=a: eof=e E: max-chars=s: null=0 no-run-if-empty=r verbose=t interactive=p exit=x open-tty=o show-limits process-slot-var: J: R: S:' },
  find: { run: runFind, options: '-' },
  parallel: {
    options:
      '+ jobs=j: max-procs=P: arg-file=a: colsep=C: delimiter=d: I: max-args=n: N: max-lines=L: X m keep-order=k verbose=v quiet no-notice will-cite bar eta progress dry-run tag joblog: results: retries: timeout: delay: halt: sshlogin=S: load: memfree: workdir=wd: tmpdir: pipe block: null=0 no-run-if-empty=r shebang ungroup=u line-buffer=lb group xapply link env: nice: plain color',
    run: runParallel,
  },
  'at batch': { special: runJob, options: 'f: q: t:' },
  'crontab fcrontab': { ...nothing, reads: ['first'], special: runCrontab, options: 'u: l r e i s' },
  schtasks: { ...nothing, special: runScheduledTask },
  'run-parts': { special: marks('script', 'run-parts runs the scripts of a folder') },
  bwrap: { special: marks('option', 'which command bwrap runs depends on options that are not known') },
  'fzf sk': { code: ['--preview', '-c'], special: runBindings, options: 'preview: bind: cmd=c:' },
  ack: { code: ['--pager'], options: 'pager:' },
}
