import { runMacros, runPackageScript } from '../special/build-tools.ts'
import { runDenoTask } from '../special/own-code.ts'
import { family, type Programs, withSubcommands } from './program.ts'

const npmHost = { always: 'registry.npmjs.org', options: ['--registry'] } as const
const pipHost = { always: 'pypi.org', options: ['-i', '--extra-index-url', '--proxy'] } as const
const npmOptions = 'filter=F: dir=C: recursive=r global=g save save-dev=D save-exact=E force=f prefix: workspace=w: registry: yes=y package=p: call=c: tag: otp: loglevel: omit: include: production ignore-scripts if-present silent=s workspaces=ws access: userconfig: cache: dry-run json long=l'

/** The environment of a project in which a command runs. */
const environments: Programs = {
  'pipenv rye pdm': { subcommands: { run: { options: '+', runs: {} } } },
  railway: { subcommands: { run: { options: '+ service=s: environment=e:', runs: {} } } },
  devbox: { subcommands: { run: { options: '+ config=c: quiet=q', runs: {} } } },
  'rbenv pyenv asdf': { subcommands: { exec: { options: '+', runs: {} } } },
  hatch: { subcommands: { run: { options: '+', runs: { environment: true } } } },
  bundle: { subcommands: { exec: { options: '+ keep-file-descriptors gemfile:', runs: {} } }, hosts: { always: 'rubygems.org', on: /^(install|update|add)$/ } },
  mise: { subcommands: { 'exec x': { options: '+ cd=C: jobs=j:', runs: {} } } },
  direnv: { subcommands: { exec: { options: '+', runs: { after: 1 } } } },
  dotenvx: { subcommands: { run: { options: '+ env=e: env-file=f:', runs: {} } } },
  doppler: { subcommands: { run: { options: '+ project=p: config=c: command: token=t:', code: ['--command'], runs: {} } } },
  op: { subcommands: { run: { options: '+ env-file: no-masking', runs: {} } } },
  infisical: { subcommands: { run: { options: '+ env: path: projectId: token: command=c: watch', code: ['-c'], runs: {} } } },
  chamber: { subcommands: { exec: { options: '+ pristine strict', runs: { after: 1 } } } },
  sops: { subcommands: { 'exec-env exec-file': { options: '+ user: background pristine no-fifo filename:', runs: { after: 1, joins: 'joined' } } } },
  'aws-vault': { subcommands: { exec: { options: '+ duration=d: region: no-session=n server=s', runs: { after: 1 } } } },
  perf: { subcommands: { stat: { options: '+ event=e: pid=p: repeat=r: output=o: a d v x:', writes: ['-o'], runs: {} }, record: { options: '+ event=e: pid=p: output=o: F: a g c: call-graph:', writes: ['-o'], runs: {} } } },
}

/** Programs that install packages, and those that run what is installed. Their subcommands have names such as `rm`. */
export const packageManagers: Programs = {
  ...environments,
  npx: { code: ['-c'], runs: {}, hosts: { always: 'registry.npmjs.org' }, options: '+ yes=y no call=c: package=p: quiet=q workspace=w: ignore-existing no-install shell: prefix: offline prefer-offline' },
  bunx: { runs: {}, hosts: { always: 'registry.npmjs.org' }, options: '+ bun silent verbose package=p: no-install' },
  pnpx: { runs: {}, options: '+ package:' },
  uvx: { runs: {}, hosts: { always: 'pypi.org' }, options: '+ from: with: python=p: index-url: isolated' },
  pipx: { hosts: { always: 'pypi.org', on: /^(install|run|upgrade|inject)$/ } },
  twine: { hosts: { always: 'upload.pypi.org', on: /^upload$/ } },
  composer: { hosts: { always: 'packagist.org', on: /^(install|update|require|create-project)$/ } },
  ...family(withSubcommands, {
    npm: {
      options: npmOptions,
      subcommands: { 'exec x': { options: '+ yes=y no call=c: package=p: workspace=w: offline', code: ['-c'], runs: {} } },
      hosts: { ...npmHost, on: /^(i|install|ci|add|update|up|publish|view|info|audit|exec|x|login|search|outdated|unpublish|dist-tag|create|init)$/ },
      special: runPackageScript,
    },
    pnpm: { options: npmOptions, subcommands: { exec: { options: '+ recursive=r parallel shell-mode=c filter=F:', runs: {} }, dlx: { options: '+ package: shell-mode=c', runs: {} } }, hosts: { ...npmHost, on: /^(i|install|add|update|up|publish|dlx|create|audit|outdated)$/ }, special: runPackageScript },
    yarn: { options: 'cwd: silent=s json verbose', subcommands: { exec: { options: '+', runs: {} }, dlx: { options: '+ package=p: quiet=q', runs: {} } }, hosts: { ...npmHost, on: /^(install|add|upgrade|publish|dlx|create|up)$/ }, special: runPackageScript },
    bun: { subcommands: { x: { options: '+ bun', runs: {} }, exec: { options: '+', runs: { joins: 'joined' } } }, hosts: { ...npmHost, on: /^(i|install|add|update|x|create|publish)$/ }, inlineCode: /^(-[ep]|--eval|--print)(=|$)/ },
    deno: { inlineCode: /^eval$/, special: runDenoTask },
    'pip pip3': {
      options: 'requirement=r: editable=e: target=t: upgrade=U user index-url=i: extra-index-url: yes=y quiet=q verbose=v constraint=c: find-links=f: no-deps pre prefix: root: src: platform: python-version: proxy: cache-dir: force-reinstall no-cache-dir break-system-packages',
      hosts: { ...pipHost, on: /^(install|download|search|wheel)$/ },
    },
    uv: {
      options: '+ directory: project: config-file: cache-dir=n: color: quiet=q verbose=v offline no-cache no-config no-progress',
      subcommands: { run: { options: '+ with: python=p: extra: group: env-file: project: directory: module=m: script=s package: all-extras no-sync frozen locked isolated no-project active only-group: no-group: with-requirements: with-editable: index-url: quiet=q verbose=v', runs: {} } },
      hosts: { always: 'pypi.org', on: /^(add|sync|pip|tool|lock|run|publish)$/ },
    },
    poetry: { options: '+ directory=C: project=P: quiet=q verbose=v no-interaction=n no-ansi ansi no-plugins no-cache', subcommands: { run: { options: '+', runs: {} } }, hosts: { always: 'pypi.org', on: /^(install|add|update|lock|publish)$/ } },
    conda: { subcommands: { run: { options: '+ name=n: prefix=p: no-capture-output live-stream verbose=v cwd:', runs: {} } } },
    gem: { hosts: { always: 'rubygems.org', on: /^(install|update|push|fetch)$/ } },
    brew: { hosts: { always: 'formulae.brew.sh', on: /^(install|upgrade|update|tap)$/ } },
    'apt apt-get': { hosts: { always: 'deb.debian.org', on: /^(install|update|upgrade|full-upgrade|dist-upgrade|download|source)$/ } },
    apk: { hosts: { always: 'dl-cdn.alpinelinux.org', on: /^(add|update|upgrade|fetch)$/ } },
    'rpm rpmbuild rpmspec': { special: runMacros },
    flatpak: { subcommands: { run: { options: '+ command: branch: arch: share: filesystem: env: devel', runs: { after: 1, program: '--command' } } } },
    'aptitude dpkg yum dnf zypper pacman port snap choco winget mamba lerna nx nix': {},
  }),
}
