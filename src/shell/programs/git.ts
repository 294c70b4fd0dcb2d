import { gitApply, gitCheckout, gitClean, gitReset, gitShow, runGitCode } from '../special/git.ts'
import { printsWord } from '../special/printed-output.ts'
import { recordGitHosts } from '../special/remote-hosts.ts'
import { nothing, type Programs } from './program.ts'

/** git, and programs that pass their words to it. */
export const git: Programs = {
  git: {
    ...nothing,
    options: '+ C: c: git-dir: work-tree: namespace: exec-path paginate=p no-pager=P bare no-replace-objects literal-pathspecs no-optional-locks config-env: super-prefix: html-path man-path info-path version help',
    folder: '-C',
    tree: { option: 'work-tree', variable: 'GIT_WORK_TREE' },
    hosts: recordGitHosts,
    special: runGitCode,
    prints: printsWord(/^rev-parse (?:--short(?:=\d+)? )?(?:HEAD|--short)$/),
    subcommands: {
      'push send-pack http-push': {
        options: 'force=f delete=d all mirror tags follow-tags dry-run=n set-upstream=u force-with-lease force-if-includes push-option=o: receive-pack: exec: repo: no-verify prune quiet=q verbose=v atomic signed thin porcelain progress recurse-submodules ipv4=4 ipv6=6',
        code: ['--receive-pack', '--exec'],
      },
      fetch: {
        options: 'all force=f prune=p tags=t depth: upload-pack: jobs=j: quiet=q verbose=v multiple unshallow dry-run append=a recurse-submodules no-tags=n refmap: shallow-since: deepen: update-shallow prune-tags=P keep=k progress set-upstream atomic filter: negotiation-tip: ipv4=4 ipv6=6 server-option=o:',
        code: ['--upload-pack'],
      },
      clone: {
        options:
          'depth: branch=b: recursive recurse-submodules single-branch origin=o: upload-pack=u: config=c: bare mirror quiet=q verbose=v jobs=j: reference: shallow-since: shallow-exclude: filter: template: separate-git-dir: no-checkout=n local=l shared=s no-hardlinks no-tags progress sparse dissociate server-option: ipv4=4 ipv6=6 bundle-uri: no-single-branch remote-submodules shallow-submodules reject-shallow',
        writes: ['rest/**'],
        code: ['-u'],
      },
      pull: { code: ['--upload-pack'], options: 'upload-pack:' },
      'fetch-pack ls-remote': { code: ['--upload-pack', '--exec'], options: 'upload-pack: exec:' },
      commit: {
        options:
          'message=m: all=a amend no-verify=n no-edit edit=e signoff=s file=F: author: date: reuse-message=C: reedit-message=c: fixup: squash: template=t: allow-empty allow-empty-message quiet=q verbose=v only=o include=i patch=p gpg-sign=S no-gpg-sign cleanup: dry-run short long porcelain reset-author trailer: untracked-files=u status no-status interactive pathspec-from-file: pathspec-file-nul branch null=z',
        reads: ['-F'],
      },
      reset: { files: gitReset, options: 'hard soft mixed merge keep quiet=q patch=p no-refresh refresh pathspec-from-file: intent-to-add=N recurse-submodules no-recurse-submodules' },
      clean: { files: gitClean, options: 'force=f d x X quiet=q dry-run=n interactive=i exclude=e:' },
      checkout: { files: gitCheckout, options: 'force=f quiet=q b: B: track=t no-track detach=d patch=p ours theirs orphan: merge=m l conflict: pathspec-from-file: overlay no-overlay guess no-guess ignore-skip-worktree-bits ignore-other-worktrees progress recurse-submodules' },
      switch: { options: 'create=c: force-create=C: force=f discard-changes detach=d track=t orphan: merge=m guess no-guess quiet=q conflict: progress no-track ignore-other-worktrees recurse-submodules' },
      restore: { writes: ['all', 'all/**'], options: 'source=s: staged=S worktree=W patch=p quiet=q ours theirs merge=m conflict: pathspec-from-file: overlay no-overlay progress ignore-unmerged ignore-skip-worktree-bits recurse-submodules pathspec-file-nul' },
      branch: {
        options: 'delete=d D force=f move=m M copy=c C list=l all=a remotes=r set-upstream-to=u: unset-upstream verbose=v quiet=q merged no-merged contains: no-contains: sort: points-at: format: track=t no-track edit-description show-current column no-column color no-color ignore-case=i abbrev no-abbrev create-reflog',
      },
      rebase: { code: ['-x'], options: 'interactive=i exec=x: onto: continue abort skip quit autosquash autostash strategy=s: strategy-option=X: force-rebase=f root merge keep-empty rebase-merges=r update-refs no-verify edit-todo show-current-patch apply keep-base verbose=v quiet=q no-stat stat=n signoff gpg-sign=S' },
      stash: { options: 'message=m: include-untracked=u all=a keep-index=k patch=p quiet=q staged=S index' },
      rm: { deletes: ['all', 'all/** if -r'], options: 'recursive=r force=f cached dry-run=n quiet=q ignore-unmatch sparse pathspec-from-file:' },
      mv: { deletes: ['init'], writes: ['last'] },
      'add blame annotate hash-object': { reads: ['all'] },
      'apply am': { files: gitApply },
      'log show grep': { files: gitShow },
      diff: { files: gitShow, writes: ['--output'] },
      archive: { writes: ['-o'], code: ['--exec'], options: 'output=o: exec:' },
      bundle: { writes: ['rest'] },
      init: { writes: ['all'] },
      difftool: { code: ['-x'], options: 'extcmd=x:' },
      'filter-branch': { code: ['--tree-filter', '--index-filter', '--msg-filter', '--env-filter', '--commit-filter', '--parent-filter', '--tag-name-filter', '--setup'], options: 'tree-filter: index-filter: msg-filter: env-filter: commit-filter: parent-filter: tag-name-filter: setup:' },
      instaweb: { code: ['-d', '-b'], options: 'httpd=d: browser=b:' },
      'send-email': { code: ['--to-cmd', '--cc-cmd', '--sendmail-cmd', '--smtp-server'], options: 'to-cmd: cc-cmd: sendmail-cmd: smtp-server:' },
    },
  },
  'hub yadm': { runs: { other: 'git' }, options: '+' },
  vcsh: { runs: { after: 1, other: 'git' }, options: '+' },
}
