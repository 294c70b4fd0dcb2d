/** A program that runs another command. */
export interface WrapperRow {
  /** Its options, as in `program-options.ts`. */
  readonly options: string
  /** How many operands come before the command. */
  readonly operands?: number
  /** `NAME=value` may come before the command. */
  readonly assignments?: true
  /** Options whose value is shell code. */
  readonly code?: readonly string[]
  /** The words of the command are joined and given to a shell; `each`: every word is a line of code. */
  readonly joins?: 'joined' | 'each'
  /** Options with which the words are joined and given to a shell. */
  readonly joinOptions?: readonly string[]
  /** Options with which nothing runs. */
  readonly inert?: readonly string[]
  /** The option that names the folder in which the command runs. */
  readonly folder?: string
  /** The command runs elsewhere, and this operand says where. */
  readonly remote?: number
  /** Options may follow operands. */
  readonly mixed?: true
  /** Runs if no command is given. */
  readonly fallback?: string
  /** The option that names the program; the words behind it are its arguments. */
  readonly program?: string
  /** Options, or the `first` operand, that name a file which it writes. */
  readonly writes?: string
  /** Options that make the command load code from a file. */
  readonly loads?: readonly string[]
  /** The name of an environment may come before the program: `test:pytest`. */
  readonly environment?: true
  /** It runs this program with its own arguments. */
  readonly runs?: string
}

const docker =
  'detach=d interactive=i tty=t env=e: env-file: user=u: workdir=w: privileged detach-keys: volume=v: mount: name: network: net: publish=p: publish-all=P rm entrypoint: label=l: memory=m: cpus: restart: hostname=h: add-host: device: cap-add: cap-drop: security-opt: platform: pull: gpus: ipc: pid: shm-size: tmpfs: ulimit: link: init read-only log-driver: log-opt: quiet=q attach=a: cidfile: dns: expose: group-add: health-cmd: ip: mac-address: runtime: stop-signal: stop-timeout: userns: uts: volumes-from: cpuset-cpus: cpu-shares=c: index: no-deps service-ports build T no-TTY no-tty'
/** The options of all tmux commands that run one. */
const tmux = '+ a b d f h k v A B C D E I O P S X Z c: e: F: l: n: p: s: t: x: y: w: T:'
const plain = { options: '+' } as const

