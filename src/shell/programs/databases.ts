import { runEscapes } from '../special/own-code.ts'
import { nothing, type Programs } from './program.ts'

const runSqliteEscapes = runEscapes({
  code: /^\s*\.(?:shell|system)\s+(.+)/m,
  writes: /^\s*\.(?:output|once|dump|backup|save|log)\s+(\S+)|\bwritefile\(\s*'([^']+)'/im,
  reads: /^\s*\.(?:read|import)\s+(\S+)|\breadfile\(\s*'([^']+)'/im,
})

/** Clients of databases. They run shell code after an escape, and write or read files by commands of their own. */
export const databases: Programs = {
  'psql pgcli': {
    ...nothing,
    options: 'command=c: file=f: output=o: log-file=L: dbname=d: host=h: port=p: username=U: set=v: variable=v: pset=P: field-separator=F: record-separator=R: tuples-only=t no-align=A quiet=q single-transaction=1 no-psqlrc=X expanded=x list=l echo-all=a echo-queries=e html=H csv password=W no-password=w',
    reads: ['-f'],
    writes: ['-o', '-L'],
    hosts: { options: ['-h'] },
    special: runEscapes({ code: /\\!\s*(.+)/m, writes: /\\(?:o|g|out)\s+(\S+)|\\copy\s.*\sto\s+'?([^\s']+)/im, reads: /\\i\s+(\S+)|\\copy\s.*\sfrom\s+'?([^\s']+)/im }),
  },
  'pg_dump pg_dumpall': {
    ...nothing,
    options: 'file=f: format=F: dbname=d: host=h: port=p: username=U: table=t: exclude-table=T: schema=n: exclude-schema=N: jobs=j: compress=Z: data-only=a schema-only=s clean=c create=C no-owner=O no-privileges=x verbose=v password=W no-password=w',
    writes: ['-f'],
    hosts: { options: ['-h'] },
  },
  pg_restore: { ...nothing, reads: ['all'], writes: ['-f'], hosts: { options: ['-h'] }, options: 'file=f: format=F: dbname=d: host=h: port=p: username=U: table=t: schema=n: jobs=j: list=l use-list=L: data-only=a schema-only=s clean=c create=C no-owner=O no-privileges=x verbose=v' },
  'mysql mariadb': {
    options: 'host=h: port=P: user=u: password=p database=D: execute=e: batch=B skip-column-names=N silent=s socket=S: table=t vertical=E force=f protocol: ssl-mode:',
    hosts: { options: ['-h'] },
    special: runEscapes({ code: /(?:^\s*system\s|\\!)\s*(.+)/m, writes: /\binto\s+(?:out|dump)file\s+'([^']+)/i, reads: /\bsource\s+(\S+)/m }),
  },
  mysqldump: { ...nothing, writes: ['-r'], hosts: { options: ['-h'] }, options: 'result-file=r: host=h: port=P: user=u: password=p databases=B all-databases=A where=w: tables no-data=d' },
  sqlite3: { ...nothing, reads: ['first'], writes: ['first'], special: runSqliteEscapes },
  'duckdb litecli': { special: runSqliteEscapes },
  mongosh: { hosts: { options: ['--host'] }, options: 'host: port: username=u: password=p: eval: file=f: quiet authenticationDatabase:' },
  'mongodump mongoexport': { writes: ['-o', '-o/**', '--archive'], hosts: { options: ['-h', '--uri'] }, options: 'out=o: host=h: port: uri: db=d: collection=c: username=u: password=p: query=q: archive: gzip config:' },
  'redis-cli': { hosts: { options: ['-h', '-u'] }, options: 'h: p: a: n: u: r: i: x c scan pattern: raw json eval: pipe bigkeys latency user: pass: tls' },
  litestream: { subcommands: { restore: { options: '- o: config: replica: generation: timestamp: if-db-not-exists', writes: ['-o'] } } },
  dc: { special: runEscapes({ code: /^\s*!\s*(.+)/m }) },
}
