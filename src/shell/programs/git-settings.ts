/** Settings whose value git runs as a command. */
const commandSettings =
  /^(core\.(pager|editor|sshcommand|fsmonitor|gitproxy|askpass|alternaterefscommand)|sequence\.editor|pager\..+|diff\.external|diff\..+\.(command|textconv)|merge\..+\.driver|filter\..+\.(clean|smudge|process)|gpg\.(.+\.)?program|(difftool|mergetool|browser|man)\..+\.(cmd|path)|sendemail\.(sendmailcmd|smtpserver|tocmd|cccmd)|credential\.(.+\.)?helper|uploadpack\.packobjectshook|interactive\.difffilter|web\.browser|ssh\.variant|remote\..+\.(uploadpack|receivepack|vcs)|trailer\..+\.(cmd|command)|tar\..+\.command|hook\..+\.command)$/i

/** Settings that name a folder with scripts which git runs. */
const folderSettings = /^(core\.hookspath|init\.templatedir)$/i

/** Whether git runs the value of a setting. */
export function runsSetting(key: string): boolean {
  return commandSettings.test(key)
}

/** Whether git runs the scripts in the folder that a setting names. */
export function namesScriptFolder(key: string): boolean {
  return folderSettings.test(key)
}
