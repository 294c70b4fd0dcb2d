import { runEscapes, runSocat, runSshOptions } from '../special/own-code.ts'
import { curl, rsync, scp, wget } from '../special/transferred-files.ts'
import { nothing, type Programs } from './program.ts'

const runPuts = runEscapes({ code: /^\s*!\s*(.+)/m, reads: /^\s*put\s+(?:-\w+\s+)*(\S+)/m })

/** Programs whose purpose is another machine. */
export const network: Programs = {
  curl: {
    ...nothing,
    options:
      'output=o: remote-name=O request=X: header=H: data=d: data-raw: data-binary: data-urlencode: form=F: form-string: user=u: user-agent=A: referer=e: cookie=b: cookie-jar=c: upload-file=T: silent=s show-error=S location=L fail=f insecure=k verbose=v include=i head=I compressed max-time=m: connect-timeout: retry: retry-delay: retry-max-time: proxy=x: cacert: capath: cert=E: key: cert-type: key-type: range=r: write-out=w: config=K: url: output-dir: create-dirs dump-header=D: interface: resolve: connect-to: limit-rate: max-redirs: get=G json: stderr: trace: trace-ascii: proxy-user=U: netrc=n netrc-file: unix-socket: continue-at=C: time-cond=z: max-filesize: parallel=Z parallel-max: progress-bar=# fail-with-body oauth2-bearer: aws-sigv4: tls-max: tlsv1.2 http1.1 http2 ipv4=4 ipv6=6 noproxy: socks5: socks5-hostname: remote-name-all remote-header-name=J no-progress-meter globoff=g next=: ciphers: doh-url: dns-servers: hostpubmd5: libcurl: mail-from: mail-rcpt: etag-save: etag-compare: variable: rate:',
    reads: ['-T', '-K', '-b'],
    writes: ['-o', '-D', '-c', '--trace', '--trace-ascii', '--stderr', '--libcurl', '--etag-save'],
    files: curl,
    hosts: { operands: 'url', options: ['--url', '-x', '--socks5', '--socks5-hostname', '--doh-url'] },
  },
  wget: {
    ...nothing,
    options:
      'output-document=O: output-file=o: append-output=a: directory-prefix=P: quiet=q no-check-certificate continue=c recursive=r level=l: user-agent=U: header: post-data: post-file: method: body-data: body-file: tries=t: timeout=T: input-file=i: no-clobber=nc no-verbose=nv user: password: accept=A: reject=R: domains=D: spider mirror=m no-parent=np timestamping=N page-requisites=p convert-links=k load-cookies: save-cookies: limit-rate: wait=w: quota=Q: base=B: execute=e: background=b show-progress ca-certificate: certificate: private-key: no-cookies content-disposition trust-server-names server-response=S',
    reads: ['-i', '--post-file', '--body-file'],
    writes: ['-O', '-o', '-a', '-P/**', '--save-cookies'],
    files: wget,
    hosts: { operands: 'url' },
  },
  aria2c: { ...nothing, writes: ['-o'], hosts: { operands: 'url' }, options: 'out=o: dir=d: split=s: max-connection-per-server=x: input-file=i:' },
  'http https xh lynx w3m links axel yt-dlp grpcurl websocat smbclient': { hosts: { operands: 'url' } },

  ssh: { runs: { remote: true, joins: 'joined', inert: ['-V', '-Q', '-G'] }, hosts: { operands: 'host' }, special: runSshOptions, options: '+ i: p: l: o: L: R: D: F: J: b: c: E: e: I: m: O: Q: S: W: w: B: t T n f N q v A a C 4 6 x X Y k K g G M s y V' },
  sshpass: { runs: {}, options: '+ p: f: d: P: e v' },
  autossh: { runs: { remote: true, joins: 'joined' }, hosts: { operands: 'host' }, options: '+ M: i: p: l: o: L: R: D: F: J: f N t T q v A C' },
  mosh: { code: ['--ssh'], runs: { remote: true }, hosts: { operands: 'host' }, options: '+ ssh: port=p: server: client: predict:' },
  sshfs: { code: ['--ssh_command'], hosts: { operands: 'copy' }, options: 'ssh_command:' },
  scp: { ...nothing, files: scp, hosts: { operands: 'copy' }, code: ['-S'], special: runSshOptions, options: 'i: P: o: F: J: l: c: S: r p q v C 3 4 6 B O R s T D: X:' },
  sftp: {
    ...nothing,
    options: 'i: P: o: F: J: b: l: c: S: r p q v C R: B: D: s:',
    files: scp,
    hosts: { operands: 'copy' },
    code: ['-S'],
    special(call, texts) {
      runSshOptions(call, texts)
      runPuts(call, texts)
    },
  },
  rsync: {
    ...nothing,
    options:
      'archive=a recursive=r verbose=v compress=z delete delete-after delete-before delete-during delete-excluded remove-source-files rsh=e: exclude: include: exclude-from: include-from: filter=f: rsync-path: bwlimit: port: files-from: dry-run=n update=u human-readable=h progress partial P times=t perms=p owner=o group=g links=l hard-links=H acls=A xattrs=X relative=R quiet=q checksum=c inplace backup=b backup-dir: suffix: link-dest: compare-dest: copy-dest: temp-dir=T: timeout: max-size: min-size: chmod: chown: log-file: password-file: out-format: info: delete-delay force ignore-existing existing stats numeric-ids omit-dir-times=O sparse=S whole-file=W one-file-system=x itemize-changes=i',
    files: rsync,
    hosts: { operands: 'copy' },
    code: ['-e', '--rsync-path'],
  },

  'nc ncat netcat': { code: ['-e', '-c'], hosts: { operands: 'host' }, options: 'l v z u n k w: p: s: e: c: i: q: x: X: h 4 6 N U t O: o: g: G: T: I: M: m: V: b d D F S C exec=e: sh-exec=c: c:' },
  ansible: { code: ['-a'], options: 'module-name=m: args=a: inventory=i: become=b user=u: forks=f: limit=l: extra-vars=e: check=C become-user: connection=c: private-key: tree=t:' },
  socat: { special: runSocat },
  'telnet ftp': { hosts: { operands: 'host' }, special: runEscapes({ code: /^\s*!\s*(.+)/m }) },
  lftp: { special: runEscapes({ code: /(?:^|;)\s*!\s*(.+)/m }) },
  'ping ping6 traceroute dig nslookup host whois nmap': { hosts: { operands: 'host' } },
  ldapsearch: { hosts: { options: ['-H', '-h'] }, options: 'H: h: p: b: D: w: s: x LLL' },
  swaks: { hosts: { options: ['-s'] }, options: 'to=t: from=f: server=s: port=p: data=d: header: body: attach:' },

  // They only send or show text and files.
  'mail mailx': { runs: 'none', special: runEscapes({ code: /^~!\s*(.+)/m }) },
  'jira logger mutt sendmail xclip xsel pastebinit': { runs: 'none' },
}
