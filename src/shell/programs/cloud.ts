import { runLaunchJob } from '../special/installed-code.ts'
import { cloudCopy, vercelEnv } from '../special/transferred-files.ts'
import { family, nothing, type Programs, withSubcommands } from './program.ts'

/** Command lines of providers, and of tools that manage what runs there. */
export const cloud: Programs = {
  ...family(withSubcommands, {
    gh: {
      options: 'hostname: repo=R: json: jq=q: template=t: method=X: field=F: raw-field=f: header=H:',
      subcommands: { release: { subcommands: { download: { options: 'output=O: dir=D: pattern=p: archive=A: repo=R: clobber skip-existing', reads: 'none', writes: ['-O', '-D', '-D/**'] } } } },
      hosts: { always: 'api.github.com', options: ['--hostname'] },
    },
    aws: {
      options: 'profile: region: output: query: endpoint-url: cli-input-json: no-paginate debug no-sign-request',
      subcommands: {
        s3: { files: cloudCopy, runs: 'none' },
        s3api: { subcommands: { 'get-object get-object-torrent': { options: 'profile: region: output: query: endpoint-url: cli-input-json: no-paginate debug no-sign-request bucket: key: range: version-id: part-number: if-match: expected-bucket-owner:', reads: 'none', writes: ['last'] } } },
      },
      hosts: { always: 'amazonaws.com', options: ['--endpoint-url'] },
    },
    gcloud: {
      options: 'project: account: configuration: format: quiet=q verbosity: zone: region: impersonate-service-account: billing-project: filter: limit: flatten: log-http user-output-enabled:',
      subcommands: {
        storage: { files: cloudCopy, runs: 'none' },
        compute: { subcommands: { ssh: { options: 'command: zone: project: account: region: ssh-flag: ssh-key-file: strict-host-key-checking: container: tunnel-through-iap internal-ip plain dry-run quiet=q ssh-key-expire-after:', code: ['--command'], runs: { mixed: true } } } },
      },
      hosts: { always: 'googleapis.com' },
    },
    az: { hosts: { always: 'management.azure.com' } },
    flyctl: 'fly',
    fly: { subcommands: { ssh: { subcommands: { console: { options: 'command=C: app=a: address=A: user=u: pty machine: select=s', code: ['-C'], runs: { mixed: true } } } } } },
    heroku: { options: 'app=a: remote=r:', subcommands: { run: { options: '+ app=a: remote=r: size=s: type: env=e: exit-code=x no-tty no-notify', runs: { joins: 'joined' } } } },
    vercel: { subcommands: { env: { files: vercelEnv, runs: 'none' } } },
    supabase: { subcommands: { db: { subcommands: { dump: { options: 'file=f: db-url: schema=s: exclude=x: password=p: data-only linked local role-only', reads: 'none', writes: ['-f'] } } } } },
    helm: { subcommands: { template: { options: 'output-dir: values=f: namespace=n: set: set-string: set-file: version: repo: show-only=s: name-template:', reads: ['last', '-f'], writes: ['--output-dir', '--output-dir/**'] } } },
    'terraform tofu': { subcommands: { destroy: nothing } },
    'gsutil rclone s3cmd s5cmd mc azcopy': { files: cloudCopy, runs: 'none' },
    'doctl wrangler prisma systemctl': {},
    launchctl: { special: runLaunchJob },
    svn: { code: ['--editor-cmd', '--diff-cmd', '--diff3-cmd'], options: 'editor-cmd: diff-cmd: diff3-cmd:' },
    'hg jj fossil bzr cvs p4 ipfs hdfs hadoop dvc vault consul etcdctl dokku kamal cf hcloud linode-cli scw oci': {},
    'ibmcloud pulumi skopeo oras crane regctl ostree snapper btrfs zfs restic borg wp drush pm2 supervisorctl': {},
  }),
}