/** Every program that runs the command in its arguments. A name with a space is a program with its subcommand. */
export const wrappers: Readonly<Record<string, WrapperRow>> = {
  sudo: {
    options:
      '+ user=u: group=g: prompt=p: close-from=C: host=h: role=r: type=t: command-timeout=T: other-user=U: chdir=D: chroot=R: shell=s login=i background=b preserve-env=E non-interactive=n stdin=S askpass=A set-home=H reset-timestamp=k remove-timestamp=K list=l validate=v edit=e preserve-groups=P bell=B no-update=N help version=V',
    assignments: true,
    joinOptions: ['s', 'i'],
    inert: ['l', 'v', 'K', 'V', 'help'],
    folder: 'D',
  },
  doas: { options: '+ u: C: a: n s L', assignments: true },
  pkexec: { options: '+ user: disable-internal-agent' },
  env: {
    options:
      '+ unset=u: chdir=C: split-string=S: ignore-environment=i null=0 debug=v argv0=a: block-signal default-signal ignore-signal list-signal-handling',
    assignments: true,
    folder: 'C',
  },
  time: { options: '+ output=o: format=f: append=a verbose=v portability=p quiet=q', writes: 'o' },
  timeout: { options: '+ signal=s: kill-after=k: foreground=f preserve-status=p verbose=v', operands: 1 },
  gtimeout: { options: '+ signal=s: kill-after=k: foreground preserve-status verbose=v', operands: 1 },
  nice: { options: '+ adjustment=n: 0 1 2 3 4 5 6 7 8 9' },
  ionice: { options: '+ class=c: classdata=n: pid=p: ignore=t pgid=P: uid=u:' },
  chrt: { options: '+ a b f i m o r d R T: P: D: p v', operands: 1 },
  taskset: { options: '+ a p cpu-list=c', operands: 1 },
  setarch: {
    options: '+ addr-no-randomize=R 3gb=B uname-2.6 verbose=v short-inode=I fdpic-funcptrs=F',
    operands: 1,
  },
  linux32: plain,
  linux64: plain,
  // The loader of programs runs the one that it is given.
  'ld.so': {
    options: '+ library-path: preload: audit: argv0: list verify inhibit-cache',
    loads: ['preload', 'audit'],
  },
  numactl: {
    options:
      '+ interleave=i: membind=m: cpunodebind=N: physcpubind=C: localalloc=l preferred: show=s hardware=H',
  },
  prlimit: { options: '+ pid=p: output=o: noheadings raw verbose nofile nproc as core cpu data fsize stack' },
  nohup: plain,
  setsid: { options: '+ ctty=c fork=f wait=w' },
  stdbuf: { options: '+ input=i: output=o: error=e:' },
  unbuffer: { options: '+ p' },
  command: { options: '+ p v V', inert: ['v', 'V'] },
  builtin: plain,
  exec: { options: '+ a: c l' },
  noglob: plain,
  nocorrect: plain,
  repeat: { options: '+', operands: 1 },
  busybox: { options: '+ list list-full install: s', inert: ['list', 'list-full'] },
  toybox: plain,
  coreutils: { options: '+ coreutils-prog:', program: 'coreutils-prog' },
  // A hyphen in front of a command gives zsh another name for it.
  '-': plain,
  strace: {
    options:
      '+ o: e: p: s: u: E: P: a: O: S: I: b: X: f F c C r t T v x y Y i k q n D z Z d w tt ttt trace: inject: output=o: attach: quiet',
    writes: 'o',
  },
  ltrace: { options: '+ o: e: p: s: u: a: A: D: F: l: n: w: x: X: f c C i L r S t T V b', writes: 'o' },
  valgrind: { options: '+', writes: 'log-file' },
  logsave: { options: '+ a s v', operands: 1, writes: 'first' },
  fakeroot: { options: '+ s: i: l: b: f: u' },
  fakechroot: plain,
  eatmydata: plain,
  torsocks: { options: '+ i isolate' },
  torify: plain,
  proxychains: { options: '+ f: q' },
  proxychains4: { options: '+ f: q' },
  'xvfb-run': {
    options:
      '+ a n: s: f: e: w: p: auto-servernum server-args: server-num: error-file: auth-file: listen-tcp wait:',
  },
  'dbus-run-session': { options: '+ config-file: dbus-daemon:' },
  'systemd-run': {
    options:
      '+ user system scope slice: unit=u: property=p: description: uid: gid: nice: working-directory=d: setenv=E: service-type: machine=M: host=H: wait pipe=P pty=t shell=S quiet=q collect=G remain-after-exit=r same-dir no-block on-active: on-boot: on-calendar: timer-property:',
    folder: 'working-directory',
  },
  'systemd-inhibit': { options: '+ what: who: why: mode: list' },
  caffeinate: { options: '+ d i m s u t: w:' },
  firejail: {
    options: '+ list tree top netstats quiet noprofile version help',
    inert: ['list', 'tree', 'top', 'version', 'help'],
  },
  proot: {
    options: '+ rootfs=r: bind=b: cwd=w: qemu=q: kernel-release=k: root-id=0 change-id=i: R: S:',
    folder: 'w',
  },
  cgexec: { options: '+ g: sticky' },
  catchsegv: plain,
  'ssh-agent': { options: '+ a: t: E: O: P: c s D d k', inert: ['k'] },
  sg: { options: '+', operands: 1, joins: 'joined', code: ['c'] },
  newgrp: { options: '+', operands: 1, fallback: 'sh' },
  setpriv: {
    options:
      '+ reuid: regid: groups: clear-groups keep-groups init-groups inh-caps: ambient-caps: bounding-set: securebits: no-new-privs reset-env pdeathsig: selinux-label: apparmor-profile: ruid: euid: rgid: egid:',
  },
  gosu: { options: '+', operands: 1 },
  'su-exec': { options: '+', operands: 1 },
  chroot: { options: '+ userspec: groups: skip-chdir', operands: 1, remote: 0, fallback: 'sh' },
  unshare: {
    options:
      '+ mount=m uts=u ipc=i net=n pid=p user=U cgroup=C time=T fork=f map-root-user=r map-current-user=c map-auto map-users: map-groups: map-user: map-group: mount-proc keep-caps propagation: setgroups: root=R: wd=w: setuid=S: setgid=G: kill-child',
    fallback: 'sh',
  },
  nsenter: {
    options:
      '+ target=t: all=a mount=m uts=u ipc=i net=n pid=p user=U cgroup=C time=T setuid=S: setgid=G: preserve-credentials root=r wd=w no-fork=F follow-context=Z',
    fallback: 'sh',
  },
  flock: {
    options:
      '+ shared=s exclusive=x e unlock=u nonblock=n nb wait=w: timeout=w: conflict-exit-code=E: close=o no-fork=F verbose command=c:',
    operands: 1,
    code: ['c'],
  },
  su: {
    options:
      'command=c: session-command: login=l l shell=s: preserve-environment=p m fast=f group=g: supp-group=G: pty=P whitelist-environment=w:',
    code: ['c', 'session-command'],
    mixed: true,
    fallback: 'sh',
  },
  runuser: {
    options:
      '+ user=u: command=c: session-command: login=l shell=s: preserve-environment=p m fast=f group=g: supp-group=G: pty=P',
    code: ['c', 'session-command'],
  },
  script: {
    options:
      'append=a command=c: return=e flush=f force quiet=q timing=t log-io=B: log-in=I: log-out=O: log-timing=T: output-limit=o: echo=E: m:',
    code: ['c'],
    mixed: true,
  },
  watch: {
    options:
      '+ interval=n: differences=d beep=b errexit=e chgexit=g color=c precise=p no-title=t exec=x no-wrap=w equexit=q:',
    joins: 'joined',
  },
  entr: { options: '+ a c d n p r s z', joinOptions: ['s'] },
  hyperfine: {
    options:
      'warmup=w: runs=r: min-runs=m: max-runs=M: prepare=p: setup=s: cleanup=c: parameter-scan=P: parameter-list=L: export-json: export-markdown: export-csv: shell=S: N style: time-unit=u: command-name=n: ignore-failure=i show-output output: input:',
    joins: 'each',
    code: ['p', 's', 'c'],
  },
  concurrently: {
    options:
      'names=n: kill-others=k kill-others-on-fail raw=r prefix=p: prefix-colors=c: max-processes=m: success=s: restart-tries: group=g hide: default-input-target: handle-input=i',
    joins: 'each',
  },
  'cross-env': { options: '+', assignments: true },
  'cross-env-shell': { options: '+', assignments: true, joins: 'joined' },
  dotenv: { options: '+ e: c: v: p: o' },
  npx: {
    options:
      '+ yes=y no call=c: package=p: quiet=q workspace=w: ignore-existing no-install shell: prefix: offline prefer-offline',
    code: ['c'],
  },
  bunx: { options: '+ bun silent verbose package=p: no-install' },
  pnpx: { options: '+ package:' },
  uvx: { options: '+ from: with: python=p: index-url: isolated' },
  'npm exec': { options: '+ yes=y no call=c: package=p: workspace=w: offline', code: ['c'] },
  'npm x': { options: '+ yes=y call=c: package=p:', code: ['c'] },
  'pnpm exec': { options: '+ recursive=r parallel shell-mode=c filter=F:' },
  'pnpm dlx': { options: '+ package: shell-mode=c' },
  'yarn exec': plain,
  'yarn dlx': { options: '+ package=p: quiet=q' },
  'bun x': { options: '+ bun' },
  'bun exec': { options: '+', joins: 'joined' },
  'uv run': {
    options:
      '+ with: python=p: extra: group: env-file: project: directory: module=m: script=s package: all-extras no-sync frozen locked isolated no-project active only-group: no-group: with-requirements: with-editable: index-url: quiet=q verbose=v',
  },
  'poetry run': plain,
  'pipenv run': plain,
  'pdm run': { options: '+' },
  'hatch run': { ...plain, environment: true },
  'rye run': plain,
  'bundle exec': { options: '+ keep-file-descriptors gemfile:' },
  'rbenv exec': plain,
  'pyenv exec': plain,
  'asdf exec': plain,
  'mise exec': { options: '+ cd=C: jobs=j:' },
  'direnv exec': { options: '+', operands: 1 },
  'conda run': { options: '+ name=n: prefix=p: no-capture-output live-stream verbose=v cwd:' },
  'dotenvx run': { options: '+ env=e: env-file=f:' },
  'doppler run': { options: '+ project=p: config=c: command: token=t:', code: ['command'] },
  'op run': { options: '+ env-file: no-masking' },
  'infisical run': { options: '+ env: path: projectId: token: command=c: watch', code: ['c'] },
  'chamber exec': { options: '+ pristine strict', operands: 1 },
  'sops exec-env': { options: '+ user: background pristine', operands: 1, joins: 'joined' },
  'sops exec-file': { options: '+ user: background no-fifo filename:', operands: 1, joins: 'joined' },
  'railway run': { options: '+ service=s: environment=e:' },
  'devbox run': { options: '+ config=c: quiet=q' },
  'mise x': { options: '+ cd=C: jobs=j:' },
  envchain: { options: '+', operands: 1 },
  'aws-vault exec': { options: '+ duration=d: region: no-session=n server=s', operands: 1 },
  'perf stat': { options: '+ event=e: pid=p: repeat=r: output=o: a d v x:', writes: 'o' },
  'perf record': { options: '+ event=e: pid=p: output=o: F: a g c: call-graph:', writes: 'o' },
  ssh: {
    options:
      '+ i: p: l: o: L: R: D: F: J: b: c: E: e: I: m: O: Q: S: W: w: B: t T n f N q v A a C 4 6 x X Y k K g G M s y V',
    operands: 1,
    joins: 'joined',
    remote: 0,
    inert: ['V', 'Q', 'G'],
  },
  sshpass: { options: '+ p: f: d: P: e v' },
  autossh: {
    options: '+ M: i: p: l: o: L: R: D: F: J: f N t T q v A C',
    operands: 1,
    joins: 'joined',
    remote: 0,
  },
  mosh: { options: '+ ssh: port=p: server: client: predict:', operands: 1, remote: 0, code: ['ssh'] },
  'docker exec': { options: `+ ${docker}`, operands: 1, remote: 0 },
  'docker container exec': { options: `+ ${docker}`, operands: 1, remote: 0 },
  'docker container run': { options: `+ ${docker}`, operands: 1, remote: 0, program: 'entrypoint' },
  'docker run': { options: `+ ${docker}`, operands: 1, remote: 0, program: 'entrypoint' },
  'docker service create': {
    options: `+ ${docker} replicas: mode: constraint: with-registry-auth update-delay: secret:`,
    operands: 1,
    remote: 0,
  },
  'docker create': { options: `+ ${docker}`, operands: 1, remote: 0, program: 'entrypoint' },
  'docker unshare': plain,
  'docker-compose exec': { options: `+ ${docker}`, operands: 1, remote: 0 },
  'docker-compose run': { options: `+ ${docker}`, operands: 1, remote: 0, program: 'entrypoint' },
  'docker compose exec': { options: `+ ${docker}`, operands: 1, remote: 0 },
  'docker compose run': { options: `+ ${docker}`, operands: 1, remote: 0, program: 'entrypoint' },
  'kubectl exec': {
    options:
      'container=c: stdin=i tty=t namespace=n: context: kubeconfig: quiet=q filename=f: pod-running-timeout: cluster: user:',
    operands: 1,
    remote: 0,
  },
  'lxc exec': { options: '+ cwd: user: group: env: mode: t T', operands: 1, remote: 0 },
  'lxc shell': { options: '+', operands: 1, remote: 0 },
  'kubectl run': {
    options:
      'image: command env: labels=l: restart: rm stdin=i tty=t attach quiet=q namespace=n: context: kubeconfig: overrides: port: dry-run image-pull-policy: annotations: expose privileged',
    operands: 1,
    remote: 0,
  },
  'kubectl debug': {
    options:
      'image: container=c: copy-to: target: stdin=i tty=t attach quiet=q namespace=n: context: kubeconfig: env: profile: share-processes replace same-node',
    operands: 1,
    remote: 0,
  },
  'gcloud compute ssh': {
    options:
      'command: zone: project: account: region: ssh-flag: ssh-key-file: strict-host-key-checking: container: tunnel-through-iap internal-ip plain dry-run quiet=q ssh-key-expire-after:',
    code: ['command'],
    mixed: true,
  },
  'fly ssh console': {
    options: 'command=C: app=a: address=A: user=u: pty machine: select=s',
    code: ['C'],
    mixed: true,
  },
  'heroku run': {
    options: '+ app=a: remote=r: size=s: type: env=e: exit-code=x no-tty no-notify',
    joins: 'joined',
  },
  'multipass exec': { options: '+ working-directory=d: no-map-working-directory', operands: 1, remote: 0 },
  'limactl shell': { options: '+ shell: workdir: tty', operands: 1, remote: 0 },
  'colima ssh': { options: '+ profile=p:' },
  'machinectl shell': { options: '+ uid: setenv=E: quiet=q', operands: 1, remote: 0 },
  'systemd-nspawn': {
    options: '+ directory=D: image=i: user=u: machine=M: bind: bind-ro: quiet=q boot=b ephemeral=x',
  },
  'crictl exec': { options: '+ interactive=i tty=t sync=s timeout:', operands: 1, remote: 0 },
  wsl: { options: '+ distribution=d: user=u: cd: exec=e shell-type: system' },
  'vagrant ssh': { options: 'command=c: plain=p', code: ['c'] },
  'adb shell': { options: '+ e: n T t x', joins: 'joined' },
  'nix-shell': {
    options: 'run: command: packages=p: attr=A: pure keep: I: option: arg: argstr: expr=E',
    code: ['run', 'command'],
    mixed: true,
  },
  screen: { options: '+ d m D r R S: t: c: h: L T: U x A a e: f i l n O p: q s: v w X' },
  man: {
    options: 'pager=P: html=H: preprocessor=p: all=a default=d locate=w where=w apropos=k whatis=f',
    code: ['P', 'H'],
    mixed: true,
  },
  'tmux new-session': { options: tmux, joins: 'joined' },
  'tmux new': { options: tmux, joins: 'joined' },
  'tmux new-window': { options: tmux, joins: 'joined' },
  'tmux neww': { options: tmux, joins: 'joined' },
  'tmux split-window': { options: tmux, joins: 'joined' },
  'tmux splitw': { options: tmux, joins: 'joined' },
  'tmux respawn-pane': { options: tmux, joins: 'joined' },
  'tmux respawnp': { options: tmux, joins: 'joined' },
  'tmux respawn-window': { options: tmux, joins: 'joined' },
  'tmux display-popup': { options: tmux, joins: 'joined' },
  'tmux popup': { options: tmux, joins: 'joined' },
  'tmux pipe-pane': { options: tmux, joins: 'joined' },
  'tmux if-shell': { options: tmux, joins: 'each' },
  'tmux run-shell': { options: tmux, joins: 'joined' },
  'tmux run': { options: tmux, joins: 'joined' },
  'tmux send-keys': { options: '+ F H K l M R X c: N: t:', joins: 'each' },
  'tmux send': { options: '+ F H K l M R X c: N: t:', joins: 'each' },
  nodemon: {
    options: 'exec=x: ext=e: watch=w: ignore=i: delay=d: signal=s: quiet=q verbose=V legacy-watch=L config:',
    code: ['x'],
    mixed: true,
  },
  'start-stop-daemon': {
    options:
      '+ start=S stop=K exec=x: startas=a: name=n: user=u: group=g: chuid=c: pidfile=p: make-pidfile=m background=b chdir=d: chroot=r: nicelevel=N: oknodo=o quiet=q test=t verbose=v signal=s: retry=R: output=O: umask=k:',
    program: 'x',
  },
  'flatpak run': {
    options: '+ command: branch: arch: share: filesystem: env: devel',
    operands: 1,
    program: 'command',
  },
  emulate: { options: '+ c: L R', operands: 1, code: ['c'] },
  hub: { options: '+', runs: 'git' },
  yadm: { options: '+', runs: 'git' },
  vcsh: { options: '+', operands: 1, runs: 'git' },
}
