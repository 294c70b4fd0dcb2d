import { buildSecrets } from '../special/changed-files.ts'
import { runTmuxCommands } from '../special/own-code.ts'
import { recordImageHost } from '../special/remote-hosts.ts'
import { scp } from '../special/transferred-files.ts'
import { family, type Program, type Programs, withSubcommands } from './program.ts'

const runOptions =
  '+ detach=d interactive=i tty=t env=e: env-file: user=u: workdir=w: privileged detach-keys: volume=v: mount: name: network: net: publish=p: publish-all=P rm entrypoint: label=l: memory=m: cpus: restart: hostname=h: add-host: device: cap-add: cap-drop: security-opt: platform: pull: gpus: ipc: pid: shm-size: tmpfs: ulimit: link: init read-only log-driver: log-opt: quiet=q attach=a: cidfile: dns: expose: group-add: health-cmd: ip: mac-address: runtime: stop-signal: stop-timeout: userns: uts: volumes-from: cpuset-cpus: cpu-shares=c: index: no-deps service-ports build T no-TTY no-tty'
const tmuxWindow: Program = {
  options: '+ a b d f h k v A B C D E I O P S X Z c: e: F: l: n: p: s: t: x: y: w: T:',
  runs: { joins: 'joined' },
}
const image: Program = { options: runOptions, reads: ['--env-file'], runs: { remote: true, program: '--entrypoint' } }
const container: Program = { options: runOptions, reads: ['--env-file'], runs: { remote: true } }
const build: Program = { options: 'file=f: tag=t: secret: build-arg: target: platform: output=o: cache-from: cache-to: no-cache pull push load quiet=q progress: ssh: label:', reads: ['-f'], files: buildSecrets }
const compose: Program = {
  options: 'file=f: project-name=p: env-file: profile: project-directory: ansi: parallel: progress: compatibility dry-run all-resources verbose',
  subcommands: { exec: container, run: image },
  runs: 'announced',
}

/** Programs that run a command in a container, a virtual machine or a terminal of its own. */
export const containers: Programs = {
  ...family(withSubcommands, {
    'podman nerdctl': 'docker',
    docker: {
      options: '+ host=H: context=c: config: log-level=l: tls tlscacert: tlscert: tlskey: debug=D version=v',
      subcommands: {
        exec: container,
        'run create': image,
        build,
        'buildx image builder': { subcommands: { build } },
        container: { subcommands: { exec: container, run: image } },
        service: { subcommands: { create: { options: `${runOptions} replicas: mode: constraint: with-registry-auth update-delay: secret:`, runs: { remote: true } } } },
        compose,
        unshare: { runs: {}, options: '+' },
        cp: { files: scp, runs: 'none' },
      },
      hosts: recordImageHost,
    },
    'docker-compose': compose,
    oc: 'kubectl',
    kubectl: {
      options: 'namespace=n: context: kubeconfig: cluster: user: token: server=s: as: as-group: request-timeout: filename=f: output=o: selector=l: container=c: stdin=i tty=t all force grace-period: field-selector: all-namespaces=A recursive=R kustomize=k: patch=p: type: replicas: image: timeout: v:',
      subcommands: {
        exec: { runs: { remote: true }, options: 'container=c: stdin=i tty=t namespace=n: context: kubeconfig: quiet=q filename=f: pod-running-timeout: cluster: user:' },
        run: { runs: { remote: true }, options: 'image: command env: labels=l: restart: rm stdin=i tty=t attach quiet=q namespace=n: context: kubeconfig: overrides: port: dry-run image-pull-policy: annotations: expose privileged' },
        debug: { runs: { remote: true }, options: 'image: container=c: copy-to: target: stdin=i tty=t attach quiet=q namespace=n: context: kubeconfig: env: profile: share-processes replace same-node' },
        apply: { reads: ['-f'], writes: 'none', runs: 'none' },
        cp: { files: scp, runs: 'none' },
      },
      hosts: { options: ['-s'] },
    },
    incus: 'lxc',
    lxc: { options: '+ project: debug verbose=v quiet=q force-local', subcommands: { exec: { options: '+ cwd: user: group: env: mode: t T', runs: { remote: true } }, shell: { options: '+', runs: { remote: true } } } },
    crictl: { subcommands: { exec: { options: '+ interactive=i tty=t sync=s timeout:', runs: { remote: true } } } },
    adb: { subcommands: { shell: { options: '+ e: n T t x', runs: { joins: 'joined' } } } },
    tmux: {
      options: '+ L: S: f: c: T: 2 8 C D l N u v V',
      subcommands: {
        ...family(tmuxWindow, { 'new-session new new-window neww split-window splitw respawn-pane respawnp respawn-window': {}, 'display-popup popup pipe-pane run-shell run': {}, 'if-shell': { runs: { joins: 'each' } } }),
        'send-keys send': { runs: { joins: 'each' }, options: '+ F H K l M R X c: N: t:' },
      },
      special: runTmuxCommands,
    },
    'minikube kind k3d kubectx ctr distrobox toolbox': {},
  }),
  multipass: { subcommands: { exec: { options: '+ working-directory=d: no-map-working-directory', runs: { remote: true } } } },
  limactl: { subcommands: { shell: { options: '+ shell: workdir: tty', runs: { remote: true } } } },
  colima: { subcommands: { ssh: { options: '+ profile=p:', runs: {} } } },
  machinectl: { subcommands: { shell: { options: '+ uid: setenv=E: quiet=q', runs: { remote: true } } } },
  vagrant: { subcommands: { ssh: { options: 'command=c: plain=p', code: ['-c'], runs: {} } } },
}
