/** Which options a program has. */
export interface OptionSpec {
  /** Every name of an option → its canonical name, which is the short one if there is one. */
  readonly names: ReadonlyMap<string, string>
  /** Canonical names of the options that take a value. */
  readonly values: ReadonlySet<string>
  /** Whether options end at the first operand. */
  readonly stops: boolean
  /** Whether a single hyphen starts a long option: `find -name`. */
  readonly singleHyphen: boolean
}

/**
 * The options of common programs. `recursive=r` is a long option with its short name, `R=r` another short name, a final
 * colon means that the option takes a value, `+` that options end at the first operand, and `-` that long options have one
 * hyphen. An option that is not listed takes no value.
 */
const table: Readonly<Record<string, string>> = {
  rm: 'recursive=r R=r force=f interactive=i verbose=v dir=d one-file-system no-preserve-root preserve-root',
  cp: 'archive=a recursive=r R=r force=f interactive=i no-clobber=n update=u verbose=v target-directory=t: suffix=S: parents no-target-directory=T link=l symbolic-link=s preserve no-preserve: backup sparse: dereference=L no-dereference=P one-file-system=x remove-destination strip-trailing-slashes attributes-only reflink',
  mv: 'force=f interactive=i no-clobber=n update=u verbose=v target-directory=t: suffix=S: backup no-target-directory=T strip-trailing-slashes exchange',
  ln: 'symbolic=s force=f interactive=i no-dereference=n relative=r target-directory=t: suffix=S: backup verbose=v no-target-directory=T logical=L physical=P directory=d',
  install:
    'directory=d mode=m: owner=o: group=g: target-directory=t: suffix=S: strip=s verbose=v preserve-timestamps=p compare=C D no-target-directory=T backup strip-program:',
  rsync:
    'archive=a recursive=r verbose=v compress=z delete delete-after delete-before delete-during delete-excluded remove-source-files rsh=e: exclude: include: exclude-from: include-from: filter=f: rsync-path: bwlimit: port: files-from: dry-run=n update=u human-readable=h progress partial P times=t perms=p owner=o group=g links=l hard-links=H acls=A xattrs=X relative=R quiet=q checksum=c inplace backup=b backup-dir: suffix: link-dest: compare-dest: copy-dest: temp-dir=T: timeout: max-size: min-size: chmod: chown: log-file: password-file: out-format: info: delete-delay force ignore-existing existing stats numeric-ids omit-dir-times=O sparse=S whole-file=W one-file-system=x itemize-changes=i',
  mkdir: 'parents=p mode=m: verbose=v',
  rmdir: 'parents=p verbose=v ignore-fail-on-non-empty',
  touch: 'no-create=c date=d: reference=r: time: a m t: no-dereference=h',
  truncate: 'size=s: reference=r: no-create=c io-blocks=o',
  shred: 'force=f iterations=n: size=s: remove=u verbose=v exact=x zero=z random-source:',
  unlink: '',
  split:
    'number=n: lines=l: bytes=b: line-bytes=C: suffix-length=a: numeric-suffixes=d hex-suffixes=x elide-empty-files=e filter: separator=t: unbuffered=u verbose additional-suffix:',
  mktemp: 'directory=d dry-run=u quiet=q tmpdir=p: suffix: t',
  dd: '',
  awk: '+ field-separator=F: assign=v: file=f: source=e: load=l: include=i: exec=E: dump-variables=d sandbox=S posix=P re-interval=r characters-as-bytes=b',
  tee: 'append=a ignore-interrupts=i p output-error',
  sed: 'in-place=i quiet=n silent=n expression=e: file=f: regexp-extended=E r=E separate=s null-data=z posix debug sandbox unbuffered=u line-length=l: follow-symlinks',
  sort: 'output=o: reverse=r numeric-sort=n unique=u key=k: field-separator=t: temporary-directory=T: buffer-size=S: parallel: merge=m check=c stable=s human-numeric-sort=h version-sort=V random-sort=R ignore-case=f general-numeric-sort=g month-sort=M zero-terminated=z compress-program: files0-from: batch-size: random-source: sort: ignore-leading-blanks=b dictionary-order=d ignore-nonprinting=i debug',
  uniq: 'count=c repeated=d unique=u ignore-case=i skip-fields=f: skip-chars=s: check-chars=w: zero-terminated=z all-repeated group',
  chmod: 'recursive=R changes=c silent=f quiet=f verbose=v reference:',
  chown: 'recursive=R changes=c silent=f quiet=f verbose=v reference: from: dereference no-dereference=h',
  chgrp: 'recursive=R changes=c silent=f quiet=f verbose=v reference:',
  cat: 'number=n number-nonblank=b squeeze-blank=s show-all=A show-ends=E show-tabs=T show-nonprinting=v e t u',
  head: 'lines=n: bytes=c: quiet=q silent=q verbose=v zero-terminated=z',
  tail: 'lines=n: bytes=c: follow=f F=f sleep-interval=s: pid: retry quiet=q verbose=v zero-terminated=z',
  grep: 'recursive=r R=r ignore-case=i invert-match=v count=c line-number=n files-with-matches=l files-without-match=L only-matching=o quiet=q silent=q extended-regexp=E fixed-strings=F perl-regexp=P word-regexp=w line-regexp=x no-filename=h with-filename=H no-messages=s regexp=e: file=f: max-count=m: after-context=A: before-context=B: context=C: include: exclude: exclude-dir: exclude-from: directories=d: devices=D: label: binary-files: color colour text=a null=Z null-data=z byte-offset=b unix-byte-offsets=u basic-regexp=G',
  curl: 'output=o: remote-name=O request=X: header=H: data=d: data-raw: data-binary: data-urlencode: form=F: form-string: user=u: user-agent=A: referer=e: cookie=b: cookie-jar=c: upload-file=T: silent=s show-error=S location=L fail=f insecure=k verbose=v include=i head=I compressed max-time=m: connect-timeout: retry: retry-delay: retry-max-time: proxy=x: cacert: capath: cert=E: key: cert-type: key-type: range=r: write-out=w: config=K: url: output-dir: create-dirs dump-header=D: interface: resolve: connect-to: limit-rate: max-redirs: get=G json: stderr: trace: trace-ascii: proxy-user=U: netrc=n netrc-file: unix-socket: continue-at=C: time-cond=z: max-filesize: parallel=Z parallel-max: progress-bar=# fail-with-body oauth2-bearer: aws-sigv4: tls-max: tlsv1.2 http1.1 http2 ipv4=4 ipv6=6 noproxy: socks5: socks5-hostname: remote-name-all remote-header-name=J no-progress-meter globoff=g next=: ciphers: doh-url: dns-servers: hostpubmd5: libcurl: mail-from: mail-rcpt: etag-save: etag-compare: variable: rate:',
  wget: 'output-document=O: output-file=o: append-output=a: directory-prefix=P: quiet=q no-check-certificate continue=c recursive=r level=l: user-agent=U: header: post-data: post-file: method: body-data: body-file: tries=t: timeout=T: input-file=i: no-clobber=nc no-verbose=nv user: password: accept=A: reject=R: domains=D: spider mirror=m no-parent=np timestamping=N page-requisites=p convert-links=k load-cookies: save-cookies: limit-rate: wait=w: quota=Q: base=B: execute=e: background=b show-progress ca-certificate: certificate: private-key: no-cookies content-disposition trust-server-names server-response=S',
  tar: 'extract=x get=x create=c list=t append=r update=u file=f: directory=C: gzip=z bzip2=j xz=J zstd verbose=v exclude: strip-components: to-command: checkpoint checkpoint-action: use-compress-program=I: files-from=T: exclude-from=X: absolute-names=P transform: xform: remove-files overwrite keep-old-files=k to-stdout=O preserve-permissions=p auto-compress=a rsh-command: owner: group: mode: mtime: format: wildcards numeric-owner same-owner no-same-owner index-file: listed-incremental=g: info-script=F: new-volume-script: one-top-level skip-old-files unlink-first=U recursive-unlink warning: sort: delete concatenate=A compare=d',
  unzip: 'd: o n q l t j p x P: v a',
  zip: 'r q u d m x: i: j e P: 9 y b: T TT:',
  patch:
    'input=i: strip=p: reverse=R output=o: directory=d: dry-run forward=N silent=s reject-file=r: fuzz=F: batch=t force=f backup=b unified=u prefix=B: suffix=z: remove-empty-files=E get=g: verbose version-control=V: posix ignore-whitespace=l',
  base64: 'decode=d D=d ignore-garbage=i wrap=w: input=i output=o:',
  openssl:
    '- connect: host: url: servername: CAfile: CApath: cert: key: inkey: in: out: d e a A base64 k: pass: K: iv: md: nosalt salt pbkdf2',
  find: '-',
  gpg: 'output=o: decrypt=d encrypt=e recipient=r: armor=a sign=s local-user=u: symmetric=c batch yes passphrase: passphrase-file: homedir: keyring: import export verify quiet=q',
  iconv: 'from-code=f: to-code=t: output=o: list=l silent=s verbose c',
  pandoc: 'output=o: from=f: to=t: standalone=s template: metadata=M: variable=V: toc',
  zstd: 'o: d f k q v T: rm',
  aria2c: 'out=o: dir=d: split=s: max-connection-per-server=x: input-file=i:',
  mysql:
    'host=h: port=P: user=u: password=p database=D: execute=e: batch=B skip-column-names=N silent=s socket=S: table=t vertical=E force=f protocol: ssl-mode:',
  mariadb:
    'host=h: port=P: user=u: password=p database=D: execute=e: batch=B skip-column-names=N silent=s socket=S: table=t vertical=E force=f',
  'redis-cli': 'h: p: a: n: u: r: i: x c scan pattern: raw json eval: pipe bigkeys latency user: pass: tls',
  mongosh: 'host: port: username=u: password=p: eval: file=f: quiet authenticationDatabase:',
  aws: 'profile: region: output: query: endpoint-url: cli-input-json: no-paginate debug no-sign-request',
  gh: 'hostname: repo=R: json: jq=q: template=t: method=X: field=F: raw-field=f: header=H:',
  swaks: 'to=t: from=f: server=s: port=p: data=d: header: body: attach:',
  ldapsearch: 'H: h: p: b: D: w: s: x LLL',
  csplit:
    'prefix=f: suffix-format=b: digits=n: keep-files=k silent=s quiet=s elide-empty-files=z suppress-matched',
  date: 'date=d: file=f: reference=r: set=s: utc=u universal=u iso-8601=I rfc-3339: rfc-email=R debug',
  shuf: 'echo=e input-range=i: head-count=n: output=o: random-source: repeat=r zero-terminated=z',
  uudecode: 'output-file=o:',
  pg_dump:
    'file=f: format=F: dbname=d: host=h: port=p: username=U: table=t: exclude-table=T: schema=n: exclude-schema=N: jobs=j: compress=Z: data-only=a schema-only=s clean=c create=C no-owner=O no-privileges=x verbose=v password=W no-password=w',
  pg_restore:
    'file=f: format=F: dbname=d: host=h: port=p: username=U: table=t: schema=n: jobs=j: list=l use-list=L: data-only=a schema-only=s clean=c create=C no-owner=O no-privileges=x verbose=v',
  mysqldump:
    'result-file=r: host=h: port=P: user=u: password=p databases=B all-databases=A where=w: tables no-data=d',
  psql: 'command=c: file=f: output=o: log-file=L: dbname=d: host=h: port=p: username=U: set=v: variable=v: pset=P: field-separator=F: record-separator=R: tuples-only=t no-align=A quiet=q single-transaction=1 no-psqlrc=X expanded=x list=l echo-all=a echo-queries=e html=H csv password=W no-password=w',
  ffmpeg:
    '- i: f: c: codec: vf: af: filter: filter_complex: map: ss: t: to: r: s: b: preset: crf: y n an vn loglevel: hide_banner',
  dasel: 'file=f: value=v: type=t: read=r: write=w: out=o: selector=s:',
  file: 'files-from=f: brief=b mime=i mime-type separator=F: magic-file=m:',
  strip: 'output=o: remove-section=R: strip-all=s strip-debug=g keep-symbol=K:',
  sdiff: 'output=o: width=w: side=s',
  tree: 'o: L: I: P: a d f i C',
  kill: 's: n: l',
  gcc: 'o: I: L: l: D: c E S g O W f m std: include: isystem: x: pthread shared static',
  ssh: '+ i: p: l: o: L: R: D: F: J: b: c: E: e: I: m: O: Q: S: W: w: B: t T n f N q v A a C 4 6 x X Y k K g G M s y',
  scp: 'i: P: o: F: J: l: c: S: r p q v C 3 4 6 B O R s T D: X:',
  sftp: 'i: P: o: F: J: b: l: c: S: r p q v C R: B: D: s:',
  ansible:
    'module-name=m: args=a: inventory=i: become=b user=u: forks=f: limit=l: extra-vars=e: check=C become-user: connection=c: private-key: tree=t:',
  nc: 'l v z u n k w: p: s: e: c: i: q: x: X: h 4 6 N U t O: o: g: G: T: I: M: m: V: b d D F S C',
  docker: '+ host=H: context=c: config: log-level=l: tls tlscacert: tlscert: tlskey: debug=D version=v',
  kubectl:
    'namespace=n: context: kubeconfig: cluster: user: token: server=s: as: as-group: request-timeout: filename=f: output=o: selector=l: container=c: stdin=i tty=t all force grace-period: field-selector: all-namespaces=A recursive=R kustomize=k: patch=p: type: replicas: image: timeout: v:',
  git: '+ C: c: git-dir: work-tree: namespace: exec-path paginate=p no-pager=P bare no-replace-objects literal-pathspecs no-optional-locks config-env: super-prefix: html-path man-path info-path version help',
  'git push':
    'force=f delete=d all mirror tags follow-tags dry-run=n set-upstream=u force-with-lease force-if-includes push-option=o: receive-pack: exec: repo: no-verify prune quiet=q verbose=v atomic signed thin porcelain progress recurse-submodules ipv4=4 ipv6=6',
  'git commit':
    'message=m: all=a amend no-verify=n no-edit edit=e signoff=s file=F: author: date: reuse-message=C: reedit-message=c: fixup: squash: template=t: allow-empty allow-empty-message quiet=q verbose=v only=o include=i patch=p gpg-sign=S no-gpg-sign cleanup: dry-run short long porcelain reset-author trailer: untracked-files=u status no-status interactive pathspec-from-file: pathspec-file-nul branch null=z',
  'git reset':
    'hard soft mixed merge keep quiet=q patch=p no-refresh refresh pathspec-from-file: intent-to-add=N recurse-submodules no-recurse-submodules',
  'git clean': 'force=f d x X quiet=q dry-run=n interactive=i exclude=e:',
  'git checkout':
    'force=f quiet=q b: B: track=t no-track detach=d patch=p ours theirs orphan: merge=m l conflict: pathspec-from-file: overlay no-overlay guess no-guess ignore-skip-worktree-bits ignore-other-worktrees progress recurse-submodules',
  'git switch':
    'create=c: force-create=C: force=f discard-changes detach=d track=t orphan: merge=m guess no-guess quiet=q conflict: progress no-track ignore-other-worktrees recurse-submodules',
  'git restore':
    'source=s: staged=S worktree=W patch=p quiet=q ours theirs merge=m conflict: pathspec-from-file: overlay no-overlay progress ignore-unmerged ignore-skip-worktree-bits recurse-submodules pathspec-file-nul',
  'git branch':
    'delete=d D force=f move=m M copy=c C list=l all=a remotes=r set-upstream-to=u: unset-upstream verbose=v quiet=q merged no-merged contains: no-contains: sort: points-at: format: track=t no-track edit-description show-current column no-column color no-color ignore-case=i abbrev no-abbrev create-reflog',
  'git rebase':
    'interactive=i exec=x: onto: continue abort skip quit autosquash autostash strategy=s: strategy-option=X: force-rebase=f root merge keep-empty rebase-merges=r update-refs no-verify edit-todo show-current-patch apply keep-base verbose=v quiet=q no-stat stat=n signoff gpg-sign=S',
  'git clone':
    'depth: branch=b: recursive recurse-submodules single-branch origin=o: upload-pack=u: config=c: bare mirror quiet=q verbose=v jobs=j: reference: shallow-since: shallow-exclude: filter: template: separate-git-dir: no-checkout=n local=l shared=s no-hardlinks no-tags progress sparse dissociate server-option: ipv4=4 ipv6=6 bundle-uri: no-single-branch remote-submodules shallow-submodules reject-shallow',
  'git stash': 'message=m: include-untracked=u all=a keep-index=k patch=p quiet=q staged=S index',
  'git rm': 'recursive=r force=f cached dry-run=n quiet=q ignore-unmatch sparse pathspec-from-file:',
  'git fetch':
    'all force=f prune=p tags=t depth: upload-pack: jobs=j: quiet=q verbose=v multiple unshallow dry-run append=a recurse-submodules no-tags=n refmap: shallow-since: deepen: update-shallow prune-tags=P keep=k progress set-upstream atomic filter: negotiation-tip: ipv4=4 ipv6=6 server-option=o:',
  'docker compose':
    'file=f: project-name=p: env-file: profile: project-directory: ansi: parallel: progress: compatibility dry-run all-resources verbose',
  tmux: '+ L: S: f: c: T: 2 8 C D l N u v V',
  poetry: '+ directory=C: project=P: quiet=q verbose=v no-interaction=n no-ansi ansi no-plugins no-cache',
  uv: '+ directory: project: config-file: cache-dir=n: color: quiet=q verbose=v offline no-cache no-config no-progress',
  yarn: 'cwd: silent=s json verbose',
  lxc: '+ project: debug verbose=v quiet=q force-local',
  gcloud:
    'project: account: configuration: format: quiet=q verbosity: zone: region: impersonate-service-account: billing-project: filter: limit: flatten: log-http user-output-enabled:',
  heroku: 'app=a: remote=r:',
  npm: 'filter=F: dir=C: recursive=r global=g save save-dev=D save-exact=E force=f prefix: workspace=w: registry: yes=y package=p: call=c: tag: otp: loglevel: omit: include: production ignore-scripts if-present silent=s workspaces=ws access: userconfig: cache: dry-run json long=l',
  pip: 'requirement=r: editable=e: target=t: upgrade=U user index-url=i: extra-index-url: yes=y quiet=q verbose=v constraint=c: find-links=f: no-deps pre prefix: root: src: platform: python-version: proxy: cache-dir: force-reinstall no-cache-dir break-system-packages',
}

