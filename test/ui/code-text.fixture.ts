import type { Locator } from 'playwright-core'

/** The text of a code editor: it is no form field, so it has no value. */
export async function codeText(editor: Locator): Promise<string> {
  await editor.waitFor()
  return (await editor.locator('.cm-line').allTextContents()).join('\n')
}