const aliases: Readonly<Record<string, string>> = {
  egrep: 'grep',
  fgrep: 'grep',
  zgrep: 'grep',
  ggrep: 'grep',
  grm: 'rm',
  gcp: 'cp',
  gmv: 'mv',
  gsed: 'sed',
  gtar: 'tar',
  bsdtar: 'tar',
  netcat: 'nc',
  ncat: 'nc',
  pip3: 'pip',
  podman: 'docker',
  cc: 'gcc',
  clang: 'gcc',
  'g++': 'gcc',
  pnpm: 'npm',
  gln: 'ln',
  gawk: 'awk',
  mawk: 'awk',
  nawk: 'awk',
  oc: 'kubectl',
  'docker-compose': 'docker compose',
  pg_dumpall: 'pg_dump',
  'git send-pack': 'git push',
  'git http-push': 'git push',
}

const specs = new Map<string, OptionSpec>()
const unknownProgram = readSpec('')

/** The options of a program; of an unknown program, none takes a value. */
export function optionsOf(program: string): OptionSpec {
  const key = Object.hasOwn(aliases, program) ? (aliases[program] ?? program) : program
  const known = specs.get(key)
  if (known) return known
  if (!Object.hasOwn(table, key)) return unknownProgram
  const spec = readSpec(table[key] ?? '')
  specs.set(key, spec)
  return spec
}

export function hasOptionTable(program: string): boolean {
  return Object.hasOwn(table, program) || Object.hasOwn(aliases, program)
}

/** Reads a row of the table. */
export function readSpec(text: string): OptionSpec {
  const names = new Map<string, string>()
  const values = new Set<string>()
  const words = text.split(' ').filter((word) => word !== '')
  for (const word of words) {
    if (word === '+' || word === '-') continue
    const takesValue = word.endsWith(':')
    const [name = '', short] = (takesValue ? word.slice(0, -1) : word).split('=')
    const canonical = short ?? name
    names.set(name, canonical)
    if (!names.has(canonical)) names.set(canonical, canonical)
    if (takesValue) values.add(canonical)
  }
  return { names, values, stops: words.includes('+'), singleHyphen: words.includes('-') }
}
